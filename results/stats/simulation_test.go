package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

// The rates of the method, reproduced with a simulated runner: log-normal noise of a given CV, a fixed seed, and the
// functions the reports use. A rate must lie within 3 points of the one the method states.
const points = 0.03

// noisy returns n values about center.
func noisy(random *rand.Rand, n int, center, cv float64) []float64 {
	sigma := math.Sqrt(math.Log1p(cv * cv))
	values := make([]float64, n)
	for i := range values {
		values[i] = center * math.Exp(sigma*random.NormFloat64())
	}
	return values
}

// rate repeats an experiment and returns how often it says yes.
func rate(repeats int, experiment func(random *rand.Rand) bool) float64 {
	random := rand.New(rand.NewPCG(1, 2))
	yes := 0
	for range repeats {
		if experiment(random) {
			yes++
		}
	}
	return float64(yes) / float64(repeats)
}

func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low-points || got > high+points {
		t.Errorf("%s: %.1f %%, the method says %.0f to %.0f %%", what, got*100, low*100, high*100)
	}
}

func differs(a, b []float64) bool { return *Compare(a, b, higher).P <= Alpha }

// looksDifferent is differs without the interval, which for hundreds of values takes long and is not asked for.
func looksDifferent(a, b []float64) bool {
	test, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
	return err == nil && test.P <= Alpha
}

// TestDriftNeedsInterleaving: the lab slows down by 6 % over the run, the subjects are equal, n = 10, CV 3 %. All of A
// before all of B finds a difference in 53 % of runs; rounds find one in 5 % at most.
func TestDriftNeedsInterleaving(t *testing.T) {
	const n, drift, cv = 10, 0.06, 0.03
	run := func(random *rand.Rand, placeOfA, placeOfB func(i int) int) bool {
		slow := func(values []float64, place func(int) int) []float64 {
			for i := range values {
				values[i] *= 1 - drift*float64(place(i))/(2*n-1)
			}
			return values
		}
		return differs(slow(noisy(random, n, 100, cv), placeOfA), slow(noisy(random, n, 100, cv), placeOfB))
	}
	blocks := rate(2000, func(r *rand.Rand) bool {
		return run(r, func(i int) int { return i }, func(i int) int { return n + i })
	})
	within(t, "all A, then all B", blocks, 0.53, 0.53)
	rounds := rate(2000, func(r *rand.Rand) bool {
		var first [n]int // a seeded order within each round
		for i := range first {
			first[i] = r.IntN(2)
		}
		return run(r, func(i int) int { return 2*i + first[i] }, func(i int) int { return 2*i + 1 - first[i] })
	})
	within(t, "interleaved rounds", rounds, 0, 0.05)
}

// TestSecondsAreNotTrials: one trial a side, 300 seconds each, seconds three times as noisy as trials. Taken as 300
// independent values a side, equal subjects look different in 66 to 77 % of cases.
func TestSecondsAreNotTrials(t *testing.T) {
	const seconds, trialCV = 300, 0.03
	got := rate(1000, func(r *rand.Rand) bool {
		a := noisy(r, seconds, noisy(r, 1, 100, trialCV)[0], 3*trialCV)
		b := noisy(r, seconds, noisy(r, 1, 100, trialCV)[0], 3*trialCV)
		return looksDifferent(a, b)
	})
	within(t, "seconds taken for trials", got, 0.66, 0.77)
}

// TestFalseAlarms: 24 unchanged cells, CV 3 %. "Median 5 % worse" of 3 trials rings in 57 % of nights. A suspect that
// must be confirmed by 6 fresh trials a side rings in at most 1.3 %.
func TestFalseAlarms(t *testing.T) {
	const cells, cv = 24, 0.03
	naive := rate(2000, func(r *rand.Rand) bool {
		alarm := false
		for range cells {
			a, b := Summarize(noisy(r, 3, 100, cv)), Summarize(noisy(r, 3, 100, cv))
			alarm = alarm || *b.Median / *a.Median < 0.95
		}
		return alarm
	})
	within(t, "median 5 % worse at n = 3", naive, 0.57, 0.57)

	confirmed := rate(1000, func(r *rand.Rand) bool {
		var family []*Comparison
		for range cells {
			first := Compare(noisy(r, 6, 100, cv), noisy(r, 6, 100, cv), higher)
			if first.Verdict != Suspect && first.Verdict != Regressed {
				continue
			}
			fresh := Compare(noisy(r, 6, 100, cv), noisy(r, 6, 100, cv), higher)
			family = append(family, &fresh)
		}
		Family(family)
		return slices.ContainsFunc(family, func(c *Comparison) bool { return c.Verdict == Regressed })
	})
	if confirmed > 0.013 {
		t.Errorf("confirmed at n = 6: %.1f %% of nights, the method says at most 1.3 %%", confirmed*100)
	}
}

// TestPower: at n = 6 and CV 3 % a loss of SmallestChange is seen in 80 % of cases, and at n = 10 and 10 % too.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		n  int
		cv float64
	}{{4, 0.03}, {6, 0.03}, {10, 0.10}} {
		change := *SmallestChange(c.cv, c.n)
		got := rate(2000, func(r *rand.Rand) bool {
			return differs(noisy(r, c.n, 100, c.cv), noisy(r, c.n, 100*(1-change), c.cv))
		})
		within(t, fmt.Sprintf("power at n = %d, CV %v", c.n, c.cv), got, 0.80, 0.80)
	}
}

// TestSlowdownIsFound: a doctored loss of 20 % at n = 6 and CV 3 % is found, and an equal pair is not called worse.
func TestSlowdownIsFound(t *testing.T) {
	found := rate(500, func(r *rand.Rand) bool {
		return Compare(noisy(r, 6, 100, 0.03), noisy(r, 6, 80, 0.03), higher).Verdict == Regressed
	})
	if found < 0.97 {
		t.Errorf("found in %.1f %% of runs", found*100)
	}
	wrong := rate(500, func(r *rand.Rand) bool {
		return Compare(noisy(r, 6, 100, 0.03), noisy(r, 6, 100, 0.03), higher).Verdict == Regressed
	})
	if wrong > 0.005 {
		t.Errorf("an equal pair is called worse in %.1f %% of runs", wrong*100)
	}
}
