package report

import (
	"maps"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// controlTables compares each cell that ran twice with its second name, in every headline metric.
func (b *builder) controlTables(tables []Table) []Control {
	var out []Control
	places := map[[2]string]bool{}
	for _, t := range b.controls {
		places[[2]string{t.row, t.column}] = true
	}
	for _, place := range slices.SortedFunc(maps.Keys(places), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) }) {
		for _, t := range tables {
			if !t.Headline || t.Metric.Direction == results.Neutral {
				continue
			}
			var second []float64
			for _, c := range b.controls {
				if c.row == place[0] && c.column == place[1] && c.status == results.StatusOK {
					second = append1(second, valueOf(c, t.Key))
				}
			}
			first := t.entry(place[0], place[1])
			out = append(out, Control{Row: place[0], Column: place[1], Key: t.Key, Summary: stats.Summarize(second),
				Comparison: stats.Compare(first.Summary.Values, second, stats.Question{Direction: results.Neutral})})
		}
	}
	return out
}

func valueOf(t *trial, key string) *float64 {
	for _, m := range t.metrics {
		if m.Key() == key {
			return m.Value
		}
	}
	return nil
}

// entry finds the entry of a place, or an empty one.
func (t Table) entry(row, column string) Entry {
	for _, r := range t.Rows {
		for _, e := range r.Entries {
			if r.Row == row && e.Column == column {
				return e
			}
		}
	}
	return Entry{Column: column}
}

// quiet is what is known of the laboratory during the trials of a report.
type quiet struct {
	steady map[[3]string][2]int          // row, column, step → trials that were not steady, trials that could be judged
	probes map[[2]string][]probeCompared // row, column → against the row's baseline
}

type probeCompared struct {
	name       string
	comparison stats.Comparison
}

// quietness gathers it once.
func (b *builder) quietness(tables []Table) quiet {
	q := quiet{steady: map[[3]string][2]int{}, probes: map[[2]string][]probeCompared{}}
	for _, t := range b.trials {
		for step, steady := range t.steady {
			place := [3]string{t.row, t.column, step}
			n := q.steady[place]
			if n[1]++; !steady {
				n[0]++
			}
			q.steady[place] = n
		}
	}
	for _, t := range tables {
		if t.Labels[probeLabel] != "noise" || t.Labels["when"] != "before" || !slices.Contains(noiseMetrics, t.Metric.Name) {
			continue
		}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				// Writes to a disk tell of the laboratory only where both sides have the same disk.
				if place := [2]string{row.Row, e.Column}; e.Comparison != nil && (t.Metric.Name == "cpu_loop_seconds" || b.sameDisks(row.Row, e.Column)) {
					q.probes[place] = append(q.probes[place], probeCompared{t.Metric.Name, *e.Comparison})
				}
			}
		}
	}
	return q
}

// veto takes back verdicts that the laboratory does not bear out: the A/A control of the metric lies apart, the probes
// say that the laboratory was another one on the other side, or too many trials of a side were not steady.
func (b *builder) veto(m *Model) {
	q := b.quietness(m.Tables)
	for _, t := range m.Tables {
		control := ""
		for _, c := range m.Controls {
			if reason := stats.ControlVeto(c.Comparison, t.Metric.ToleranceRatio); c.Key == t.Key && reason != "" {
				control = reason
			}
		}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if e.Comparison == nil || e.Comparison.Verdict == stats.NotJudged {
					continue
				}
				reasons := []string{control}
				for _, p := range q.probes[[2]string{row.Row, e.Column}] {
					reasons = append(reasons, stats.DriftVeto(p.name, p.comparison, t.Metric.ToleranceRatio))
				}
				for _, column := range []string{b.base, e.Column} {
					n := q.steady[[3]string{row.Row, column, t.Step}]
					if reason := stats.SteadyVeto(n[0], n[1]); reason != "" {
						reasons = append(reasons, column+": "+reason)
					}
				}
				reasons = slices.DeleteFunc(reasons, func(r string) bool { return r == "" })
				if len(reasons) > 0 {
					e.Comparison.Veto(strings.Join(reasons, "; "))
				}
			}
		}
	}
}

// sameDisks reports whether the disks of a cell are described as those of its row's baseline.
func (b *builder) sameDisks(row, column string) bool {
	disks := map[string]map[string]bool{}
	for _, t := range b.trials {
		if t.row != row || t.column != column && t.column != b.base || t.status != results.StatusOK {
			continue
		}
		for _, f := range t.facts {
			if strings.HasPrefix(f.name, "disk ") {
				put2(disks, t.column, f.name+"="+f.value)
			}
		}
	}
	return maps.Equal(disks[column], disks[b.base])
}
