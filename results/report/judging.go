package report

import (
	"fmt"
	"math"

	"platter/results"
	"platter/results/stats"
)

// sign is +1 where larger values are better. A neutral metric of a claim is ordered by what costs less.
func sign(info results.MetricInfo) float64 {
	if info.Direction == results.HigherBetter || info.Direction == results.Neutral && info.Unit == results.PerSecond {
		return 1
	}
	return -1
}

// judging collects why a claim stays open while its sides are judged.
type judging struct {
	out  *ClaimResult
	sign float64
	open bool
	// spreadless: single trials, which do not tell how much trials vary.
	spreadless bool
}

// better judges "first is better than second" by the interval of their ratio, whatever its size.
func (j *judging) better(c stats.Comparison) Judgement {
	switch {
	case c.Low != nil && j.sign*math.Log(*c.Low) > 0 && j.sign*math.Log(*c.High) > 0:
		return Reproduced
	case c.Low != nil && j.sign*math.Log(*c.Low) < 0 && j.sign*math.Log(*c.High) < 0:
		return Reversed
	}
	j.needs(c, 1)
	return CannotTell
}

// order judges each step of an order: one reversed step reverses it, one open step leaves it open.
func (j *judging) order(levels []string, pair func(a, b string) stats.Comparison) Judgement {
	all := Reproduced
	for i := range levels[1:] {
		switch step := j.better(pair(levels[i], levels[i+1])); {
		case step == Reversed:
			all = Reversed
		case step == CannotTell && all == Reproduced:
			all = CannotTell
		}
	}
	return all
}

// equal judges "no two differ by more than within".
func (j *judging) equal(levels []string, pair func(a, b string) stats.Comparison, within float64) Judgement {
	all := Reproduced
	low, high := 1/(1+within), 1+within
	for i := range levels {
		for k := i + 1; k < len(levels); k++ {
			switch c := pair(levels[i], levels[k]); {
			case c.Low == nil:
				j.needs(c, low, high)
				all = worseOf(all, CannotTell)
			case *c.Low >= low && *c.High <= high: // inside
			case *c.Low > high || *c.High < low:
				all = NotReproduced
			default:
				j.needs(c, low, high)
				all = worseOf(all, CannotTell)
			}
		}
	}
	return all
}

func worseOf(have, next Judgement) Judgement {
	if have == NotReproduced {
		return have
	}
	return next
}

// magnitude judges a published ratio: ours is the same when its whole interval lies within a quarter of the published
// effect (on the scale of logarithms) or 5 %, whichever is more.
func (j *judging) magnitude(c stats.Comparison, published float64) Judgement {
	room := math.Max(math.Log(1.05), math.Abs(math.Log(published))/4)
	low, high := published*math.Exp(-room), published*math.Exp(room)
	switch {
	case c.Low != nil && *c.Low >= low && *c.High <= high:
		return Reproduced
	case c.Low != nil && (*c.Low > high || *c.High < low):
		return NotReproduced
	}
	j.needs(c, low, high)
	return CannotTell
}

// needs records how many trials would decide.
func (j *judging) needs(c stats.Comparison, bounds ...float64) {
	j.open = true
	if c.Ratio == nil || c.Spread == nil {
		j.spreadless = true
		return
	}
	n := stats.TrialsToDecide(*c.Ratio, *c.Spread, bounds...)
	if n != nil && (j.out.NeededN == nil || *n > *j.out.NeededN) {
		j.out.NeededN = n
	}
}

func (j *judging) reason(nFirst, nLast int) string {
	n := fmt.Sprintf("n = %d", nFirst)
	if nFirst != nLast {
		n += fmt.Sprintf(" and %d", nLast)
	}
	switch {
	case !j.open:
		return n
	case j.out.NeededN != nil:
		return fmt.Sprintf("%s; about %d trials a side would decide", n, *j.out.NeededN)
	case j.spreadless:
		return fmt.Sprintf("%s; single trials do not tell how much they vary: at least %d a side are needed", n, stats.MinIntervalN)
	default:
		return n + "; more than 100 trials a side would be needed"
	}
}
