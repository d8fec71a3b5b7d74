package guest

import "encoding/json"

// Protocol is the revision of Job and Event; both ends refuse another one.
const Protocol = 1

// Job is everything the guest is told: one trial, complete, without anything of the host.
type Job struct {
	Protocol        int      `json:"protocol"`
	Build           string   `json:"build"` // version of the platter that wrote the job; Hello must repeat it
	Trial           string   `json:"trial"`
	Disks           []Disk   `json:"disks"`
	Storage         Storage  `json:"storage"`
	Server          Server   `json:"server"`
	Steps           []Step   `json:"steps"`
	SampleSeconds   float64  `json:"sample_seconds"`   // period of the samplers; 0 means 1 s
	DeadlineSeconds float64  `json:"deadline_seconds"` // the whole job; 0 means none
	Quiesce         Quiesce  `json:"quiesce"`
	Precondition    string   `json:"precondition,omitempty"` // none, fill or steady
	Probes          []string `json:"probes,omitempty"`       // noise, flush
	Seed            uint64   `json:"seed"`
	Resume          *Resume  `json:"resume,omitempty"` // the rest of a job whose machine was ended under a step crash
}

// Resume says where a job goes on, on a new machine with the same disks. Nothing is made anew: they are mounted as the
// crash left them.
type Resume struct {
	Step         int     `json:"step"`         // index of the first step to do
	Acknowledged []int64 `json:"acknowledged"` // commits by client, as told before the crash
}

// Quiesce bounds the wait for background work (lazy init, discard, resync, dirty pages) before measuring.
type Quiesce struct {
	LimitSeconds float64 `json:"limit_seconds"` // 0 means the default of 600 s
}

// Disk is a data disk the job may write to. The guest finds it by serial and proves its size before any write.
type Disk struct {
	Name              string  `json:"name"`   // the study's name for it
	Serial            string  `json:"serial"` // at most 20 bytes
	SizeBytes         int64   `json:"size_bytes"`
	LogicalBlockBytes int64   `json:"logical_block_bytes,omitempty"` // expected; 0 means not asked
	Wipe              bool    `json:"wipe,omitempty"`                // signatures on it are ours to destroy
	HostCache         string  `json:"host_cache,omitempty"`          // libvirt's cache mode in force below the disk; decides durability
	ReadDelaySeconds  float64 `json:"read_delay_seconds,omitempty"`  // dm-delay
	WriteDelaySeconds float64 `json:"write_delay_seconds,omitempty"`
}

// Storage is one filesystem on one layout of disks.
type Storage struct {
	Filesystem string            `json:"filesystem"`        // registry name: ext4, xfs, zfs …
	Label      string            `json:"label,omitempty"`   // filesystem label
	Options    map[string]string `json:"options,omitempty"` // mkfs options in the filesystem's own words
	Mount      []string          `json:"mount,omitempty"`   // mount options
	Layout     Layout            `json:"layout"`
}

// Layout is a node of the tree that turns disks into the device a filesystem lies on.
type Layout struct {
	Kind    string            `json:"kind"`              // registry name: disk, partition, md, lvm, crypt, zfs, btrfs
	Disk    string            `json:"disk,omitempty"`    // leaf: Disk.Name
	Options map[string]string `json:"options,omitempty"` // e.g. level, chunk, number, of, ashift
	Of      []Layout          `json:"of,omitempty"`
}

// Server says which server image to run and with which options, in the server's own names.
type Server struct {
	Image             string            `json:"image"`             // catalogue name, for the record
	Serial            string            `json:"serial"`            // disk that holds the server image
	Options           map[string]string `json:"options,omitempty"` // asked configuration
	Profile           string            `json:"profile,omitempty"`
	StartLimitSeconds float64           `json:"start_limit_seconds,omitempty"` // 0 means the default, scaled by the host for tcg
}

// Step is one thing to do, in order. Options belong to the workload and are decoded strictly by it.
type Step struct {
	Do       string          `json:"do"`                 // prepare, warmup, run, crash, verify, cleanup, restart, sleep, drop_caches, stop, start, fill
	Name     string          `json:"name,omitempty"`     // label in results; defaults to Do
	Workload string          `json:"workload,omitempty"` // registry name
	Options  json.RawMessage `json:"options,omitempty"`
	Seconds  float64         `json:"seconds,omitempty"` // for sleep
}
