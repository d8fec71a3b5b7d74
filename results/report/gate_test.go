package report

import (
	"errors"
	"strings"
	"testing"

	"platter/results"
)

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(f *memory)
		want  Outcome
	}{
		{"the same", func(*memory) {}, GatePassed},
		{"20 % slower", slower(1.2), GateRegressed},
		{"20 % faster", slower(0.8), GatePassed},
		{"about 5 % slower", slower(1.05), GateInconclusive},
		{"another cache mode", func(f *memory) {
			for i := range f.results {
				f.results[i].Disks[0].CacheEffective = "unsafe"
			}
		}, GateNotComparable},
		{"slower in one cell, not comparable in another", func(f *memory) {
			slower(1.2)(f)
			for i := range f.results {
				if f.results[i].Factors["storage"] == "xfs" {
					f.results[i].Accel = "kvm"
				}
			}
		}, GateNotComparable},
		{"a failed trial", func(f *memory) {
			f.results[0].Status, f.results[0].Reason = results.StatusFailed, "server died"
		}, GateIncomplete},
		{"slower, and a failed trial", func(f *memory) {
			slower(1.2)(f)
			f.results[0].Status, f.results[0].Reason = results.StatusFailed, "server died"
		}, GateRegressed},
		{"a broken file", func(f *memory) { f.problems = []error{errors.New("x: broken")} }, GateIncomplete},
		{"a missing trial", func(f *memory) { f.results = f.results[1:] }, GateIncomplete},
		{"a metric that neither side has in one cell", func(f *memory) {}, GatePassed},
		{"nothing in common", func(f *memory) {
			for i := range f.results {
				f.results[i].Metrics = []results.Metric{{Name: "load_seconds", Value: f.results[i].WallSeconds}}
			}
		}, GateNotComparable},
	} {
		base, other := tenTrials(), tenTrials()
		other.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
		for i := range other.results {
			other.results[i].RunID = other.id
		}
		c.spoil(other)
		if strings.HasPrefix(c.name, "a metric that neither") {
			for _, f := range []*memory{base, other} {
				loadOf(f, "ext4")
			}
		}
		m := build(t, Options{}, base, other)
		if got, reason := m.Gate(); got != c.want || reason == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, got, reason, c.want)
		}
		if suspects := len(m.Suspects()); c.want == GateRegressed && suspects == 0 || c.want == GatePassed && suspects > 0 {
			t.Errorf("%s: %d suspects to confirm", c.name, suspects)
		}
	}
}

// loadOf gives one level a second main metric.
func loadOf(f *memory, level string) {
	for i := range f.results {
		if r := &f.results[i]; r.Factors["storage"] == level {
			r.Metrics = append(r.Metrics, results.Metric{Name: "load_seconds", Step: "prepare", Value: r.WallSeconds})
		}
	}
}

// slower multiplies the times of a run.
func slower(factor float64) func(*memory) {
	return func(f *memory) {
		for i := range f.results {
			*f.results[i].Metrics[0].Value *= factor
			*f.results[i].Metrics[1].Value /= factor
		}
	}
}

func TestDiffering(t *testing.T) {
	a, b := tenTrials(), tenTrials()
	b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for i := range b.results {
		b.results[i].RunID = b.id
		b.results[i].Host.QEMUVersion = "10.1.0"
	}
	d := build(t, Options{}, a, b).Differing()
	if len(d) != 1 || d[0].Name != "qemu" || len(d[0].Values) != 2 {
		t.Errorf("differences %+v, want qemu with two values", d)
	}
}
