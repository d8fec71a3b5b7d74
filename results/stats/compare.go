package stats

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"

	"platter/results"
)

// Alpha is the level of every test.
const Alpha = 1 - Confidence

// exactLimit is the largest sample whose interval comes from the exact distribution of U; beyond it the normal
// approximation differs by less than a step between two order statistics, and the exact one takes seconds.
const exactLimit = 50

// Question is what a comparison is judged by.
type Question struct {
	Direction      results.Direction // which way the metric gets better
	ToleranceRatio float64           // changes inside ±this are of no interest
}

// Comparison is other set against base. Ratio is other over base, the Hodges–Lehmann estimate on logarithms.
type Comparison struct {
	NBase          int       `json:"n_base"`
	NOther         int       `json:"n_other"`
	Ratio          *float64  `json:"ratio"`
	Low            *float64  `json:"low"`
	High           *float64  `json:"high"`
	P              *float64  `json:"p"`          // Mann–Whitney, two-sided, exact up to n = 50 a side
	AdjustedP      *float64  `json:"adjusted_p"` // after Holm within the family; set by Family
	SmallestP      *float64  `json:"smallest_p"` // the least p these two n can give
	Spread         *float64  `json:"spread"`     // standard deviation of logarithms within the sides; close to the CV
	ToleranceRatio float64   `json:"tolerance_ratio"`
	Verdict        Verdict   `json:"verdict"`
	Reason         string    `json:"reason"`                // the verdict in words
	NeededN        *int      `json:"needed_n"`              // trials a side that would decide; nil when decided or out of reach
	SmallestChange *float64  `json:"smallest_change_ratio"` // loss seen in 80 % of cases at these n and this spread
	Warnings       []Warning `json:"warnings,omitempty"`
}

// Compare compares two cells by their trials' values. Values must be finite; where one is not positive there is no ratio,
// and the comparison says so. Without a single value on one side the verdict is Missing.
func Compare(base, other []float64, q Question) Comparison {
	c := Comparison{NBase: len(base), NOther: len(other), ToleranceRatio: q.ToleranceRatio}
	if c.NBase == 0 || c.NOther == 0 {
		c.Verdict, c.Reason = Missing, "no valid trial on "+missingSide(c)
		return c
	}
	c.SmallestP = finite(smallestP(c.NBase, c.NOther))
	if test, err := stats.MannWhitneyUTest(base, other, stats.LocationDiffers); err == nil {
		c.P = finite(min(test.P, 1))
	} else { // the one error left is that all values are equal
		c.P = finite(1)
		c.Warnings = append(c.Warnings, Warning{"all_equal", "all values are equal"})
	}
	logBase, ok1 := logs(base)
	logOther, ok2 := logs(other)
	if !ok1 || !ok2 {
		c.Verdict, c.Reason = Inconclusive, "no ratio: a value is zero or negative"
		return c
	}
	shifts := differences(logBase, logOther)
	c.Ratio = finite(math.Exp(median(shifts)))
	if k := intervalOrder(c.NBase, c.NOther); k > 0 {
		c.Low, c.High = finite(math.Exp(shifts[k-1])), finite(math.Exp(shifts[len(shifts)-k]))
	}
	spread := pooledDeviation(logBase, logOther)
	c.Spread = finite(spread)
	c.SmallestChange = smallestChange(spread, c.NBase, c.NOther)
	c.judge(q, spread)
	return c
}

func missingSide(c Comparison) string {
	switch {
	case c.NBase == 0 && c.NOther == 0:
		return "either side"
	case c.NBase == 0:
		return "the baseline's side"
	default:
		return "this side"
	}
}

// logs returns the logarithms, and false when a value has none.
func logs(values []float64) ([]float64, bool) {
	out := make([]float64, len(values))
	for i, v := range values {
		if v <= 0 {
			return nil, false
		}
		out[i] = math.Log(v)
	}
	return out, true
}

// differences returns every other - base, sorted: the Walsh-type table of Hodges and Lehmann (1963) for two samples.
func differences(base, other []float64) []float64 {
	out := make([]float64, 0, len(base)*len(other))
	for _, o := range other {
		for _, b := range base {
			out = append(out, o-b)
		}
	}
	slices.Sort(out)
	return out
}

func median(sorted []float64) float64 {
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// intervalOrder returns which ordered difference, counted from each end, bounds the 95 % interval (Moses; Hollander and
// Wolfe, Nonparametric Statistical Methods, section 4.3): the largest k with 2·P(U ≤ k-1) ≤ 5 %. It is 0 when even the
// extremes enclose less, that is when n is too small.
func intervalOrder(n1, n2 int) int {
	key := [2]int{n1, n2}
	if order, ok := orders.Load(key); ok {
		return order.(int)
	}
	order := findOrder(n1, n2)
	orders.Store(key, order)
	return order
}

// orders caches intervalOrder: the exact distribution is slow to sum, and a report asks for few pairs of n.
var orders sync.Map

func findOrder(n1, n2 int) int {
	if n1 > exactLimit || n2 > exactLimit {
		m, n := float64(n1), float64(n2)
		z := stats.StdNormal.InvCDF(1 - Alpha/2)
		return max(0, int(math.Floor(m*n/2-z*math.Sqrt(m*n*(m+n+1)/12))))
	}
	u := stats.UDist{N1: n1, N2: n2}
	low, high := 0, n1*n2/2 // the largest k lies here: k = 0 always holds
	for low < high {
		k := (low + high + 1) / 2
		if 2*u.CDF(float64(k-1)) <= Alpha {
			low = k
		} else {
			high = k - 1
		}
	}
	return low
}

// smallestP is the two-sided p of complete separation: 2 / C(n1+n2, n1).
func smallestP(n1, n2 int) float64 { return min(1, 2/mathx.Choose(n1+n2, n1)) }

// pooledDeviation is the standard deviation of logarithms within the two sides, which is close to the CV when that is
// small; NaN when neither side has two values.
func pooledDeviation(base, other []float64) float64 {
	freedom := len(base) + len(other) - 2
	if freedom < 1 {
		return math.NaN()
	}
	_, d1 := moments(base)
	_, d2 := moments(other)
	return math.Sqrt((d1*d1*float64(len(base)-1) + d2*d2*float64(len(other)-1)) / float64(freedom))
}

// describe prints the interval for a reason.
func (c Comparison) describe() string {
	return fmt.Sprintf("%s [%s, %s]", results.FormatChange(*c.Ratio), results.FormatChange(*c.Low), results.FormatChange(*c.High))
}
