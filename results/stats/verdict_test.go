package stats

import (
	"slices"
	"strings"
	"testing"

	"platter/results"
)

// around returns six values spread evenly by ±width about center.
func around(center, width float64) []float64 {
	out := make([]float64, 6)
	for i := range out {
		out[i] = center * (1 + width*(float64(i)/2.5-1))
	}
	return out
}

func TestVerdict(t *testing.T) {
	base := around(100, 0.01)
	for _, c := range []struct {
		name  string
		other []float64
		q     Question
		want  Verdict
	}{
		{"20 % fewer a second", around(80, 0.01), higher, Regressed},
		{"20 % more a second", around(120, 0.01), higher, Improved},
		{"20 % less time", around(80, 0.01), lower, Improved},
		{"20 % more time", around(120, 0.01), lower, Regressed},
		{"the same", around(100.1, 0.01), higher, Unchanged},
		{"1 % more time", around(101, 0.01), lower, Unchanged},
		{"6 % fewer, interval to 4 %", around(94, 0.02), higher, Suspect},
		{"6 % more, interval to 4 %", around(106, 0.02), higher, Inconclusive},
		{"6 % more time", around(106, 0.02), lower, Suspect},
		{"4 % fewer, interval to 6 %", around(96, 0.02), higher, Inconclusive},
		{"wide", around(100, 0.5), higher, Inconclusive},
		{"never judged", around(80, 0.01), Question{Direction: results.Neutral}, NotJudged},
		{"one trial", []float64{80}, higher, Inconclusive},
		{"no trial", nil, higher, Missing},
		{"a zero", []float64{0, 0, 0, 0, 0, 0}, higher, Inconclusive},
	} {
		got := Compare(base, c.other, c.q)
		if got.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s; ratio %s [%s, %s]", c.name, got.Verdict, got.Reason, c.want, show(got.Ratio), show(got.Low), show(got.High))
		}
		if got.Reason == "" {
			t.Errorf("%s: a verdict without a reason", c.name)
		}
		if got.Verdict.Decided() && got.NeededN != nil {
			t.Errorf("%s: decided, and yet %d trials are needed", c.name, *got.NeededN)
		}
	}
}

// TestTwoTrials is the smallest study: numbers are shown, and nothing is claimed.
func TestTwoTrials(t *testing.T) {
	c := Compare([]float64{10, 10.2}, []float64{8, 8.2}, lower)
	if c.Verdict != Inconclusive || c.Low != nil || c.SmallestChange != nil {
		t.Errorf("n = 2: %s, low %s, smallest change %s", c.Verdict, show(c.Low), show(c.SmallestChange))
	}
	near(t, "p", c.P, 1.0/3)
	if !strings.Contains(c.Reason, "at n = 2 the smallest possible p is .333") {
		t.Errorf("reason %q", c.Reason)
	}
	if c.NeededN == nil || *c.NeededN != MinIntervalN {
		t.Errorf("needed n: %v, want %d: a clear difference of 20 %% at 1 %% spread", c.NeededN, MinIntervalN)
	}
}

func TestAllEqual(t *testing.T) {
	c := Compare([]float64{5, 5, 5, 5, 5, 5}, []float64{5, 5, 5, 5, 5, 5}, higher)
	if c.Verdict != Unchanged || *c.P != 1 || len(c.Warnings) != 1 {
		t.Errorf("%s, p %s, warnings %v", c.Verdict, show(c.P), c.Warnings)
	}
}

// TestNeededNGrows: twice the spread needs about four times the trials.
func TestNeededNGrows(t *testing.T) {
	narrow, wide := neededN(0.9, 0.05, 0.95, 1.05), neededN(0.9, 0.10, 0.95, 1.05)
	if narrow == nil || wide == nil || *wide < 3*(*narrow) || *wide > 5*(*narrow) {
		t.Errorf("needed n %v and %v", narrow, wide)
	}
	if n := neededN(0.951, 0.10, 0.95, 1.05); n != nil {
		t.Errorf("an estimate on the bound: %d trials, want out of reach", *n)
	}
}

// TestFamily: 24 cells of which one differs clearly. At n = 6 the smallest p is .0022, and .0022·24 = .052 is above 5 %:
// the method's table says 23 comparisons survive. At n = 4 not even two do.
func TestFamily(t *testing.T) {
	for _, c := range []struct {
		cells int
		want  Verdict
	}{{23, Regressed}, {24, Suspect}} {
		var family []*Comparison
		for i := range c.cells {
			other := around(100, 0.01)
			if i == 0 {
				other = around(80, 0.01)
			}
			comparison := Compare(around(100, 0.01), other, higher)
			family = append(family, &comparison)
		}
		neutral := Compare(around(100, 0.01), around(80, 0.01), Question{Direction: results.Neutral})
		missing := Compare(nil, nil, higher)
		Family(append(slices.Clone(family), &neutral, &missing))
		if family[0].Verdict != c.want {
			t.Errorf("%d cells: %s (%s), want %s", c.cells, family[0].Verdict, family[0].Reason, c.want)
		}
		if family[1].Verdict != Unchanged || *family[1].AdjustedP != 1 {
			t.Errorf("an unchanged cell became %s, adjusted p %s", family[1].Verdict, show(family[1].AdjustedP))
		}
		if neutral.AdjustedP != nil || missing.AdjustedP != nil {
			t.Error("what is not judged is no member of the family")
		}
	}
}
