package report

import (
	"slices"

	"platter/results"
	"platter/results/stats"
)

// noiseMetrics are what the noise probe tells of the laboratory by medians; its maxima vary by themselves.
var noiseMetrics = []string{"cpu_loop_seconds", "sync_write_median_seconds"}

// Noise is what one probe of the laboratory told in each of two columns: the median of all its values there.
type Noise struct {
	Metric results.MetricInfo
	Sides  [2]stats.Summary
}

// Changed reports whether the laboratory was another one, judged as generously as a metric with a tolerance of 10 %.
func (n Noise) Changed() bool {
	a, b := n.Sides[0].Median, n.Sides[1].Median
	if a == nil || b == nil || *a <= 0 || *b <= 0 {
		return false
	}
	const tolerance = 1.10
	return *b / *a > tolerance || *a / *b > tolerance
}

// NoiseOf compares the noise probes of two columns. They measure the laboratory and not its subject, so a change of theirs
// explains numbers that nothing in the environment does, such as a neighbour's load on the host. Cells that only one side
// has are left out of both.
func (m *Model) NoiseOf(base, other string) []Noise {
	var out []Noise
	place := map[string]int{}
	for _, t := range m.Tables {
		if t.Labels[probeLabel] != "noise" || !slices.Contains(noiseMetrics, t.Metric.Name) {
			continue
		}
		var values [2][]float64
		for _, row := range t.Rows {
			a, b := t.entry(row.Row, base).Summary.Values, t.entry(row.Row, other).Summary.Values
			if len(a) > 0 && len(b) > 0 {
				values[0], values[1] = append(values[0], a...), append(values[1], b...)
			}
		}
		if len(values[0]) == 0 {
			continue
		}
		i, known := place[t.Metric.Name]
		if !known {
			i = len(out)
			place[t.Metric.Name] = i
			out = append(out, Noise{Metric: t.Metric})
		}
		for side := range values {
			out[i].Sides[side] = stats.Summarize(append(out[i].Sides[side].Values, values[side]...))
		}
	}
	return out
}
