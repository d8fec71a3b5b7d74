package report

import (
	"testing"

	"platter/results"
)

// noisy are ten trials whose noise probe is slower by a factor.
func noisy(id string, factor float64) *memory {
	f := tenTrials()
	f.id = id
	for i := range f.results {
		r := &f.results[i]
		r.RunID = id
		before, after, median, maximum := 0.45*factor, 0.5*factor, 0.002, 0.02*float64(i+1)*factor
		r.Probes = []results.Probe{
			{Name: "noise", When: "before", Note: "disk data", Values: map[string]*float64{"cpu_loop_seconds": &before, "sync_write_median_seconds": &median, "sync_write_maximum_seconds": &maximum}},
			{Name: "noise", When: "after", Values: map[string]*float64{"cpu_loop_seconds": &after}},
			{Name: "flush:data", When: "after", Values: map[string]*float64{"sync_write_median_seconds": &maximum}},
		}
	}
	return f
}

// TestNoiseOfTwoRuns: a host that was slower in one run is told by its probe, whatever the environment says; medians
// alone are compared, of all cells and of the probe before and after together.
func TestNoiseOfTwoRuns(t *testing.T) {
	const base, other = "20260131T021500Z-ext4-vs-xfs-7f3a9c", "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for factor, want := range map[float64]bool{1: false, 1.05: false, 1.5: true, 0.5: true} {
		m := build(t, Options{}, noisy(base, 1), noisy(other, factor))
		changed := map[string]bool{}
		for _, n := range m.NoiseOf(base, other) {
			changed[n.Metric.Name] = n.Changed()
			if n.Metric.Name == "cpu_loop_seconds" && (n.Sides[0].N != 60 || *n.Sides[0].Median != 0.475) {
				t.Errorf("%d values around %v of 30 trials probed twice", n.Sides[0].N, *n.Sides[0].Median)
			}
		}
		if len(changed) != 2 || changed["cpu_loop_seconds"] != want || changed["sync_write_median_seconds"] {
			t.Errorf("a host that takes %v of the time: %v", factor, changed)
		}
	}
	if got := build(t, Options{}, tenTrials()).NoiseOf("ext4", "xfs"); len(got) != 0 {
		t.Errorf("without probes: %v", got)
	}
}
