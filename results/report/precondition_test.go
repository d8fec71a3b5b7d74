package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"platter/results"
)

// TestPreconditionRounds: the page shows each round in which a disk was written before the trial, in order, and draws no
// verdict from them.
func TestPreconditionRounds(t *testing.T) {
	f := slowed()
	for i := range f.results {
		for round, rate := range []float64{400e6, 200e6, 100e6, 101e6} {
			f.results[i].Probes = append(f.results[i].Probes, results.Probe{Name: "precondition:data", When: fmt.Sprintf("round %02d", round+1),
				Values: map[string]*float64{"precondition_bytes_per_second": &rate}})
		}
	}
	m := build(t, Options{}, f)
	g := gridOf(m, isProbe)
	if g == nil || len(g.Rows) != 4 {
		t.Fatalf("the grid of probes is %+v", g)
	}
	for i, line := range g.Rows {
		if text := fmt.Sprint(line); !strings.Contains(text, fmt.Sprintf("round %02d", i+1)) || !strings.Contains(text, "precondition:data") {
			t.Errorf("line %d is %s", i, text)
		}
		t.Log(line)
	}
	lines := m.preconditionRounds()
	if len(lines) != 2 || len(lines[0].rates) != 4 || lines[0].rates[0] != 400e6 || lines[0].rates[3] != 101e6 {
		t.Errorf("the lines drawn are %+v", lines)
	}
	var page bytes.Buffer
	if err := Write(&page, "html", m, Style{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "Writing disks until they are steady") || !strings.Contains(page.String(), "round 4") {
		t.Error("the page shows no plot of the rounds")
	}
	for _, table := range m.Tables {
		if isProbe(table) && (table.Metric.Headline || table.Metric.Direction != results.Neutral) {
			t.Errorf("%s is judged", table.Key)
		}
	}
}
