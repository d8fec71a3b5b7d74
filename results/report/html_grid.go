package report

import (
	"fmt"
	"slices"
	"strings"

	"platter/results"
)

// costMetrics say what the machine did for the work: server, filesystem, device.
var costMetrics = []string{
	"flushes_per_transaction_ratio", "written_bytes_per_transaction_ratio", "device_flushes_total", "device_writes_total", "device_reads_total",
	"device_written_bytes", "device_read_bytes", "device_busy_ratio", "cpu_user_ratio", "cpu_system_ratio", "cpu_iowait_ratio", "cpu_idle_ratio",
	"cpu_steal_ratio", "context_switches_per_second", "deadlocks_total", "errors_total", "data_bytes", "index_bytes",
	"mkfs_seconds", "mount_seconds", "server_init_seconds", "server_start_seconds", "server_stop_seconds", "quiesce_seconds",
}

// latencyMetrics are the percentiles, each the median over trials of the trial's own.
var latencyMetrics = []string{
	"latency_minimum_seconds", "latency_mean_seconds", "latency_p50_seconds", "latency_p95_seconds", "latency_p99_seconds", "latency_p999_seconds", "latency_maximum_seconds",
}

func isCost(t Table) bool {
	return t.Labels["disk"] == "" && t.Labels[probeLabel] == "" && slices.Contains(costMetrics, t.Metric.Name)
}

func isLatency(t Table) bool { return slices.Contains(latencyMetrics, t.Metric.Name) }

func isProbe(t Table) bool { return t.Labels[probeLabel] != "" }

// maxGridColumns keeps a grid readable; wider ones are left to report.json.
const maxGridColumns = 24

// gridOf makes a table of medians: a line a metric and step, a column a cell. It is nil when there is nothing to show.
func gridOf(m *Model, wanted func(Table) bool) *grid {
	g := grid{Header: []string{"median"}}
	for _, t := range m.Tables {
		if !wanted(t) {
			continue
		}
		if len(g.Header) == 1 {
			for _, row := range t.Rows {
				for _, e := range row.Entries {
					g.Header = append(g.Header, strings.Trim(row.Row+" "+e.Column, " "))
				}
			}
		}
		line := []string{heading(t)}
		s := scale(t)
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				line = append(line, medianText(e, s))
			}
		}
		g.Rows = append(g.Rows, line)
	}
	if len(g.Rows) == 0 || len(g.Header) > maxGridColumns {
		return nil
	}
	return &g
}

// kernelTables prints the seconds of each cell as vmstat and sar would.
func kernelTables(m *Model) []htmlKernel {
	var out []htmlKernel
	for _, k := range m.Kernel[:min(len(m.Kernel), maxFigures)] {
		table := grid{Header: []string{"second", "r", "b", "free", "buff", "cache", "dirty", "read/s", "written/s", "flush/s", "in/s", "cs/s", "user", "nice", "sys", "idle", "wait", "steal"}}
		for _, l := range k.Lines {
			line := []string{fmt.Sprintf("%.1f", l.Seconds), fmt.Sprintf("%.0f", l.Running), fmt.Sprintf("%.0f", l.Blocked)}
			for _, v := range []float64{l.FreeBytes, l.BuffersBytes, l.CachedBytes, l.DirtyBytes, l.ReadBytes, l.WrittenBytes} {
				line = append(line, results.FormatValue(v, results.Bytes))
			}
			for _, v := range []float64{l.Flushes, l.Interrupts, l.ContextSwitches} {
				line = append(line, results.FormatCount(int64(v+0.5)))
			}
			for _, v := range []float64{l.User, l.Nice, l.System, l.Idle, l.IOWait, l.Steal} {
				line = append(line, fmt.Sprintf("%.1f%%", v*100))
			}
			table.Rows = append(table.Rows, line)
		}
		out = append(out, htmlKernel{fmt.Sprintf("%s: trial %s, seconds from the middle, as vmstat and sar count them", strings.Trim(k.Row+" "+k.Column, " "), k.Trial), table})
	}
	return out
}
