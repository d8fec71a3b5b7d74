package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"platter/results"
)

// Holm returns the p-values adjusted for being one family (Holm 1979): ordered, the i-th smallest of m is multiplied by
// m-i+1, never falls below the one before it, and is at most 1. The order of the argument is kept.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	running := 0.0
	for rank, i := range order {
		running = max(running, min(1, ps[i]*float64(len(ps)-rank)))
		adjusted[i] = running
	}
	return adjusted
}

// Family adjusts the p-values of comparisons that answer one question together, and takes back the verdicts regressed
// and improved where the adjusted p is above 5 %: those become suspect and inconclusive.
func Family(comparisons []*Comparison) {
	var members []*Comparison
	var ps []float64
	for _, c := range comparisons {
		if c.P != nil && c.Verdict != NotJudged && c.Verdict != NotComparable {
			members, ps = append(members, c), append(ps, *c.P)
		}
	}
	for i, p := range Holm(ps) {
		c := members[i]
		c.AdjustedP = &p
		if p <= Alpha || c.Verdict != Regressed && c.Verdict != Improved {
			continue
		}
		reason := fmt.Sprintf("one of %d comparisons, and after Holm's adjustment %s", len(ps), results.FormatP(p))
		if c.Verdict == Regressed {
			c.Verdict, c.Reason = Suspect, reason
		} else {
			c.Verdict, c.Reason = Inconclusive, reason
		}
	}
}

// Mean is a geometric mean of ratios to one baseline, and of how many cells it could be made.
type Mean struct {
	Ratio *float64 `json:"ratio"`
	K     int      `json:"k"` // ratios there were
	M     int      `json:"m"` // cells there are
}

// GeometricMean joins the ratios that are there. Holes are counted and never filled.
func GeometricMean(ratios []*float64) Mean {
	mean := Mean{M: len(ratios)}
	sum := 0.0
	for _, r := range ratios {
		if r != nil && *r > 0 {
			sum += math.Log(*r)
			mean.K++
		}
	}
	if mean.K > 0 {
		mean.Ratio = finite(math.Exp(sum / float64(mean.K)))
	}
	return mean
}
