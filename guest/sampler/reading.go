package sampler

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// sectorBytes is the unit of /proc/diskstats, whatever the disk's own sector is.
const sectorBytes = 512

// Value is one counter or gauge.
type Value struct {
	Source, Name string
	Value        float64
}

// Reading is all values at one moment, in a fixed order.
type Reading []Value

// Get returns a value, and whether the reading has it.
func (r Reading) Get(source, name string) (float64, bool) {
	for _, v := range r {
		if v.Source == source && v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}

// Since returns how much a counter grew from an earlier reading, and whether both have it.
func (r Reading) Since(earlier Reading, source, name string) (float64, bool) {
	now, ok := r.Get(source, name)
	then, ok2 := earlier.Get(source, name)
	return now - then, ok && ok2
}

// Source reads the counters. Disks maps kernel names (vdb) to the names values are given (data).
type Source struct {
	proc  procfs.FS
	block blockdevice.FS
	root  string
	disks map[string]string
}

// NewSource reads below root, which is "/" outside of tests.
func NewSource(root string, disks map[string]string) (*Source, error) {
	procDir, sysDir := filepath.Join(root, "proc"), filepath.Join(root, "sys")
	proc, err := procfs.NewFS(procDir)
	if err != nil {
		return nil, fmt.Errorf("open sampler: %w", err)
	}
	block, err := blockdevice.NewFS(procDir, sysDir)
	if err != nil {
		return nil, fmt.Errorf("open sampler: %w", err)
	}
	return &Source{proc: proc, block: block, root: root, disks: disks}, nil
}

// Read returns everything at this moment. A part the kernel does not offer (pressure) is left out.
func (s *Source) Read() (Reading, error) {
	var r Reading
	for _, part := range []func(Reading) (Reading, error){s.cpu, s.diskstats, s.memory} {
		var err error
		if r, err = part(r); err != nil {
			return nil, fmt.Errorf("sample: %w", err)
		}
	}
	return s.pressure(s.paging(r)), nil
}

func (s *Source) cpu(r Reading) (Reading, error) {
	st, err := s.proc.Stat()
	if err != nil {
		return nil, err
	}
	c := st.CPUTotal
	return append(r,
		Value{"cpu", "user_seconds_total", c.User}, Value{"cpu", "nice_seconds_total", c.Nice},
		Value{"cpu", "system_seconds_total", c.System}, Value{"cpu", "idle_seconds_total", c.Idle},
		Value{"cpu", "iowait_seconds_total", c.Iowait}, Value{"cpu", "irq_seconds_total", c.IRQ},
		Value{"cpu", "softirq_seconds_total", c.SoftIRQ}, Value{"cpu", "steal_seconds_total", c.Steal},
		Value{"system", "context_switches_total", float64(st.ContextSwitches)},
		Value{"system", "interrupts_total", float64(st.IRQTotal)},
		Value{"system", "running_processes", float64(st.ProcessesRunning)},
		Value{"system", "blocked_processes", float64(st.ProcessesBlocked)},
	), nil
}

func (s *Source) diskstats(r Reading) (Reading, error) {
	if len(s.disks) == 0 {
		return r, nil
	}
	all, err := s.block.ProcDiskstats()
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		name, ok := s.disks[d.DeviceName]
		if !ok {
			continue
		}
		source := "disk:" + name
		for _, v := range []struct {
			name  string
			value float64
		}{
			{"reads_total", float64(d.ReadIOs)}, {"reads_merged_total", float64(d.ReadMerges)},
			{"read_bytes_total", sectorBytes * float64(d.ReadSectors)}, {"read_seconds_total", float64(d.ReadTicks) / 1e3},
			{"writes_total", float64(d.WriteIOs)}, {"writes_merged_total", float64(d.WriteMerges)},
			{"written_bytes_total", sectorBytes * float64(d.WriteSectors)}, {"write_seconds_total", float64(d.WriteTicks) / 1e3},
			{"in_flight", float64(d.IOsInProgress)}, {"busy_seconds_total", float64(d.IOsTotalTicks) / 1e3},
			{"queue_seconds_total", float64(d.WeightedIOTicks) / 1e3},
			{"discards_total", float64(d.DiscardIOs)}, {"discarded_bytes_total", sectorBytes * float64(d.DiscardSectors)},
			{"flushes_total", float64(d.FlushRequestsCompleted)}, {"flush_seconds_total", float64(d.TimeSpentFlushing) / 1e3},
		} {
			r = append(r, Value{source, v.name, v.value})
		}
	}
	return r, nil
}

func (s *Source) memory(r Reading) (Reading, error) {
	m, err := s.proc.Meminfo()
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name  string
		value *uint64
	}{
		{"total_bytes", m.MemTotalBytes}, {"free_bytes", m.MemFreeBytes}, {"available_bytes", m.MemAvailableBytes},
		{"buffers_bytes", m.BuffersBytes}, {"cached_bytes", m.CachedBytes}, {"dirty_bytes", m.DirtyBytes},
		{"writeback_bytes", m.WritebackBytes}, {"anonymous_bytes", m.AnonPagesBytes}, {"slab_bytes", m.SlabBytes},
		{"slab_reclaimable_bytes", m.SReclaimableBytes},
		{"swap_total_bytes", m.SwapTotalBytes}, {"swap_free_bytes", m.SwapFreeBytes},
	} {
		if v.value != nil {
			r = append(r, Value{"memory", v.name, float64(*v.value)})
		}
	}
	return r, nil
}

// paging reads /proc/vmstat itself: procfs has no reader for it.
func (s *Source) paging(r Reading) Reading {
	b, err := os.ReadFile(filepath.Join(s.root, "proc/vmstat"))
	if err != nil {
		return r
	}
	wanted := map[string]struct {
		name string
		unit float64
	}{
		"pgpgin": {"paged_in_bytes_total", 1024}, "pgpgout": {"paged_out_bytes_total", 1024},
		"pswpin": {"swapped_in_bytes_total", float64(os.Getpagesize())}, "pswpout": {"swapped_out_bytes_total", float64(os.Getpagesize())},
		"pgmajfault": {"major_faults_total", 1}, "oom_kill": {"oom_kills_total", 1},
	}
	for line := range strings.Lines(string(b)) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		w, ok := wanted[key]
		n, err := strconv.ParseFloat(text, 64)
		if ok && err == nil {
			r = append(r, Value{"paging", w.name, n * w.unit})
		}
	}
	return r
}

func (s *Source) pressure(r Reading) Reading {
	for _, resource := range []string{"cpu", "io", "memory"} {
		p, err := s.proc.PSIStatsForResource(resource)
		if err != nil {
			continue
		}
		if p.Some != nil {
			r = append(r, Value{"pressure", resource + "_some_seconds_total", float64(p.Some.Total) / 1e6})
		}
		if p.Full != nil {
			r = append(r, Value{"pressure", resource + "_full_seconds_total", float64(p.Full.Total) / 1e6})
		}
	}
	return r
}
