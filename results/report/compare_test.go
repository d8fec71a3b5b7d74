package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"platter/results"
	"platter/results/stats"
)

// matrix is a run of two factors: storage ext4 and xfs, config small and large.
func matrix(id string, value func(storage, config string, round int) *float64, rounds int) *memory {
	f := &memory{id: id, status: "done"}
	var trials []map[string]any
	for round := range rounds {
		for _, storage := range []string{"ext4", "xfs"} {
			for _, config := range []string{"small", "large"} {
				n := len(trials)
				trialID := fmt.Sprintf("%03d-%s-%s/%d", n, storage, config, round+1)
				factors := map[string]string{"storage": storage, "config": config}
				trials = append(trials, map[string]any{"id": trialID, "index": n, "round": round + 1, "factors": factors})
				r := trialOf(id, trialID, storage, n, round+1, 1, 0)
				r.Factors = map[string]string{"storage": storage, "config": config}
				if v := value(storage, config, round); v != nil {
					*r.Metrics[0].Value = *v
				} else {
					r.Status, r.Reason, r.Metrics = results.StatusFailed, "server died", nil
				}
				f.results = append(f.results, r)
			}
		}
	}
	f.plan = map[string]any{"study": "s", "rounds": rounds, "question": "q?", "trials": trials,
		"factors": []Factor{{"storage", []string{"ext4", "xfs"}}, {"config", []string{"small", "large"}}}}
	return f
}

func steady(v float64, round int) *float64 {
	v *= 1 + float64(round)/500
	return &v
}

// TestFailedPartIsNoPartOfTheMean: a matrix of four cells, one failed. The counts come first, the mean joins what both
// sides have and says of how many, and never fills the hole.
func TestFailedPartIsNoPartOfTheMean(t *testing.T) {
	f := matrix("a", func(storage, config string, round int) *float64 {
		switch storage + config {
		case "xfslarge":
			return nil
		case "xfssmall":
			return steady(8, round)
		}
		return steady(10, round)
	}, 6)
	m := build(t, Options{}, f)
	if want := (Counts{OK: 18, Failed: 6}); m.Counts != want {
		t.Errorf("counts %+v, want %+v", m.Counts, want)
	}
	mean := m.Tables[0].Means
	if len(mean) != 1 || mean[0].K != 1 || mean[0].M != 2 || *mean[0].Ratio < 0.79 || *mean[0].Ratio > 0.81 {
		t.Errorf("mean %+v, want the one ratio of 0.8, 1 of 2", mean)
	}
	page := printed(t, m, "text")
	for _, want := range []string{"18 ok, 6 failed", "0 of 6", "xfs -20.0% (1 of 2 rows)", "missing: no valid trial on this side"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the report:\n%s", want, page)
		}
	}
	if strings.Index(page, "18 ok") > strings.Index(page, "run_seconds, step") {
		t.Error("the counts come after the numbers")
	}
}

func printed(t *testing.T, m *Model, format string) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, format, m, Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNothingInCommon: two runs without a common metric compare as nothing, not as "no regression".
func TestNothingInCommon(t *testing.T) {
	a, b := twoTrials(), twoTrials()
	b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for i := range b.results {
		b.results[i].RunID = b.id
		b.results[i].Metrics = []results.Metric{{Name: "load_seconds", Value: b.results[i].WallSeconds}}
	}
	m := build(t, Options{}, a, b)
	if m.Compared() {
		t.Error("Compared() although no metric is on both sides")
	}
	if !build(t, Options{}, a, a).Compared() {
		t.Error("a run has nothing in common with itself")
	}
	if strings.Contains(strings.ToLower(m.Answer), "no difference") {
		t.Errorf("answer %q", m.Answer)
	}
}

// TestNotComparable: what differs in a critical fact is not compared unless asked, and then the report says so.
func TestNotComparable(t *testing.T) {
	for name, spoil := range map[string]func(*results.Result){
		"accelerator":      func(r *results.Result) { r.Accel = "kvm" },
		"disk data cache":  func(r *results.Result) { r.Disks[0].CacheEffective = "unsafe" },
		"disk data size":   func(r *results.Result) { r.Disks[0].SizeBytes *= 2 },
		"durability":       func(r *results.Result) { r.Durability = "none" },
		"server":           func(r *results.Result) { r.Server.Version = "12.1" },
		"guest processors": func(r *results.Result) { r.Guest.CPUs = 4 },
		"machine memory_bytes": func(r *results.Result) {
			asked := "2147483648"
			r.Settings[2].Asked = &asked
		},
	} {
		a, b := tenTrials(), tenTrials()
		b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
		for i := range b.results {
			b.results[i].RunID = b.id
			spoil(&b.results[i])
		}
		c := build(t, Options{}, a, b).Tables[0].Rows[0].Entries[1].Comparison
		if c.Verdict != stats.NotComparable || !strings.Contains(c.Reason, name+" differs: ") || c.Ratio != nil {
			t.Errorf("%s: %s (%s)", name, c.Verdict, c.Reason)
		}
		m := build(t, Options{Anyway: true}, a, b)
		if c := m.Tables[0].Rows[0].Entries[1].Comparison; c.Verdict != stats.Unchanged {
			t.Errorf("%s, compared anyway: %s", name, c.Verdict)
		}
		if page := printed(t, m, "text"); !strings.Contains(page, "compared anyway, as asked, although "+name) {
			t.Errorf("%s: the report is silent about the override", name)
		}
	}
}

