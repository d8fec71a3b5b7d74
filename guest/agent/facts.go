package agent

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"platter/results"

	"github.com/prometheus/procfs"
)

// Facts identifies the machine as it sees itself.
func (s System) Facts() results.GuestFacts {
	f := results.GuestFacts{
		Kernel: s.text("/proc/sys/kernel/osrelease"), Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Cmdline: clip(s.text("/proc/cmdline"), 4096),
	}
	proc, err := procfs.NewFS(s.path("/proc"))
	if err != nil {
		return f
	}
	if m, err := proc.Meminfo(); err == nil && m.MemTotalBytes != nil {
		f.MemoryBytes = int64(*m.MemTotalBytes)
	}
	if cpus, err := proc.CPUInfo(); err == nil && len(cpus) > 0 {
		f.CPUModel = cpus[0].ModelName
	}
	return f
}

// factsAfter proves again, after the workload, where the data lies; numbers of data that lie elsewhere are invalid.
func (t *trial) factsAfter(context.Context) error {
	if t.broken() {
		return nil
	}
	if err := t.prove(); err != nil {
		t.invalid = append(t.invalid, err.Error())
	}
	return t.measureStorage()
}

// timings are metrics in order of name; a nil value is one that was not measured.
func timings(values map[string]*float64) []results.Metric {
	var metrics []results.Metric
	for name, v := range values {
		if v != nil {
			metrics = append(metrics, results.Metric{Name: name, Value: v})
		}
	}
	slices.SortFunc(metrics, func(a, b results.Metric) int { return strings.Compare(a.Name, b.Name) })
	return metrics
}
