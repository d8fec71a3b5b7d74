package stats

import (
	"math"
	"slices"
)

// Trend is what a series of values in the order of time says of its direction. It advises and never judges: neighbours
// in time share more than a test assumes.
type Trend struct {
	N          int     `json:"n"`
	SlopeRatio float64 `json:"slope_ratio_per_step"` // median change from one value to the next, as a part of the median value
	P          float64 `json:"p"`                    // two-sided, Mann and Kendall's
}

// trendMinimum is the number of values from which the normal approximation of Mann and Kendall's statistic is used; under
// it no p below 0.05 would be trustworthy.
const trendMinimum = 8

// TrendOf tests values for a monotonic trend (Mann 1945; Kendall 1975, variance corrected for ties) and gives the slope
// of Theil and Sen. It reports false for fewer than 8 values, or values that are not all positive.
func TrendOf(values []float64) (Trend, bool) {
	n := len(values)
	if n < trendMinimum || slices.ContainsFunc(values, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }) {
		return Trend{}, false
	}
	s := 0
	var slopes []float64
	for i := range values {
		for j := i + 1; j < n; j++ {
			switch d := values[j] - values[i]; {
			case d > 0:
				s++
			case d < 0:
				s--
			}
			slopes = append(slopes, (values[j]-values[i])/float64(j-i))
		}
	}
	ties := map[float64]int{}
	for _, v := range values {
		ties[v]++
	}
	variance := float64(n*(n-1)*(2*n+5)) / 18
	for _, t := range ties {
		variance -= float64(t*(t-1)*(2*t+5)) / 18
	}
	trend := Trend{N: n, SlopeRatio: middle(slopes) / middle(slices.Clone(values)), P: 1}
	if s != 0 && variance > 0 {
		z := (math.Abs(float64(s)) - 1) / math.Sqrt(variance) // corrected for continuity
		trend.P = math.Erfc(z / math.Sqrt2)
	}
	return trend, true
}

// middle is the median; it sorts its argument.
func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