// TestDeclaredFactorMayChangeCriticalFacts: a study of two disks compares them.
func TestDeclaredFactorMayChangeCriticalFacts(t *testing.T) {
	f := tenTrials()
	for i := range f.results {
		if f.results[i].Factors["storage"] == "xfs" {
			f.results[i].Disks[0].CacheEffective, f.results[i].Durability = "writeback", "os-crash"
		}
	}
	if c := build(t, Options{}, f).Tables[0].Rows[0].Entries[1].Comparison; c.Verdict != stats.Improved {
		t.Errorf("%s (%s): storage is the declared factor", c.Verdict, c.Reason)
	}
}

// TestAskedCacheIsDeclared: where storage varies, a cache mode that was asked for is declared; one that came out otherwise
// although the same was asked for is neither declared nor comparable.
func TestAskedCacheIsDeclared(t *testing.T) {
	for _, c := range []struct {
		name     string
		asked    string // of xfs; ext4 asks for auto and gets none
		declared bool
	}{{"asked", "writeback", true}, {"fallen back", "auto", false}} {
		f := tenTrials()
		for i := range f.results {
			d := &f.results[i].Disks[0]
			d.CacheAsked = "auto"
			if f.results[i].Factors["storage"] == "xfs" {
				d.CacheAsked, d.CacheEffective = c.asked, "writeback"
			}
		}
		m := build(t, Options{}, f)
		i := slices.IndexFunc(m.Differs, func(d Difference) bool { return d.Name == "disk data cache" })
		if i < 0 || m.Differs[i].Declared != c.declared {
			t.Errorf("%s: differences %+v, want the cache with declared %v", c.name, m.Differs, c.declared)
		}
		if v := m.Tables[0].Rows[0].Entries[1].Comparison.Verdict; (v == stats.NotComparable) == c.declared {
			t.Errorf("%s: verdict %s", c.name, v)
		}
	}
}

// TestRunsDoNotDeclare: two runs of a study that varies storage differ in the cache mode of the same level. Storage does
// not explain that.
func TestRunsDoNotDeclare(t *testing.T) {
	a, b := tenTrials(), tenTrials()
	b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for i := range b.results {
		b.results[i].RunID, b.results[i].Disks[0].CacheEffective = b.id, "unsafe"
	}
	m := build(t, Options{Columns: []string{RunFactor}}, a, b)
	if d := m.Differing(); len(d) != 1 || d[0].Name != "disk data cache" {
		t.Errorf("undeclared differences %+v, want the cache mode", d)
	}
}

// TestOneTrialIsNoVerdict: one trial a side, 12 % apart, decides nothing.
func TestOneTrialIsNoVerdict(t *testing.T) {
	m := build(t, Options{}, studyOf(map[string][]float64{"ext4": {100}, "xfs": {88}}, "ext4", "xfs"))
	c := m.Tables[0].Rows[0].Entries[1].Comparison
	if c.Verdict != stats.Inconclusive || !strings.Contains(m.Answer, "cannot tell") {
		t.Errorf("%s; answer %q", c.Verdict, m.Answer)
	}
}

// TestOutlierStays: a first trial that ran cold is shown, not removed, and costs the verdict, not the median.
func TestOutlierStays(t *testing.T) {
	m := build(t, Options{}, studyOf(map[string][]float64{"ext4": {16, 8.0, 8.1, 8.0, 8.1}, "xfs": {8.0, 8.1, 8.0, 8.1, 8.0}}, "ext4", "xfs"))
	e := m.Tables[0].Rows[0].Entries[0]
	if e.Summary.N != 5 || *e.Summary.Maximum != 16 || *e.Summary.Median != 8.1 {
		t.Errorf("n %d, maximum %v, median %v", e.Summary.N, *e.Summary.Maximum, *e.Summary.Median)
	}
}

// TestFalseAlarmRate: 100 pairs of equal runs at n = 6 and CV 3 %, fixed seed. Fewer than 2 may be called worse.
func TestFalseAlarmRate(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	wrong := 0
	for range 100 {
		values := map[string][]float64{}
		for _, level := range []string{"ext4", "xfs"} {
			for range 6 {
				values[level] = append(values[level], 8*(1+0.03*random.NormFloat64()))
			}
		}
		c := build(t, Options{}, studyOf(values, "ext4", "xfs")).Tables[0].Rows[0].Entries[1].Comparison
		if c.Verdict == stats.Regressed || c.Verdict == stats.Improved {
			wrong++
		}
	}
	if wrong >= 2 {
		t.Errorf("%d of 100 equal pairs were called different", wrong)
	}
}

// TestPercentilesAreNotJoined: three trials with p95 of 10, 10 and 1000 ms are shown as three values and their median;
// no mean or maximum of percentiles is printed, and a percentile of too few events is no number.
func TestPercentilesAreNotJoined(t *testing.T) {
	f := studyOf(map[string][]float64{"ext4": {1, 1, 1}}, "ext4")
	for i, v := range []float64{0.010, 0.010, 1.0} {
		f.results[i].Metrics = []results.Metric{{Name: "latency_p95_seconds", Value: &v},
			{Name: "latency_p99_seconds", Reason: "5 events; a p99 needs 1000"}}
	}
	m := build(t, Options{Metrics: []string{"latency_p95_seconds", "latency_p99_seconds"}}, f)
	e := m.Tables[0].Rows[0].Entries[0]
	if *e.Summary.Median != 0.010 || e.Summary.N != 3 || *e.Summary.Maximum != 1 {
		t.Errorf("summary %+v", e.Summary)
	}
	page := printed(t, m, "text")
	if strings.Contains(page, "340") { // the mean, in ms
		t.Errorf("a mean of percentiles:\n%s", page)
	}
	for _, want := range []string{"10.00 ms", "n/a", "5 events; a p99 needs 1000"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the report:\n%s", want, page)
		}
	}
}
