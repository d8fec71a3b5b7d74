package report

import (
	"math"
	"slices"
)

// Kernel is a few seconds of a trial as vmstat and sar would print them.
type Kernel struct {
	Row    string       `json:"row"`
	Column string       `json:"column"`
	Trial  string       `json:"trial"`
	Step   string       `json:"step"`
	Lines  []KernelLine `json:"lines"`
}

// KernelLine is one second. Rates are per second, sizes bytes, shares of all processors' time.
type KernelLine struct {
	Seconds         float64 `json:"seconds"`
	Running         float64 `json:"running_processes"`
	Blocked         float64 `json:"blocked_processes"`
	FreeBytes       float64 `json:"free_bytes"`
	SwappedBytes    float64 `json:"swapped_bytes"` // swap in use
	BuffersBytes    float64 `json:"buffers_bytes"`
	CachedBytes     float64 `json:"cached_bytes"`
	DirtyBytes      float64 `json:"dirty_bytes"`
	SwappedIn       float64 `json:"swapped_in_bytes_per_second"`
	SwappedOut      float64 `json:"swapped_out_bytes_per_second"`
	ReadBytes       float64 `json:"read_bytes_per_second"`
	WrittenBytes    float64 `json:"written_bytes_per_second"`
	Flushes         float64 `json:"flushes_per_second"`
	Interrupts      float64 `json:"interrupts_per_second"`
	ContextSwitches float64 `json:"context_switches_per_second"`
	User            float64 `json:"user_ratio"`
	Nice            float64 `json:"nice_ratio"`
	System          float64 `json:"system_ratio"`
	Idle            float64 `json:"idle_ratio"`
	IOWait          float64 `json:"iowait_ratio"`
	Steal           float64 `json:"steal_ratio"`
}

// kernelRows is how many seconds the originals of the published studies printed.
const kernelRows = 10

// kernelLines turns counters into the ten seconds from the middle of the measured step.
func kernelLines(readings []reading) []KernelLine {
	var lines []KernelLine
	from := max(1, (len(readings)-kernelRows)/2)
	for i := from; i < len(readings) && len(lines) < kernelRows; i++ {
		lines = append(lines, kernelLine(readings[i-1], readings[i]))
	}
	return slices.Clip(lines)
}

func kernelLine(before, after reading) KernelLine {
	interval := after.seconds - before.seconds
	is := func(name string) float64 {
		v, _ := after.value(name)
		return v
	}
	per := func(name string) float64 {
		if interval <= 0 {
			return 0
		}
		was, _ := before.value(name)
		return math.Max(0, is(name)-was) / interval
	}
	total := 0.0
	for _, part := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
		total += per("cpu/" + part + "_seconds_total")
	}
	share := func(parts ...string) float64 {
		sum := 0.0
		for _, part := range parts {
			sum += per("cpu/" + part + "_seconds_total")
		}
		if total == 0 {
			return 0
		}
		return round(sum/total, 6)
	}
	return KernelLine{
		Seconds: round(after.seconds, 3), Running: is("system/running_processes"), Blocked: is("system/blocked_processes"),
		SwappedBytes: math.Max(0, is("memory/swap_total_bytes")-is("memory/swap_free_bytes")),
		SwappedIn:    per("paging/swapped_in_bytes_total"), SwappedOut: per("paging/swapped_out_bytes_total"),
		FreeBytes: is("memory/free_bytes"), BuffersBytes: is("memory/buffers_bytes"),
		// As vmstat counts: older runs have no sample of the second part.
		CachedBytes: is("memory/cached_bytes") + is("memory/slab_reclaimable_bytes"), DirtyBytes: is("memory/dirty_bytes"),
		ReadBytes: per("disk/read_bytes_total"), WrittenBytes: per("disk/written_bytes_total"), Flushes: per("disk/flushes_total"),
		Interrupts: per("system/interrupts_total"), ContextSwitches: per("system/context_switches_total"),
		User: share("user"), Nice: share("nice"), System: share("system", "irq", "softirq"), Idle: share("idle"), IOWait: share("iowait"), Steal: share("steal"),
	}
}
