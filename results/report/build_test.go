package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"platter/results"
	"platter/results/stats"
)

func build(t *testing.T, o Options, folders ...*memory) *Model {
	t.Helper()
	var list []Folder
	for _, f := range folders {
		list = append(list, f)
	}
	m, err := Build(list, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModelOfTwoTrials(t *testing.T) {
	m := build(t, Options{}, twoTrials())
	if !slices.Equal(m.Columns, []string{"storage"}) || len(m.Rows) != 0 || m.Baseline != "ext4" {
		t.Errorf("columns %v, rows %v, baseline %q", m.Columns, m.Rows, m.Baseline)
	}
	var headline []string
	for _, table := range m.Tables {
		if table.Headline {
			headline = append(headline, table.Key)
		}
	}
	if !slices.Equal(headline, []string{"run_seconds@slap{clients=10}"}) {
		t.Errorf("headline tables %v: queries per second say the same again", headline)
	}
	e := m.Tables[0].Rows[0].Entries[1]
	if e.Comparison == nil || e.Comparison.Verdict != stats.Inconclusive || *e.Comparison.SmallestP < 0.3 {
		t.Errorf("comparison %+v: two trials a side decide nothing", e.Comparison)
	}
	if !slices.Equal(e.Trials, []string{"001-xfs/1", "003-xfs/2"}) {
		t.Errorf("trials %v", e.Trials)
	}
	if m.Partial() {
		t.Errorf("problems %v", m.Problems)
	}
	for _, want := range []string{"cannot tell", "6.8% less time", "smallest possible p is .333", "trials a side would decide"} {
		if !strings.Contains(m.Answer, want) {
			t.Errorf("answer %q lacks %q", m.Answer, want)
		}
	}
}

func TestTitleNamesWhatMatters(t *testing.T) {
	f := twoTrials()
	for i := range f.results {
		f.results[i].Disks[0].CacheEffective, f.results[i].Disks[0].Emulated = "unsafe", "hdd-7200"
		f.results[i].Durability = "none"
	}
	if got, want := build(t, Options{}, f).Title(), "ext4-vs-xfs@smoke · software emulation (tcg) · emulated device: hdd-7200 · disk cache unsafe · durability none"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
}

// TestAttempts: a trial that was tried again counts once, with its valid attempt, whatever the order of the files.
func TestAttempts(t *testing.T) {
	f := twoTrials()
	for _, attempt := range []int{10, 2} {
		again := copyOf(f.results[0])
		again.Attempt, again.Status, again.Reason, again.Metrics = attempt, results.StatusLost, "no login", nil
		f.results = append(f.results, again)
	}
	first := &f.results[1]
	first.Status, first.Reason = results.StatusInvalid, "clock step"
	valid := copyOf(*first)
	valid.Attempt, valid.Status, valid.Reason = 2, results.StatusOK, ""
	f.results = append([]results.Result{valid}, f.results...)
	m := build(t, Options{}, f)
	if want := (Counts{OK: 4, Retried: 3}); m.Counts != want {
		t.Errorf("counts %+v, want %+v", m.Counts, want)
	}
}

// incomplete is the reader's word about an attempt that left no result.
type incomplete struct{ id string }

func (e incomplete) Error() string                     { return "trials/" + e.id + "-1: incomplete" }
func (e incomplete) IncompleteAttempt() (string, bool) { return e.id, true }

// TestIncompleteAttempts: an attempt without a result is a problem only where no other attempt of the trial ended.
func TestIncompleteAttempts(t *testing.T) {
	f := twoTrials()
	f.problems = []error{incomplete{"000-ext4/1"}}
	if m := build(t, Options{}, f); m.Partial() {
		t.Errorf("problems %v although the trial ended in another attempt", m.Problems)
	}
	f.results = f.results[1:]
	m := build(t, Options{}, f)
	if !m.Partial() || m.Counts.Missing != 1 || m.Unended != 1 {
		t.Errorf("problems %v, %d unended, counts %+v: the trial never ended", m.Problems, m.Unended, m.Counts)
	}
}

func TestFilterRowsColumnsBaseline(t *testing.T) {
	f := tenTrials()
	m := build(t, Options{Filter: map[string][]string{"storage": {"xfs", "btrfs"}}, Baseline: "btrfs"}, f)
	if m.Baseline != "btrfs" || m.Counts.planned() != 20 || len(m.Cells) != 2 {
		t.Errorf("baseline %s, %d planned, %d cells", m.Baseline, m.Counts.planned(), len(m.Cells))
	}
	entries := m.Tables[0].Rows[0].Entries
	if entries[0].Comparison == nil || entries[1].Comparison != nil {
		t.Error("not compared against the baseline that was asked for")
	}
	rows := build(t, Options{Rows: []string{"storage"}}, f)
	if len(rows.Tables[0].Rows) != 3 || rows.Baseline != "" {
		t.Errorf("%d rows, baseline %q: want three rows and nothing to compare", len(rows.Tables[0].Rows), rows.Baseline)
	}
	metric := build(t, Options{Metrics: []string{"queries_total"}}, f)
	for _, table := range metric.Tables {
		if table.Headline != (table.Metric.Name == "queries_total") {
			t.Errorf("%s: headline %v", table.Key, table.Headline)
		}
	}
}

func TestOptionsThatDoNotExist(t *testing.T) {
	for option, o := range map[string]Options{
		"filter": {Filter: map[string][]string{"filesystem": {"x"}}}, "row": {Rows: []string{"x"}}, "col": {Columns: []string{"x"}},
		"metric": {Metrics: []string{"tps"}}, "baseline": {Baseline: "zfs"},
	} {
		var wrong *OptionError
		if _, err := Build([]Folder{twoTrials()}, o); !errors.As(err, &wrong) || wrong.Option != option || wrong.Known == "" {
			t.Errorf("%s: %v", option, err)
		}
	}
}

func TestNothing(t *testing.T) {
	var nothing *NothingError
	if _, err := Build(nil, Options{}); !errors.As(err, &nothing) {
		t.Errorf("no folder: %v", err)
	}
	bad := twoTrials()
	bad.plan = map[string]any{"study": 7}
	if _, err := Build([]Folder{bad}, Options{}); !errors.As(err, &nothing) || !strings.Contains(err.Error(), "plan.json") {
		t.Errorf("a broken plan: %v", err)
	}
	if _, err := Build([]Folder{twoTrials()}, Options{Filter: map[string][]string{"storage": {"zfs"}}}); !errors.As(err, &nothing) {
		t.Errorf("a filter that keeps nothing: %v", err)
	}
}

// TestSeveralRuns: two folders get the factor run, and are compared by it.
func TestSeveralRuns(t *testing.T) {
	a, b := tenTrials(), tenTrials()
	b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for i := range b.results {
		b.results[i].RunID = b.id
		b.results[i].Host.Kernel = "6.13.0"
		*b.results[i].Metrics[0].Value *= 1.2
	}
	m := build(t, Options{}, a, b)
	if !slices.Equal(m.Columns, []string{"run"}) || !slices.Equal(m.Rows, []string{"storage"}) {
		t.Fatalf("columns %v, rows %v", m.Columns, m.Rows)
	}
	for _, row := range m.Tables[0].Rows {
		if v := row.Entries[1].Comparison.Verdict; v != stats.Regressed {
			t.Errorf("%s: %s, want a slowdown of 20 %% to be found at n = 10", row.Row, v)
		}
	}
	i := slices.IndexFunc(m.Differs, func(d Difference) bool { return d.Name == "host kernel" })
	if i < 0 || m.Differs[i].Declared {
		t.Errorf("the kernels differ, and the report does not say so: %+v", m.Differs)
	}
}

// TestWhatElseDiffers comes before what was declared to differ.
func TestWhatElseDiffers(t *testing.T) {
	f := twoTrials()
	for i := range f.results {
		if f.results[i].Factors["storage"] == "xfs" {
			f.results[i].Guest.Kernel = "6.13"
			*f.results[i].Settings[1].Effective = "1048576"
		}
	}
	m := build(t, Options{}, f)
	var got []string
	for _, d := range m.Differs {
		got = append(got, fmt.Sprint(d.Name, " ", d.Declared))
	}
	if want := []string{"guest kernel false", "server innodb_buffer_pool_size false", "filesystem true"}; !slices.Equal(got, want) {
		t.Errorf("differences %v, want %v", got, want)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "größe ✓\n": "größe ✓\n", "a\tb": "a b", "\x1b[31m": `\x1b[31m`, "\x9b": `\ufffd`, "\u009b": `\u{9b}`,
		"a\u202eb": `a\u{202e}b`, "\r": `\x0d`, "\ufffd": "\ufffd", "\U000e0041": `\u{e0041}`, "a\u2028b": "a b",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	long := clean(strings.Repeat("x", 10*textLimit))
	if len(long) > textLimit+20 || !strings.HasSuffix(long, "(cut)") {
		t.Errorf("a long text stays %d bytes long", len(long))
	}
}

// TestAnswerSaysWhyNothingIsDecided: where one reason leaves all of many comparisons open, the answer is that reason.
func TestAnswerSaysWhyNothingIsDecided(t *testing.T) {
	two := map[string][]float64{"ext4": {8.1, 8.4}, "xfs": {7.7, 7.8}, "btrfs": {7.1, 7.9}, "jfs": {7.2, 7.3}, "f2fs": {7.4, 7.5}}
	m := build(t, Options{}, studyOf(two, "ext4", "xfs", "btrfs", "jfs", "f2fs"))
	if want := "undecided, for there are too few trials: at n = 2 the smallest possible p is .333."; !strings.Contains(m.Answer, want) {
		t.Errorf("the answer is %q, want %q in it", m.Answer, want)
	}
	if m := build(t, Options{}, tenTrials()); strings.Contains(m.Answer, "too few") {
		t.Errorf("ten trials a side: %q", m.Answer)
	}
}
