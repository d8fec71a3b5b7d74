package report

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"

	"platter/results"
)

// memory is a run folder that lies in memory.
type memory struct {
	id       string
	status   string
	plan     map[string]any
	results  []results.Result
	problems []error
	samples  map[string]string // <trial>-<attempt> → samples.csv
}

func (f *memory) ID() string            { return f.id }
func (f *memory) Path() string          { return "platter-results/" + f.id }
func (f *memory) Status() string        { return f.status }
func (f *memory) Command() []string     { return []string{"platter", "run", "ext4-vs-xfs@smoke"} }
func (f *memory) Plan() ([]byte, error) { return json.Marshal(f.plan) }
func (f *memory) Results() iter.Seq2[results.Result, error] {
	return func(yield func(results.Result, error) bool) {
		for _, r := range f.results {
			if !yield(copyOf(r), nil) {
				return
			}
		}
		for _, err := range f.problems {
			if !yield(results.Result{}, err) {
				return
			}
		}
	}
}

func (f *memory) Samples(trialID string, attempt int) (io.ReadCloser, error) {
	text, ok := f.samples[fmt.Sprintf("%s-%d", trialID, attempt)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// copyOf gives each reader its own result, as a file would.
func copyOf(r results.Result) results.Result {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var c results.Result
	if err := json.Unmarshal(data, &c); err != nil {
		panic(err)
	}
	return c
}

// studyOf makes a run of a study with one factor a level list; the values of run_seconds are given by cell and round.
func studyOf(values map[string][]float64, order ...string) *memory {
	f := &memory{id: "20260131T021500Z-ext4-vs-xfs-7f3a9c", status: "done"}
	rounds := 0
	for _, v := range values {
		rounds = max(rounds, len(v))
	}
	var trials []map[string]any
	for round := range rounds {
		for i, level := range order {
			id := fmt.Sprintf("%03d-%s/%d", len(trials), level, round+1)
			trials = append(trials, map[string]any{"id": id, "index": len(trials), "round": round + 1,
				"factors": map[string]string{"storage": level, "server": "mariadb-11.8"}})
			if round < len(values[level]) {
				f.results = append(f.results, trialOf(f.id, id, level, len(trials)-1, round+1, values[level][round], i))
			}
		}
	}
	f.plan = map[string]any{"study": "ext4-vs-xfs", "scale": "smoke", "rounds": rounds, "seed": 7,
		"question": "Does MariaDB write faster on ext4 or on xfs, everything else the same?",
		"factors":  []Factor{{"server", []string{"mariadb-11.8"}}, {"storage", order}}, "trials": trials}
	return f
}

func trialOf(run, id, level string, index, round int, seconds float64, wobble int) results.Result {
	p := func(v float64) *float64 { return &v }
	s := func(v string) *string { return &v }
	sectors := int64(512)
	sum := "sha256:" + strings.Repeat("a", 64)
	queries := 1000.0
	return results.Result{
		Schema: results.Schema, RunID: run, Study: "ext4-vs-xfs", Scale: "smoke", Trial: "mysqlslap/storage=" + level, TrialID: id,
		Index: index, Round: round, Attempt: 1, Factors: map[string]string{"storage": level, "server": "mariadb-11.8"},
		CellID: sum, EnvID: sum, SoftwareID: sum, Status: results.StatusOK, StartedAt: time.Date(2026, 1, 31, 2, 15, index, 0, time.UTC),
		WallSeconds: p(seconds + 40), BootSeconds: p(7.25 + float64(wobble)/4), GuestSeconds: p(seconds + 20), OverheadSeconds: p(20), Accel: "tcg", Durability: "full",
		Host: results.HostFacts{Kernel: "6.12.48+deb13-amd64", CPUModel: "Test CPU", CPUs: 2, MemoryBytes: 8 << 30,
			LibvirtVersion: "11.3.0", QEMUVersion: "10.0.3", MachineType: "q35", Mode: "system", PlatterVersion: "0.1.0"},
		Guest:  &results.GuestFacts{Kernel: "6.12.48+deb13-amd64", Arch: "x86_64", CPUs: 2, MemoryBytes: 1 << 30},
		Images: []results.ImageRef{{Name: "root-debian-13", Digest: "sha256:" + strings.Repeat("b", 64)}, {Name: "mariadb-11.8", Digest: "sha256:" + strings.Repeat("c", 64)}},
		Disks: []results.DiskFacts{{Name: "data", Kind: "file", SizeBytes: 2 << 30, Bus: "virtio", CacheEffective: "none", IOEffective: "native",
			Preallocation: "full", LogicalBlockBytes: &sectors, PhysicalBlockBytes: &sectors}},
		Storage: &results.StorageFacts{Filesystem: level, Layout: "whole disk", MountOptions: "rw,relatime"},
		Server:  &results.ServerFacts{Flavour: "mariadb", Version: "11.8.3"},
		Settings: []results.Setting{{Subject: "server", Name: "innodb_flush_log_at_trx_commit", Asked: s("1"), Effective: s("1")},
			{Subject: "server", Name: "innodb_buffer_pool_size", Asked: s("128M"), Effective: s("134217728")},
			{Subject: "machine", Name: "memory_bytes", Asked: s("1073741824"), Effective: s("1007042560")}},
		Metrics: []results.Metric{
			{Name: "run_seconds", Step: "slap", Labels: map[string]string{"clients": "10"}, Value: &seconds},
			{Name: "queries_per_second", Step: "slap", Labels: map[string]string{"clients": "10"}, Value: p(queries / seconds)},
			{Name: "queries_total", Step: "slap", Value: &queries},
			{Name: "latency_p99_seconds", Step: "slap", Reason: "1,000 events are too few: a percentile needs 10 beyond it"},
		},
	}
}

func twoTrials() *memory {
	return studyOf(map[string][]float64{"ext4": {8.146, 8.414}, "xfs": {7.702, 7.731}}, "ext4", "xfs")
}

func tenTrials() *memory {
	return studyOf(map[string][]float64{
		"ext4":  {8.146, 8.414, 8.280, 8.201, 8.333, 8.190, 8.255, 8.301, 8.240, 8.222},
		"xfs":   {7.402, 7.431, 7.390, 7.511, 7.466, 7.380, 7.420, 7.480, 7.444, 7.399},
		"btrfs": {8.300, 8.250, 8.220, 8.190, 8.310, 8.280, 8.270, 8.210, 8.240, 8.260},
	}, "ext4", "xfs", "btrfs")
}
