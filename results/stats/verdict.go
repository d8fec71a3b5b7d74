package stats

import (
	"fmt"
	"math"
	"strings"

	"platter/results"
)

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts. Worse and better are by the metric's own direction.
const (
	Regressed     Verdict = "regressed"      // the whole interval is worse than the tolerance
	Improved      Verdict = "improved"       // the whole interval is better than the tolerance
	Unchanged     Verdict = "unchanged"      // the whole interval lies inside the tolerance
	Suspect       Verdict = "suspect"        // worse by the estimate, surely not equal, perhaps still within the tolerance
	Inconclusive  Verdict = "inconclusive"   // these trials cannot tell
	NotJudged     Verdict = "not_judged"     // the metric explains and is never better or worse
	Missing       Verdict = "missing"        // a side has no valid trial
	NotComparable Verdict = "not_comparable" // the sides differ in more than the declared factor
)

// judge sets verdict, reason and the n that would decide. Low and High are set, or n was too small for them.
func (c *Comparison) judge(q Question, spread float64) {
	if q.Direction == results.Neutral {
		c.Verdict, c.Reason = NotJudged, "shown for explanation only"
		return
	}
	worst, best := 1-q.ToleranceRatio, 1+q.ToleranceRatio // bounds of the tolerance as ratios
	worse, better := below, above
	if q.Direction == results.LowerBetter {
		worst, best = best, worst
		worse, better = above, below
	}
	if c.Low == nil {
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("too few trials: at n = %s the smallest possible p is %s",
			sides(c.NBase, c.NOther), strings.TrimPrefix(results.FormatP(*c.SmallestP), "p="))
		c.NeededN = neededN(*c.Ratio, spread, worst, best)
		return
	}
	low, high := *c.Low, *c.High
	inside := func(r float64) bool { return !worse(r, worst) && !better(r, best) }
	switch {
	case worse(low, worst) && worse(high, worst):
		c.Verdict, c.Reason = Regressed, "the whole interval is worse than the tolerance"
	case better(low, best) && better(high, best):
		c.Verdict, c.Reason = Improved, "the whole interval is better than the tolerance"
	case inside(low) && inside(high):
		c.Verdict, c.Reason = Unchanged, "the whole interval lies inside the tolerance"
	case worse(*c.Ratio, worst) && (low > 1 || high < 1):
		c.Verdict, c.Reason = Suspect, "worse, but perhaps by no more than the tolerance"
		c.NeededN = neededN(*c.Ratio, spread, worst, best)
	default:
		c.Verdict, c.Reason = Inconclusive, "the interval "+c.describe()+" reaches across the tolerance"
		c.NeededN = neededN(*c.Ratio, spread, worst, best)
	}
}

func below(r, bound float64) bool { return r < bound }
func above(r, bound float64) bool { return r > bound }

// sides prints the two n: one number when they are equal.
func sides(n1, n2 int) string {
	if n1 == n2 {
		return fmt.Sprint(n1)
	}
	return fmt.Sprintf("%d and %d", n1, n2)
}

// Decided reports whether the trials settled the question.
func (v Verdict) Decided() bool { return v == Regressed || v == Improved || v == Unchanged }

// neededN is how many trials a side would put the whole interval on one side of both bounds of the tolerance.
func neededN(ratio, spread, worst, best float64) *int {
	return TrialsToDecide(ratio, spread, worst, best)
}

// TrialsToDecide estimates how many trials a side would keep the whole interval of a ratio clear of every bound, if the
// estimate and the spread (standard deviation of logarithms within a side) stay what they are: the half width
// t·s·√(2/n)/√0.955 must fit between the estimate and the nearest bound. It is nil when the spread is not known or more
// than 100 would be needed.
func TrialsToDecide(ratio, spread float64, bounds ...float64) *int {
	if math.IsNaN(spread) {
		return nil
	}
	room := math.Inf(1)
	for _, bound := range bounds {
		room = min(room, math.Abs(math.Log(ratio/bound)))
	}
	const most = 100
	for n := MinIntervalN; n <= most; n++ {
		half := student(1-Alpha/2, 2*n-2) * spread * math.Sqrt(2/float64(n)/efficiency)
		if half < room {
			return &n
		}
	}
	return nil
}
