package guest

import (
	"time"

	"platter/results"
)

// Event is one line of the guest's answer. Exactly one of the pointer fields is set, and Type names it.
// The first event is a Hello, the last a Done; a stream without Done is a lost trial.
type Event struct {
	Type         string        `json:"type"`
	Seq          int64         `json:"seq"`     // from 1, without gaps
	Seconds      float64       `json:"seconds"` // monotonic, since the agent started
	Time         time.Time     `json:"time"`    // wall clock, a label only
	Hello        *Hello        `json:"hello,omitempty"`
	Step         *StepEvent    `json:"step,omitempty"`
	Progress     *Progress     `json:"progress,omitempty"`
	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`
	Crash        *Crash        `json:"crash,omitempty"`
	Log          *Log          `json:"log,omitempty"`
	Measurement  *Measurement  `json:"measurement,omitempty"`
	File         *File         `json:"file,omitempty"`
	Done         *Done         `json:"done,omitempty"`
}

// Hello opens the conversation.
type Hello struct {
	Protocol int                `json:"protocol"`
	Build    string             `json:"build"`
	Facts    results.GuestFacts `json:"facts"`
}

// StepEvent marks the begin or end of a step.
type StepEvent struct {
	Index   int      `json:"index"` // -1 for the agent's own phases (find disks, mkfs, server init …)
	Name    string   `json:"name"`
	State   string   `json:"state"` // started, ended
	Seconds *float64 `json:"seconds,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Progress tells how far the current step is; it may be dropped without loss.
type Progress struct {
	Step  string  `json:"step"`
	Done  float64 `json:"done"`
	Total float64 `json:"total"` // 0 when unknown
	Unit  string  `json:"unit"`
}

// Acknowledged tells, several times a second during a step crash, how many commits the server has acknowledged to each
// client: what was told before a crash must be there after it. A client commits one row after the other.
type Acknowledged struct {
	Step    string  `json:"step"`
	Commits []int64 `json:"commits"` // by client
}

// Crash asks the host to end the machine at once, in the middle of a step crash, and to go on with the job's Resume. The
// conversation ends with the machine; that of the rest of the job begins with a Hello of its own.
type Crash struct {
	Step string `json:"step"`
}

// Log is a message for people.
type Log struct {
	Level   string `json:"level"` // debug, info, warn, error
	Message string `json:"message"`
}

// Measurement carries whatever the guest learnt; unset parts say nothing. The host merges them into one Result.
type Measurement struct {
	Disks      []results.DiskFacts   `json:"disks,omitempty"`
	Storage    *results.StorageFacts `json:"storage,omitempty"`
	Server     *results.ServerFacts  `json:"server,omitempty"`
	Settings   []results.Setting     `json:"settings,omitempty"`
	Metrics    []results.Metric      `json:"metrics,omitempty"`
	Histograms []results.Histogram   `json:"histograms,omitempty"`
	Probes     []results.Probe       `json:"probes,omitempty"`
	Flags      []results.Flag        `json:"flags,omitempty"`
	Durability string                `json:"durability,omitempty"`
}

// File announces a file in the agent's output directory that the host may fetch. Name is one of Files.
type File struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}

// Files are the only names the host fetches; the guest's own choice of a path is never used.
var Files = []string{"samples.csv", "server.log", "dmesg.log", "agent.log"}

// Done closes the conversation.
type Done struct {
	Status       results.Status `json:"status"` // ok, failed, skipped, invalid
	Reason       string         `json:"reason,omitempty"`
	Evidence     string         `json:"evidence,omitempty"`
	GuestSeconds float64        `json:"guest_seconds"` // the agent's whole life, monotonic
}
