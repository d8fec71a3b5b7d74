package report

import (
	"strings"
	"testing"
)

// six returns six values within 1 % of a center.
func six(center float64) []float64 {
	return []float64{center, center * 1.01, center * 0.99, center * 1.005, center * 0.995, center * 1.002}
}

func TestClaims(t *testing.T) {
	ratio := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name                        string
		claim                       claim
		values                      map[string][]float64
		direction, order, magnitude Judgement
	}{
		{"as published", claim{Order: []string{"a", "b"}, Ratio: ratio(0.8)}, map[string][]float64{"a": six(8), "b": six(10)}, Reproduced, "", Reproduced},
		{"the other way round", claim{Order: []string{"b", "a"}, Ratio: ratio(0.8)}, map[string][]float64{"a": six(8), "b": six(10)}, Reversed, "", NotReproduced},
		{"direction only", claim{Order: []string{"a", "b"}, Ratio: ratio(0.5)}, map[string][]float64{"a": six(9), "b": six(10)}, Reproduced, "", NotReproduced},
		{"equal subjects", claim{Order: []string{"a", "b"}}, map[string][]float64{"a": six(10), "b": six(10)}, CannotTell, "", ""},
		{"two trials", claim{Order: []string{"a", "b"}, Ratio: ratio(0.8)}, map[string][]float64{"a": {8, 8.1}, "b": {10, 10.1}}, CannotTell, "", CannotTell},
		{"order of three", claim{Order: []string{"a", "b", "c"}}, map[string][]float64{"a": six(8), "b": six(9), "c": six(10)}, Reproduced, Reproduced, ""},
		{"order with a swap", claim{Order: []string{"a", "c", "b"}}, map[string][]float64{"a": six(8), "b": six(9), "c": six(10)}, Reproduced, Reversed, ""},
		{"order with a tie", claim{Order: []string{"a", "b", "c"}}, map[string][]float64{"a": six(8), "b": six(8), "c": six(10)}, Reproduced, CannotTell, ""},
		{"all within 3.3 %", claim{Order: []string{"a", "b"}, Within: ratio(0.033)}, map[string][]float64{"a": six(10), "b": six(10.1)}, CannotTell, "", Reproduced},
		{"not within 3.3 %", claim{Order: []string{"a", "b"}, Within: ratio(0.033)}, map[string][]float64{"a": six(8), "b": six(10)}, Reproduced, "", NotReproduced},
		{"no difference", claim{Order: []string{"a", "b"}, Equal: true}, map[string][]float64{"a": six(10), "b": six(10.1)}, Reproduced, "", ""},
		{"a difference", claim{Order: []string{"a", "b"}, Equal: true}, map[string][]float64{"a": six(8), "b": six(10)}, NotReproduced, "", ""},
		{"no difference of two trials", claim{Order: []string{"a", "b"}, Equal: true}, map[string][]float64{"a": {8, 8.1}, "b": {10, 10.1}}, CannotTell, "", ""},
		{"nothing measured", claim{Order: []string{"a", "z"}}, map[string][]float64{"a": six(8), "b": six(10)}, CannotTell, "", ""},
		{"no such metric", claim{Order: []string{"a", "b"}, Metric: "restore_seconds"}, map[string][]float64{"a": six(8), "b": six(10)}, CannotTell, "", ""},
		{"higher is better", claim{Order: []string{"b", "a"}, Metric: "queries_per_second"}, map[string][]float64{"a": six(8), "b": six(10)}, Reversed, "", ""},
	} {
		levels := []string{"a", "b", "c"}[:len(c.values)]
		f := studyOf(c.values, levels...)
		c.claim.ID, c.claim.Text, c.claim.Factor = "claim", c.name, "storage"
		if c.claim.Metric == "" {
			c.claim.Metric = "run_seconds"
		}
		f.plan["claims"] = []claim{c.claim}
		got := build(t, Options{}, f).Claims[0]
		if got.Direction != c.direction || got.Order != c.order || got.Magnitude != c.magnitude {
			t.Errorf("%s: %q %q %q, want %q %q %q; %s", c.name, got.Direction, got.Order, got.Magnitude, c.direction, c.order, c.magnitude, got.Line())
		}
		if got.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
		if line := got.Line(); strings.Contains(line, "\n") || !strings.Contains(line, c.name) {
			t.Errorf("%s: line %q", c.name, line)
		}
	}
}

