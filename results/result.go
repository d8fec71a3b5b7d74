package results

import "time"

// Schema is the identity of the result file's format; minor changes only add fields and keep it.
const Schema = "platter.result/1"

// Status says what became of a trial.
type Status string

// The ends a trial can come to. Only StatusOK carries numbers that statistics use.
const (
	StatusOK          Status = "ok"          // measured and valid
	StatusFailed      Status = "failed"      // the subject failed (a job error): that is a finding
	StatusInvalid     Status = "invalid"     // measured, but a rule written before the run rejects it
	StatusSkipped     Status = "skipped"     // cannot be done here, for the reason given
	StatusLost        Status = "lost"        // our rig failed (boot or infra error): says nothing of the subject
	StatusInterrupted Status = "interrupted" // the user stopped it
)

// Result is what one trial measured. It is written once, when the trial has ended.
type Result struct {
	Schema     string            `json:"schema"`
	RunID      string            `json:"run_id"`
	Study      string            `json:"study"`
	Scale      string            `json:"scale,omitempty"`
	Trial      string            `json:"trial"`    // readable name: workload/storage=xfs/server=…/round=3
	TrialID    string            `json:"trial_id"` // stable within a plan: <nnn>-<cell>/<round>
	Index      int               `json:"index"`    // place in the plan's order, from 0
	Round      int               `json:"round"`    // from 1
	Attempt    int               `json:"attempt"`  // from 1
	Factors    map[string]string `json:"factors"`  // factor → level
	CellID     string            `json:"cell_id"`
	EnvID      string            `json:"env_id"`
	SoftwareID string            `json:"software_id"`
	PrecededBy string            `json:"preceded_by,omitempty"` // TrialID that ran before on this host

	Status    Status `json:"status"`
	Reason    string `json:"reason,omitempty"`
	ErrorKind string `json:"error_kind,omitempty"` // boot, infra, job
	Evidence  string `json:"evidence,omitempty"`   // telling lines of a log; hostile text, escape it
	Flags     []Flag `json:"flags,omitempty"`

	StartedAt       time.Time `json:"started_at"`
	WallSeconds     *float64  `json:"wall_seconds"`     // whole trial on the host, monotonic
	BootSeconds     *float64  `json:"boot_seconds"`     // domain define to accepted SSH login
	GuestSeconds    *float64  `json:"guest_seconds"`    // the guest agent's own work
	OverheadSeconds *float64  `json:"overhead_seconds"` // WallSeconds - GuestSeconds

	Accel      string        `json:"accel"` // kvm or tcg
	Durability string        `json:"durability,omitempty"`
	Host       HostFacts     `json:"host"`
	Guest      *GuestFacts   `json:"guest"`
	Images     []ImageRef    `json:"images"`
	Disks      []DiskFacts   `json:"disks"`
	Storage    *StorageFacts `json:"storage"`
	Server     *ServerFacts  `json:"server"`
	Settings   []Setting     `json:"settings"`
	Steps      []StepResult  `json:"steps"`
	Metrics    []Metric      `json:"metrics"`
	Histograms []Histogram   `json:"histograms,omitempty"`
	Probes     []Probe       `json:"probes,omitempty"`
	Files      []string      `json:"files,omitempty"` // names beside result.json
}

// Flag marks something a reader must know; it never removes a value.
type Flag struct {
	Name   string `json:"name"` // e.g. asked_not_effective, quiesced_false, emulated_device
	Detail string `json:"detail"`
}

// Setting is one configuration value as asked and as in force. Nil means not asked, or could not be read back.
type Setting struct {
	Subject   string  `json:"subject"` // server, filesystem, mount, layout, disk, machine, workload
	Name      string  `json:"name"`    // in the subject's own words
	Asked     *string `json:"asked"`
	Effective *string `json:"effective"`
}

// StepResult tells how one step of the job went.
type StepResult struct {
	Index   int      `json:"index"`
	Name    string   `json:"name"`
	Seconds *float64 `json:"seconds"`
	Error   string   `json:"error,omitempty"`
}

// Metric is one number. Value nil means not measured, and Reason says why.
type Metric struct {
	Name   string            `json:"name"` // key of the registry; base unit in the name
	Step   string            `json:"step,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // e.g. engine, clients, operation, percentile
	Value  *float64          `json:"value"`
	Reason string            `json:"reason,omitempty"`
}

// Histogram is a latency distribution, HdrHistogram V2 encoding, base64; values are microseconds.
type Histogram struct {
	Operation  string   `json:"operation"`
	Step       string   `json:"step,omitempty"`
	Kind       string   `json:"kind"` // service (from the actual start) or response (from the intended start)
	Count      int64    `json:"count"`
	MaxSeconds *float64 `json:"max_seconds"`
	Encoded    string   `json:"encoded"`
}

// Probe is a measurement of the lab itself (noise, flush honesty), never of the subject.
type Probe struct {
	Name   string              `json:"name"`
	When   string              `json:"when"` // before, after
	Values map[string]*float64 `json:"values"`
	Note   string              `json:"note,omitempty"`
}
