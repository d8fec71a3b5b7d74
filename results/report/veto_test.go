package report

import (
	"fmt"
	"strings"
	"testing"

	"platter/results"
	"platter/results/stats"
)

// slowed is a run in which xfs takes clearly longer: without a veto it is worse.
func slowed() *memory {
	return studyOf(map[string][]float64{"ext4": six(10), "xfs": six(12)}, "ext4", "xfs")
}

// verdictOf is the one comparison of a report of two levels.
func verdictOf(t *testing.T, f *memory) *stats.Comparison {
	t.Helper()
	return build(t, Options{}, f).Tables[0].Rows[0].Entries[1].Comparison
}

// withControl runs ext4 twice a round, the second time under another name and slower by a factor.
func withControl(f *memory, apart float64) *memory {
	planned := f.plan["trials"].([]map[string]any)
	for i, v := range six(10) {
		id := fmt.Sprintf("%03d-ext4-control/%d", len(planned), i+1)
		planned = append(planned, map[string]any{"id": id, "index": len(planned), "round": i + 1, "control": true,
			"factors": map[string]string{"storage": "ext4", "server": "mariadb-11.8"}})
		f.results = append(f.results, trialOf(f.id, id, "ext4", len(planned)-1, i+1, v*apart, 0))
	}
	f.plan["trials"] = planned
	return f
}

// TestControlIsApart: the second name of a cell is no part of the cell, and vetoes verdicts when it lies apart.
func TestControlIsApart(t *testing.T) {
	for _, c := range []struct {
		apart float64
		want  stats.Verdict
	}{{1, stats.Regressed}, {1.01, stats.Regressed}, {1.04, stats.Inconclusive}, {0.96, stats.Inconclusive}} {
		m := build(t, Options{}, withControl(slowed(), c.apart))
		e := m.Tables[0].Rows[0].Entries
		if e[0].Summary.N != 6 || m.Counts.OK != 18 || len(m.Controls) != 1 {
			t.Fatalf("n %d, counts %+v, %d controls: want the control beside the cell, not in it", e[0].Summary.N, m.Counts, len(m.Controls))
		}
		if got := e[1].Comparison; got.Verdict != c.want {
			t.Errorf("a control %v apart: %s (%s), want %s", c.apart, got.Verdict, got.Reason, c.want)
		}
		if page := printed(t, m, "text"); !strings.Contains(page, "A/A control") {
			t.Errorf("the report is silent about its control:\n%s", page)
		}
	}
	f := withControl(slowed(), 1)
	f.results = f.results[:len(f.results)-1]
	if m := build(t, Options{}, f); m.Counts.Missing != 1 || m.Tables[0].Rows[0].Entries[0].Summary.N != 6 {
		t.Errorf("a missing control: counts %+v", m.Counts)
	}
}

// TestProbeDrift: where the laboratory's own probe is slower on one side, the verdict is not the subject's.
func TestProbeDrift(t *testing.T) {
	for _, c := range []struct {
		name  string
		probe string
		disk  string // of xfs
		loop  float64
		want  stats.Verdict
	}{
		{"quiet", "cpu_loop_seconds", "file", 1, stats.Regressed},
		{"a slower processor", "cpu_loop_seconds", "file", 1.2, stats.Inconclusive},
		{"a slower disk", "sync_write_median_seconds", "file", 1.2, stats.Inconclusive},
		{"another disk", "sync_write_median_seconds", "block", 1.2, stats.Regressed},
	} {
		f := slowed()
		for i := range f.results {
			r := &f.results[i]
			v := 0.5 * (1 + float64(r.Round)/1000)
			if r.Factors["storage"] == "xfs" {
				v *= c.loop
				r.Disks[0].Kind = c.disk
			}
			r.Probes = []results.Probe{{Name: "noise", When: "before", Note: "disk data", Values: map[string]*float64{c.probe: &v}}}
		}
		got := verdictOf(t, f)
		if got.Verdict != c.want || (c.want == stats.Inconclusive) != strings.Contains(got.Reason, "the laboratory changed: its own "+c.probe) {
			t.Errorf("%s: %s (%s), want %s", c.name, got.Verdict, got.Reason, c.want)
		}
	}
}

// TestUnsteadyTrials: more than a third of a side's trials unsteady in the step, and the step's verdicts are open; those
// of another step stay.
func TestUnsteadyTrials(t *testing.T) {
	for unsteady, want := range map[int]stats.Verdict{0: stats.Regressed, 2: stats.Regressed, 3: stats.Inconclusive} {
		f := slowed()
		f.samples = map[string]string{}
		for i := range f.results {
			r := &f.results[i]
			r.Metrics = append(r.Metrics, results.Metric{Name: "load_seconds", Step: "prepare", Value: r.Metrics[0].Value})
			var text strings.Builder
			for second := range 60 {
				rate := 100.0
				if r.Factors["storage"] == "xfs" && r.Round <= unsteady {
					rate += float64(second)
				}
				fmt.Fprintf(&text, "%d,slap,workload,queries_per_second,%v\n", second, rate)
			}
			f.samples[r.TrialID+"-1"] = text.String()
		}
		m := build(t, Options{}, f)
		if got := m.Tables[0].Rows[0].Entries[1].Comparison; got.Verdict != want || want == stats.Inconclusive && !strings.Contains(got.Reason, "xfs: 3 of 6 trials were not steady") {
			t.Errorf("%d unsteady: %s (%s), want %s", unsteady, got.Verdict, got.Reason, want)
		}
		for _, table := range m.Tables {
			if table.Metric.Name == "load_seconds" && table.Rows[0].Entries[1].Comparison.Verdict != stats.Regressed {
				t.Errorf("%d unsteady: the load, another step, is %s", unsteady, table.Rows[0].Entries[1].Comparison.Verdict)
			}
		}
	}
}