// TestClaimSaysWhatWouldDecide: an open claim names the number of trials.
func TestClaimSaysWhatWouldDecide(t *testing.T) {
	f := studyOf(map[string][]float64{"a": {8, 8.1}, "b": {10, 10.1}}, "a", "b")
	f.plan["claims"] = []claim{{ID: "c", Text: "a is faster", Metric: "run_seconds", Factor: "storage", Order: []string{"a", "b"}}}
	got := build(t, Options{}, f).Claims[0]
	if got.NeededN == nil || *got.NeededN != 6 || !strings.Contains(got.Line(), "about 6 trials a side would decide") {
		t.Errorf("needed n %v: %s", got.NeededN, got.Line())
	}
	single := studyOf(map[string][]float64{"a": {8}, "b": {10}}, "a", "b")
	single.plan["claims"] = f.plan["claims"]
	if got := build(t, Options{}, single).Claims[0]; got.NeededN != nil || !strings.Contains(got.Line(), "at least 6 a side are needed") {
		t.Errorf("single trials: needed n %v: %s", got.NeededN, got.Line())
	}
	for _, format := range Formats() {
		if format.People && !strings.Contains(strings.NewReplacer(`\`, "", "\n", " ", "                   ", "").Replace(printed(t, build(t, Options{}, f), format.Name)), "a is faster: direction cannot tell") {
			t.Errorf("%s: the claim is not there in one line", format.Name)
		}
	}
}

// TestClaimOverStrata: where a factor is left open, all its levels must agree.
func TestClaimOverStrata(t *testing.T) {
	for _, c := range []struct {
		xfsLarge float64
		want     Judgement
	}{{8, Reproduced}, {12, CannotTell}} {
		f := matrix("a", func(storage, config string, round int) *float64 {
			switch storage + config {
			case "xfssmall":
				return steady(8, round)
			case "xfslarge":
				return steady(c.xfsLarge, round)
			}
			return steady(10, round)
		}, 6)
		f.plan["claims"] = []claim{{ID: "c", Text: "t", Metric: "run_seconds", Factor: "storage", Order: []string{"xfs", "ext4"}}}
		got := build(t, Options{}, f).Claims[0]
		if got.Direction != c.want || !strings.Contains(got.Reason, "small") || !strings.Contains(got.Reason, "large") {
			t.Errorf("xfs, large takes %v s: %s (%s), want %s", c.xfsLarge, got.Direction, got.Reason, c.want)
		}
		f.plan["claims"] = []claim{{ID: "c", Text: "t", Metric: "run_seconds", Factor: "storage", Order: []string{"xfs", "ext4"}, Where: map[string]string{"config": "small"}}}
		if got := build(t, Options{}, f).Claims[0]; got.Direction != Reproduced {
			t.Errorf("with config fixed: %s", got.Line())
		}
	}
}

// TestStrataSayWhy: a claim that no stratum decides says what each lacks, once where they lack the same.
func TestStrataSayWhy(t *testing.T) {
	for rounds, want := range map[int]string{1: "single trials do not tell how much they vary: at least 6 a side are needed, in each of ", 2: "n = 2"} {
		f := matrix("a", func(storage, config string, round int) *float64 { return steady(10, round) }, rounds)
		f.plan["claims"] = []claim{{ID: "c", Text: "t", Metric: "run_seconds", Factor: "storage", Order: []string{"xfs", "ext4"}}}
		if got := build(t, Options{}, f).Claims[0]; got.Direction != CannotTell || !strings.Contains(got.Line(), want) || !strings.Contains(got.Reason, "large") {
			t.Errorf("%d rounds: %s, want %q", rounds, got.Line(), want)
		}
	}
}

// TestClaimsOfTwoRuns: two runs of a study make each claim once, judged run by run.
func TestClaimsOfTwoRuns(t *testing.T) {
	a := studyOf(map[string][]float64{"a": six(8), "b": six(10)}, "a", "b")
	b := studyOf(map[string][]float64{"a": six(8), "b": six(10)}, "a", "b")
	b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for i := range b.results {
		b.results[i].RunID = b.id
	}
	for _, f := range []*memory{a, b} {
		f.plan["claims"] = []claim{{ID: "c", Text: "a is faster", Metric: "run_seconds", Factor: "storage", Order: []string{"a", "b"}},
			{ID: "d", Text: "b is faster", Metric: "run_seconds", Factor: "storage", Order: []string{"b", "a"}}}
	}
	claims := build(t, Options{}, a, b).Claims
	if len(claims) != 2 || claims[0].Direction != Reproduced || claims[1].Direction != Reversed {
		t.Fatalf("claims %+v, want each once", claims)
	}
	for _, id := range []string{a.id, b.id} {
		if !strings.Contains(claims[0].Reason, id) {
			t.Errorf("reason %q does not tell of run %s", claims[0].Reason, id)
		}
	}
}
