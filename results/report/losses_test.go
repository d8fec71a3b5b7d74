package report

import (
	"testing"

	"platter/results"
	"platter/results/stats"
)

// TestLosses: a crash check is answered by where commits were lost, and by whether a durability class was broken.
func TestLosses(t *testing.T) {
	table := func(metric string, cells ...[]float64) Table {
		out := Table{Headline: true, Metric: results.MetricInfo{Name: metric}}
		for _, values := range cells {
			out.Rows = append(out.Rows, TableRow{Entries: []Entry{{Summary: stats.Summary{Values: values}}}})
		}
		return out
	}
	for _, c := range []struct {
		name  string
		table Table
		notes []Note
		want  string
	}{
		{"another study", table("run_seconds", []float64{1}), nil, ""},
		{"nothing measured", table("lost_total", nil), nil, ""},
		{"as promised", table("lost_total", []float64{0, 0}, []float64{0, 3}, nil), nil,
			"Acknowledged commits were lost in 1 of 2 cells, in none against what its durability class promises."},
		{"broken", table("lost_total", []float64{3}), []Note{{Text: "durability: x"}, {Text: "durability_broken: 3 commits"}},
			"Acknowledged commits were lost in 1 of 1 cells, in some although their durability class rules it out: see the notes durability_broken."},
	} {
		if got := losses(&Model{Tables: []Table{c.table}, Notes: c.notes}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
