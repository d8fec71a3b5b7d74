package agent

import (
	"errors"
	"slices"
	"testing"
)

// TestUntilSteady: a disk is written until its last rounds are alike, not longer, and not for ever.
func TestUntilSteady(t *testing.T) {
	for name, c := range map[string]struct {
		rates  []float64
		limit  int
		rounds int
		steady bool
	}{
		"one pass":            {[]float64{100}, 1, 1, false},
		"steady from the off": {[]float64{100, 101, 99, 100, 50}, steadyLimit, 4, true},
		"a full cache":        {[]float64{400, 390, 180, 120, 100, 101, 99, 104, 1}, steadyLimit, 8, true},
		"just within":         {[]float64{95, 105, 100, 100}, steadyLimit, 4, true},
		"just outside":        {[]float64{94, 105, 100, 100, 100, 100, 100}, steadyLimit, 5, true},
		"never":               {[]float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, steadyLimit, 12, false},
	} {
		next := 0
		got, err := untilSteady(c.limit, func() (float64, error) { next++; return c.rates[next-1], nil })
		if err != nil || !slices.Equal(got, c.rates[:c.rounds]) || steady(got) != c.steady {
			t.Errorf("%s: rounds %v, steady %v, %v", name, got, steady(got), err)
		}
	}
	broken := errors.New("broken")
	if got, err := untilSteady(steadyLimit, func() (float64, error) { return 0, broken }); err != broken || len(got) > 0 {
		t.Errorf("a round that fails: %v, %v", got, err)
	}
}
