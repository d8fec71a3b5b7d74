package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"platter/results"
)

// costLevels say what the machine did for the work, from the server down.
var costLevels = []struct {
	title   string
	metrics []string
}{
	{"Server", []string{"log_bytes_per_transaction_ratio", "deadlocks_total", "errors_total", "data_bytes", "index_bytes"}},
	{"Filesystem: what the server asked of it", []string{"asked_bytes_per_transaction_ratio", "asked_flushes_per_transaction_ratio"}},
	{"Device: what reached it", []string{"written_bytes_per_transaction_ratio", "flushes_per_transaction_ratio", "device_written_bytes", "device_read_bytes",
		"device_writes_total", "device_reads_total", "device_flushes_total", "device_busy_ratio"}},
	{"Processor", []string{"cpu_user_ratio", "cpu_system_ratio", "cpu_iowait_ratio", "cpu_idle_ratio", "cpu_steal_ratio", "context_switches_per_second"}},
	{"Around the work", []string{"mkfs_seconds", "mount_seconds", "quiesce_seconds", "server_init_seconds", "server_start_seconds", "server_stop_seconds"}},
}

// htmlLevel is the costs at one level.
type htmlLevel struct {
	Title string
	Table grid
}

// levelsOfCost makes a table of costs a level, of those levels that were measured.
func levelsOfCost(m *Model) []htmlLevel {
	var out []htmlLevel
	for _, level := range costLevels {
		if g := gridOf(m, func(t Table) bool { return isCost(t) && slices.Contains(level.metrics, t.Metric.Name) }); g != nil {
			out = append(out, htmlLevel{level.title, *g})
		}
	}
	return out
}

// latencyMetrics are the percentiles, each the median over trials of the trial's own.
var latencyMetrics = []string{
	"latency_minimum_seconds", "latency_mean_seconds", "latency_p50_seconds", "latency_p95_seconds", "latency_p99_seconds", "latency_p999_seconds", "latency_maximum_seconds",
}

func isCost(t Table) bool {
	if t.Labels["disk"] != "" || t.Labels[probeLabel] != "" {
		return false
	}
	for _, level := range costLevels {
		if slices.Contains(level.metrics, t.Metric.Name) {
			return true
		}
	}
	return false
}

func isLatency(t Table) bool { return slices.Contains(latencyMetrics, t.Metric.Name) }

// percentilesOf is the grid of latencies: what belongs to one operation of one step together, from the smallest up.
func percentilesOf(m *Model) *grid {
	var groups []string
	group := func(t Table) string { return fmt.Sprint(t.Step, t.Labels) }
	for _, t := range m.Tables {
		if g := group(t); isLatency(t) && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	ordered := *m
	ordered.Tables = slices.DeleteFunc(slices.Clone(m.Tables), func(t Table) bool { return !isLatency(t) })
	slices.SortStableFunc(ordered.Tables, func(a, b Table) int {
		return cmp.Or(cmp.Compare(slices.Index(groups, group(a)), slices.Index(groups, group(b))),
			cmp.Compare(slices.Index(latencyMetrics, a.Metric.Name), slices.Index(latencyMetrics, b.Metric.Name)))
	})
	return gridOf(&ordered, isLatency)
}

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
		line := []string{shortTitle(t)}
		s := scale(t)
		if strings.Contains(t.Metric.Name, "bytes_per_transaction") {
			s = bytesScale(t)
		}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				text := medianText(e, s)
				if e.Summary.Median == nil && len(e.Reasons) > 0 {
					text += " (" + e.Reasons[0] + ")"
				}
				line = append(line, text)
			}
		}
		g.Rows = append(g.Rows, line)
	}
	if len(g.Rows) == 0 || len(g.Header) > maxGridColumns {
		return nil
	}
	return &g
}

// bytesScale is the unit of ratios that count bytes.
func bytesScale(t Table) results.Scale {
	var medians []float64
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			medians = append1(medians, e.Summary.Median)
		}
	}
	return results.ScaleOf(results.Bytes, medians...)
}
