package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"platter/results"
)

var (
	higher = Question{Direction: results.HigherBetter, ToleranceRatio: 0.05}
	lower  = Question{Direction: results.LowerBetter, ToleranceRatio: 0.05}
)

// near fails unless got is there and within 1e-4 (relative) of want.
func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-4*math.Max(1e-9, math.Abs(want)) {
		t.Errorf("%s = %s, want %v", what, show(got), want)
	}
}

func show(v *float64) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprint(*v)
}

// TestSummarize: by hand. n = 6: the extremes enclose the median with 1 - 2/2^6 = 96.875 %. The mean of 1…5 and 9 is 4;
// squared deviations 9+4+1+0+1+25 = 40, so s = √(40/5) = 2.8284 and CV = 0.70711.
func TestSummarize(t *testing.T) {
	values := []float64{5, 1, 9, 2, 4, 3}
	s := Summarize(values)
	near(t, "median", s.Median, 3.5)
	near(t, "low", s.Low, 1)
	near(t, "high", s.High, 9)
	near(t, "level", s.Level, 0.96875)
	near(t, "minimum", s.Minimum, 1)
	near(t, "maximum", s.Maximum, 9)
	near(t, "mean", s.Mean, 4)
	near(t, "cv", s.CV, 0.70711)
	if !slices.Equal(s.Values, []float64{5, 1, 9, 2, 4, 3}) || !slices.Equal(values, s.Values) {
		t.Errorf("the order of the trials was lost: %v, argument %v", s.Values, values)
	}
	if len(s.Warnings) != 0 {
		t.Errorf("warnings %v", s.Warnings)
	}
}

// TestSummarizeTable compares orders with the binomial: n = 10 has 1-2·(1+10)/1024 = 97.85 % between the 2nd and the 9th.
func TestSummarizeTable(t *testing.T) {
	s := Summarize([]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	near(t, "low", s.Low, 2)
	near(t, "high", s.High, 9)
	near(t, "level", s.Level, 1-22.0/1024)
}

func TestSummarizeSmall(t *testing.T) {
	for n := range 6 {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i + 1)
		}
		s := Summarize(values)
		if s.Low != nil || s.High != nil || s.Level != nil {
			t.Errorf("n = %d: an interval [%s, %s]", n, show(s.Low), show(s.High))
		}
		if len(s.Warnings) != 1 {
			t.Errorf("n = %d: warnings %v, want one that says why there is no interval", n, s.Warnings)
		}
		if (s.Median == nil) != (n == 0) || (s.CV == nil) != (n < 2) {
			t.Errorf("n = %d: median %s, CV %s", n, show(s.Median), show(s.CV))
		}
	}
}

// TestHodgesLehmann uses the permeability data of Hollander and Wolfe, Nonparametric Statistical Methods, example 4.1,
// printed there and by R's wilcox.test(x, y, conf.int = TRUE): W = 35, p = 0.2544, estimate x - y 0.305, interval
// [-0.15, 0.76]. Ours is on logarithms, so the data go in as exponentials, and our shift is y - x.
func TestHodgesLehmann(t *testing.T) {
	x := exps(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
	y := exps(1.15, 0.88, 0.90, 0.74, 1.21)
	c := Compare(x, y, higher)
	near(t, "ratio", c.Ratio, math.Exp(-0.305))
	near(t, "low", c.Low, math.Exp(-0.76))
	near(t, "high", c.High, math.Exp(0.15))
	near(t, "p", c.P, 0.254412)
}

func exps(values ...float64) []float64 {
	for i, v := range values {
		values[i] = math.Exp(v)
	}
	return values
}

// TestIntervalOrder: one more than the critical values of Mann–Whitney's U, two-sided 5 %, as every textbook prints them.
func TestIntervalOrder(t *testing.T) {
	for _, c := range []struct{ n1, n2, critical int }{
		{4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {7, 7, 8}, {8, 8, 13}, {9, 9, 17}, {10, 10, 23}, {12, 12, 37}, {15, 15, 64}, {20, 20, 127},
		{3, 8, 2}, {5, 8, 6}, {7, 10, 14}, {10, 15, 39}, {8, 3, 2},
	} {
		if got := intervalOrder(c.n1, c.n2); got != c.critical+1 {
			t.Errorf("n = %d, %d: order %d, the table says %d", c.n1, c.n2, got, c.critical+1)
		}
	}
	for _, n := range []int{1, 2, 3} {
		if got := intervalOrder(n, n); got != 0 {
			t.Errorf("n = %d: order %d, there is no 95 %% interval", n, got)
		}
	}
	if exact, approximate := intervalOrder(50, 50), intervalOrder(51, 51); approximate < exact || approximate > exact+60 {
		t.Errorf("the approximation does not join: n = 50 has %d, n = 51 has %d", exact, approximate)
	}
}

// TestSmallestP: the row of the method's table, 2/C(2n,n).
func TestSmallestP(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 1.0 / 3, 4: 0.0285714, 5: 0.00793651, 6: 0.0021645, 8: 0.000155400, 10: 0.0000108250} {
		got := smallestP(n, n)
		near(t, fmt.Sprintf("smallest p at n = %d", n), &got, want)
	}
}

// TestSmallestChange holds the approximation to the simulated row of the method, within a tenth of each figure.
func TestSmallestChange(t *testing.T) {
	for n, row := range map[int][3]float64{
		4: {2.8, 8.3, 25}, 5: {2.3, 6.7, 21}, 6: {1.9, 5.7, 17}, 8: {1.6, 4.5, 15}, 10: {1.4, 4.1, 13}, 20: {0.9, 2.8, 8.8},
	} {
		for i, cv := range []float64{0.01, 0.03, 0.10} {
			got := SmallestChange(cv, n)
			if got == nil || math.Abs(*got*100-row[i]) > row[i]/10 {
				t.Errorf("n = %d, CV %v: %s, the simulation says %v %%", n, cv, show(got), row[i])
			}
		}
	}
	if got := SmallestChange(0.03, 3); got != nil {
		t.Errorf("n = 3 cannot reach 5 %%, got %v", *got)
	}
}

// TestHolm: R's p.adjust(c(.01,.04,.03,.005), "holm") prints 0.03 0.06 0.06 0.02.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, fmt.Sprintf("adjusted p %d", i), &got[i], want)
	}
	if got := Holm([]float64{0.6, 0.7}); got[0] != 1 || got[1] != 1 {
		t.Errorf("Holm(.6, .7) = %v, want 1, 1", got)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm() = %v", got)
	}
}

// TestGeometricMean: √(2 · 0.5) = 1, and a hole is a hole.
func TestGeometricMean(t *testing.T) {
	two, half, zero := 2.0, 0.5, 0.0
	m := GeometricMean([]*float64{&two, nil, &half, &zero})
	near(t, "ratio", m.Ratio, 1)
	if m.K != 2 || m.M != 4 {
		t.Errorf("%d of %d, want 2 of 4", m.K, m.M)
	}
	if m := GeometricMean([]*float64{nil}); m.Ratio != nil || m.K != 0 || m.M != 1 {
		t.Errorf("of nothing: %+v", m)
	}
}
