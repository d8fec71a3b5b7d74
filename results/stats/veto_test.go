package stats

import (
	"math/rand/v2"
	"strings"
	"testing"

	"platter/results"
)

// TestVeto: what was decided or suspect becomes inconclusive, with the reason; the rest stays.
func TestVeto(t *testing.T) {
	for _, v := range []Verdict{Regressed, Improved, Unchanged, Suspect} {
		n := 6
		c := Comparison{Verdict: v, Reason: "x", NeededN: &n}
		c.Veto("the lab changed")
		if c.Verdict != Inconclusive || c.Reason != "the lab changed" || c.NeededN != nil {
			t.Errorf("%s became %s (%s), needed n %v", v, c.Verdict, c.Reason, c.NeededN)
		}
	}
	for _, v := range []Verdict{Inconclusive, Missing, NotComparable, NotJudged} {
		c := Comparison{Verdict: v, Reason: "x"}
		if c.Veto("the lab changed"); c.Verdict != v || c.Reason != "x" {
			t.Errorf("%s became %s (%s)", v, c.Verdict, c.Reason)
		}
	}
}

func TestControlVeto(t *testing.T) {
	for _, c := range []struct {
		apart float64
		veto  bool
	}{{1.02, false}, {0.98, false}, {1.03, true}, {0.97, true}} {
		control := Compare(around(100, 0.001), around(100*c.apart, 0.001), higher)
		if got := ControlVeto(control, 0.05); (got != "") != c.veto {
			t.Errorf("%v apart at a tolerance of 5 %%: %q", c.apart, got)
		}
	}
	if got := ControlVeto(Compare(nil, nil, higher), 0.05); got != "" {
		t.Errorf("a control without trials: %q", got)
	}
}

// TestDriftVeto: a probe that is surely 10 % off forbids a verdict at a tolerance of 5 %; one that may be equal, one
// within the tolerance, and two trials a side do not.
func TestDriftVeto(t *testing.T) {
	neutral := Question{Direction: results.Neutral}
	for _, c := range []struct {
		name        string
		base, other []float64
		veto        bool
	}{
		{"10 % slower", around(1, 0.01), around(1.10, 0.01), true},
		{"10 % faster", around(1, 0.01), around(0.90, 0.01), true},
		{"3 % slower", around(1, 0.01), around(1.03, 0.01), false},
		{"10 % slower, perhaps", around(1, 0.3), around(1.10, 0.3), false},
		{"two trials", []float64{1, 1.01}, []float64{2, 2.01}, false},
	} {
		got := DriftVeto("cpu_loop_seconds", Compare(c.base, c.other, neutral), 0.05)
		if (got != "") != c.veto || c.veto && !strings.Contains(got, "cpu_loop_seconds") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestSteadyVeto(t *testing.T) {
	for _, c := range []struct {
		unsteady, judged int
		veto             bool
	}{{0, 0, false}, {0, 6, false}, {2, 6, false}, {3, 6, true}, {1, 2, true}, {1, 3, false}} {
		if got := SteadyVeto(c.unsteady, c.judged); (got != "") != c.veto {
			t.Errorf("%d of %d: %q", c.unsteady, c.judged, got)
		}
	}
}

// TestSteady: by hand. A line from 95 to 105 rises by 10 % and its fifths reach from 96 to 104, 8 %: steady. One from 94
// to 106 rises by 12 %. A fifth at 120 among fifths at 95 spans 25 %.
func TestSteady(t *testing.T) {
	line := func(from, to float64) []float64 {
		out := make([]float64, 51)
		for i := range out {
			out[i] = from + (to-from)*float64(i)/50
		}
		return out
	}
	bump := make([]float64, 50)
	for i := range bump {
		bump[i] = 95
		if i >= 20 && i < 30 {
			bump[i] = 120
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"a flat line", line(100, 100), "true"}, {"a slow rise", line(95.1, 104.9), "true"}, {"a rise", line(94, 106), "false"},
		{"a fall", line(106, 94), "false"}, {"a bump", bump, "false"}, {"noise of 20 %", noisy(random, 300, 100, 0.2), "true"},
		{"too short", line(100, 100)[:9], "unknown"}, {"no rate", make([]float64, 60), "unknown"}, {"nothing", nil, "unknown"},
	} {
		got := "unknown"
		if s := Steady(c.values); s != nil && *s {
			got = "true"
		} else if s != nil {
			got = "false"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestControlSparesQuietLabs: at n = 6 and CV 1 % an A/A control vetoes in fewer than 1 of 100 runs, at CV 10 % in more
// than half: it is the noise that it measures.
func TestControlSparesQuietLabs(t *testing.T) {
	for _, c := range []struct{ cv, low, high float64 }{{0.01, 0, 0.01}, {0.10, 0.5, 0.75}} {
		vetoes := rate(1000, func(r *rand.Rand) bool {
			return ControlVeto(Compare(noisy(r, 6, 100, c.cv), noisy(r, 6, 100, c.cv), higher), 0.05) != ""
		})
		within(t, "vetoes of an A/A control", vetoes, c.low, c.high)
	}
}
