package stats

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Confidence is the level of every interval.
const Confidence = 0.95

// MinIntervalN is the smallest number of trials with a finite 95 % interval of the median: below 6 the two extreme values
// enclose the median with less than 95 % (at n = 5: 1 - 2/2^5 = 93.75 %).
const MinIntervalN = 6

// Warning is something a reader must know about a number. Code is stable, Text is for people.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Summary describes the trials of one cell. Nil means that n does not allow the number.
type Summary struct {
	N        int       `json:"n"`
	Values   []float64 `json:"values"` // one a trial, in the order given
	Median   *float64  `json:"median"`
	Low      *float64  `json:"low"` // of the interval of the median
	High     *float64  `json:"high"`
	Level    *float64  `json:"level"` // the interval's true confidence, at least Confidence
	Minimum  *float64  `json:"minimum"`
	Maximum  *float64  `json:"maximum"`
	Mean     *float64  `json:"mean"`
	CV       *float64  `json:"cv_ratio"` // sample standard deviation / mean
	Warnings []Warning `json:"warnings,omitempty"`
}

// Summarize returns median, order-statistic interval, extremes and coefficient of variation of the values, which must be
// finite. The interval is that of golang.org/x/perf/benchmath without any assumption about the distribution.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values), Values: slices.Clone(values)}
	if s.N == 0 {
		s.Warnings = append(s.Warnings, Warning{"no_values", "no valid trial"})
		return s
	}
	sorted := slices.Clone(values)
	sample := benchmath.NewSample(sorted, &benchmath.DefaultThresholds) // sorts in place
	center := benchmath.AssumeNothing.Summary(sample, Confidence)
	s.Median = finite(center.Center)
	s.Minimum, s.Maximum = finite(sorted[0]), finite(sorted[s.N-1])
	if math.IsInf(center.Lo, 0) || math.IsInf(center.Hi, 0) {
		s.Warnings = append(s.Warnings, Warning{"no_interval",
			fmt.Sprintf("a 95 %% interval of the median needs n ≥ %d, there are %d", MinIntervalN, s.N)})
	} else {
		s.Low, s.High, s.Level = finite(center.Lo), finite(center.Hi), finite(center.Confidence)
	}
	mean, deviation := moments(values)
	s.Mean = finite(mean)
	if s.N > 1 && mean != 0 {
		s.CV = finite(deviation / math.Abs(mean))
	}
	return s
}

// moments returns mean and sample standard deviation (0 for a single value).
func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return mean, 0
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sum / float64(len(values)-1))
}

// finite returns nil for what is not a number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
