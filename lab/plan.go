package lab

import (
	"platter/guest"
	"platter/images"
	"platter/results"
)

// PlanSchema is the identity of plan.json's format.
const PlanSchema = "platter.plan/1"

// Plan is a study resolved on a host: every trial in order, and everything it would make or destroy.
// It is pure data; the same study, scale, overrides and seed give the same plan, byte for byte.
type Plan struct {
	Schema   string   `json:"schema"`
	Study    string   `json:"study"`
	Scale    string   `json:"scale,omitempty"`
	Question string   `json:"question"`
	Digest   string   `json:"digest"` // SHA-256 of the canonical JSON of everything else
	Seed     uint64   `json:"seed"`
	Rounds   int      `json:"rounds"`
	Factors  []Factor `json:"factors"` // with their levels, in the study's order
	Images   []string `json:"images"`  // names of the images the trials need
	Trials   []Trial  `json:"trials"`
	Claims   []Claim  `json:"claims,omitempty"`
	Notes    []string `json:"notes,omitempty"` // what a reader of the plan must know, e.g. emulated device

	// Tarballs are what those images are made of that are not in the catalogue.
	Tarballs []images.Tarball `json:"tarballs,omitempty"`

	Successors []Successor `json:"successors,omitempty"` // what a replayed study had that no longer exists
	Era        []string    `json:"era,omitempty"`        // what else is different from the replayed study today

	DiskBytes   int64 `json:"disk_bytes"`   // space one machine's volumes take on the host
	MemoryBytes int64 `json:"memory_bytes"` // memory one machine takes
	// TrialSeconds is the measured duration of one trial by accelerator, as the study states it; empty when unknown.
	TrialSeconds map[string]float64 `json:"trial_seconds_by_accel,omitempty"`
}

// Factor is what varies, with its levels in the study's order.
type Factor struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
}

// Trial is one machine × storage × server × config × workload × round, complete: the unit of statistics.
type Trial struct {
	ID      string            `json:"id"`   // <nnn>-<cell>/<round>, safe as a relative path
	Name    string            `json:"name"` // workload/storage=xfs/server=…/round=3
	Index   int               `json:"index"`
	Round   int               `json:"round"`
	CellID  string            `json:"cell_id"`
	Factors map[string]string `json:"factors"`
	// Control marks the second name of a cell that runs twice (A/A). It has the cell's levels and CellID, is no part of
	// the comparison, and says how far two runs of the same thing lie apart.
	Control bool `json:"control,omitempty"`

	Machine Machine   `json:"machine"`
	Root    string    `json:"root"`             // image name
	Addons  []string  `json:"addons,omitempty"` // image names stacked over the root
	Server  string    `json:"server"`           // image name
	Disks   []Disk    `json:"disks"`
	Job     guest.Job `json:"job"` // Build is filled in when the trial runs

	Commands [][]string `json:"commands"` // mkfs and mount command lines the guest will run, for the reader
}

// Machine is the virtual machine of a trial.
type Machine struct {
	CPUs        int    `json:"cpus"`
	MemoryBytes int64  `json:"memory_bytes"`
	Accel       string `json:"accel"` // auto, kvm or tcg
}

// Disk is one data disk of a trial as the host makes or hands it over.
type Disk struct {
	Name               string  `json:"name"`
	Serial             string  `json:"serial"`
	SizeBytes          int64   `json:"size_bytes"`
	Bus                string  `json:"bus"`           // virtio, scsi, sata, nvme
	Cache              string  `json:"cache"`         // libvirt's cache modes, or auto
	IO                 string  `json:"io"`            // native, threads, io_uring, or auto
	Discard            string  `json:"discard"`       // unmap, ignore
	DetectZeroes       string  `json:"detect_zeroes"` // off, on, unmap
	Format             string  `json:"format"`        // raw, qcow2
	Preallocation      string  `json:"preallocation"` // full, off
	Queues             int     `json:"queues,omitempty"`
	IOThread           bool    `json:"iothread"`
	LogicalBlockBytes  int64   `json:"logical_block_bytes,omitempty"`
	PhysicalBlockBytes int64   `json:"physical_block_bytes,omitempty"`
	RotationRate       int     `json:"rotation_rate,omitempty"`
	Limits             Limits  `json:"limits"`
	ReadDelaySeconds   float64 `json:"read_delay_seconds,omitempty"`
	WriteDelaySeconds  float64 `json:"write_delay_seconds,omitempty"`
	Emulated           string  `json:"emulated,omitempty"` // preset that stands for a class of device

	Claim    string            `json:"claim,omitempty"`    // serial or WWN of a real disk that was given up for this; hashed once the disk is known
	Attach   string            `json:"attach,omitempty"`   // how a real disk reaches the machine: block, lun, nvme, pci, usb
	Passport *results.Passport `json:"passport,omitempty"` // of the claimed disk, hashed
}

// Limits are the rate limits of a disk (libvirt's iotune); zero means none.
type Limits struct {
	ReadBytesPerSecond  int64 `json:"read_bytes_per_second,omitempty"`
	WriteBytesPerSecond int64 `json:"write_bytes_per_second,omitempty"`
	TotalBytesPerSecond int64 `json:"total_bytes_per_second,omitempty"`
	ReadIOPS            int64 `json:"read_iops,omitempty"`
	WriteIOPS           int64 `json:"write_iops,omitempty"`
	TotalIOPS           int64 `json:"total_iops,omitempty"`
}

// Successor is what runs today for something that no longer exists. Where it is a level, Was is the level's name in the
// original and Now its name in this study.
type Successor struct {
	Was    string `json:"was"`
	Now    string `json:"now"`
	Reason string `json:"reason"`
}

// Claim is a sentence of a study that results can confirm or refute.
type Claim struct {
	ID     string            `json:"id"`
	Text   string            `json:"text"`
	Metric string            `json:"metric"`
	Score  string            `json:"score,omitempty"`  // of the replayed study, instead of a metric
	Step   string            `json:"step,omitempty"`   // the metric's step, where several give it
	Where  map[string]string `json:"where,omitempty"`  // levels held fixed
	Order  []string          `json:"order,omitempty"`  // levels from best to worst
	Equal  bool              `json:"equal,omitempty"`  // claims no difference between them
	Within *float64          `json:"within,omitempty"` // largest difference claimed between best and worst, 0.033 is 3.3 %
	Factor string            `json:"factor"`           // whose levels are compared
	Ratio  *float64          `json:"ratio,omitempty"`  // published: first over second level
	Source string            `json:"source,omitempty"`
}
