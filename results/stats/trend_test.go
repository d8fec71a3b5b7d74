package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTrend checks against values worked out by hand from the formulas of Mann, Kendall, Theil and Sen.
func TestTrend(t *testing.T) {
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	got, ok := TrendOf(up)
	// S = 28, var(S) = 8*7*21/18 = 65.333, z = 27/8.0829 = 3.3404, p = 0.000837.
	if !ok || math.Abs(got.P-0.000837) > 1e-6 || math.Abs(got.SlopeRatio-1/4.5) > 1e-12 {
		t.Errorf("%+v", got)
	}
	// Ties: S = 16, var(S) = (8*7*21 - 2*4*3*13)/18 = 48, z = 15/6.9282, p = 0.0304.
	ties, _ := TrendOf([]float64{1, 1, 1, 1, 2, 2, 2, 2})
	if math.Abs(ties.P-0.0304) > 5e-5 {
		t.Errorf("%+v", ties)
	}
	flat, _ := TrendOf([]float64{3, 3, 3, 3, 3, 3, 3, 3})
	if flat.P != 1 || flat.SlopeRatio != 0 {
		t.Errorf("flat: %+v", flat)
	}
	for _, bad := range [][]float64{up[:7], {1, 2, 3, 4, 5, 6, 7, 0}, {1, 2, 3, 4, 5, 6, 7, math.NaN()}, {1, 2, 3, 4, 5, 6, 7, math.Inf(1)}} {
		if _, ok := TrendOf(bad); ok {
			t.Errorf("%v was tested", bad)
		}
	}
}

// TestTrendRates: of series without a trend about one in twenty is called one.
func TestTrendRates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	called := 0
	const series = 4000
	for range series {
		values := make([]float64, 14)
		for i := range values {
			values[i] = math.Exp(random.NormFloat64() * 0.03)
		}
		if trend, _ := TrendOf(values); trend.P < 0.05 {
			called++
		}
	}
	if rate := float64(called) / series; rate > 0.06 || rate < 0.03 {
		t.Errorf("%.3f of series without a trend are called one", rate)
	}
}
