package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"platter/results"
)

// replay is a run of ext3-ext2-vfat whose values are the printed ones times a factor of ours.
func replay(factor float64, levels ...string) *memory {
	f := studyOf(map[string][]float64{"ext3": {1, 1}, "ext2": {1, 1}, "vfat": {1, 1}}, levels...)
	f.plan["study"] = "ext3-ext2-vfat"
	printed := map[string][3]float64{
		"restore_seconds@restore": {889.7, 819.9, 982.5}, "load_seconds@myisam-2m-prepare": {38.5, 35.5, 75.7},
		"load_seconds@myisam-1m-prepare": {17.8, 17.2, 34.4}, "load_seconds@innodb-1m-prepare": {90.1, 65.5, 122.3},
		"load_seconds@bdb-1m-prepare": {18.7, 17.8, 36.4}, "transactions_per_second@myisam-2m-run": {182.1, 192.5, 188.5},
		"transactions_per_second@innodb-1m-run": {80.4, 84.5, 63.4}, "transactions_per_second@bdb-1m-run": {183.9, 184.0, 187.6},
		"requests_per_second@myisam-2m-run": {3174.4, 3450.1, 3423.4}, "transactions_per_second@myisam-1m-run": {112.7, 204.0, 206.7},
	}
	column := map[string]int{"ext3": 0, "ext2": 1, "vfat": 2}
	for i := range f.results {
		r := &f.results[i]
		r.Study, r.Metrics = "ext3-ext2-vfat", nil
		for key, values := range printed {
			name, step, _ := strings.Cut(key, "@")
			v := values[column[r.Factors["storage"]]] * factor
			r.Metrics = append(r.Metrics, results.Metric{Name: name, Step: step, Value: &v})
		}
	}
	return f
}

// TestBesideTheWriteUp: a run that gives the printed figures, twice as fast or slow throughout, has the printed scores,
// because scores are relative; and every format that people read shows them.
func TestBesideTheWriteUp(t *testing.T) {
	m := build(t, Options{}, replay(0.5, "ext3", "ext2", "vfat"))
	p := m.Published
	if p == nil || len(p.Rows) != 10 || len(p.Scores) != 3 || len(p.Means) != 2 || len(p.Era) == 0 {
		t.Fatalf("published: %+v", p)
	}
	for _, row := range p.Scores {
		for _, c := range row.Cells {
			if c.Ours.Median == nil || *c.Ours.Median < *c.Printed-0.1 || *c.Ours.Median > *c.Printed+0.1 {
				t.Errorf("%s of %s: ours %v, printed %v", row.Title, c.Level, c.Ours.Median, *c.Printed)
			}
		}
	}
	for _, format := range []string{"text", "html"} {
		page := printed(t, m, format)
		for _, want := range []string{"444.9 s (889.7)", "103.1% (103.1)", "overall write score, geometric mean", "a write-up in English, 2005", "BDB left MySQL"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %q is not there", format, want)
			}
		}
	}
}

// TestRunsAreNotJoined: where runs stand side by side, no column joins their trials beside a printed figure.
func TestRunsAreNotJoined(t *testing.T) {
	a, b := replay(0.5, "ext3", "ext2", "vfat"), replay(2, "ext3", "ext2", "vfat")
	b.id = "20260201T021500Z-ext4-vs-xfs-7f3a9c"
	for i := range b.results {
		b.results[i].RunID = b.id
	}
	if m := build(t, Options{}, a, b); m.Published != nil {
		t.Errorf("half and twice the printed time are together %v", *m.Published.Rows[0].Cells[0].Ours.Median)
	}
}

// TestHolesAreNotFilled: without vfat there are figures of two columns and no scores.
func TestHolesAreNotFilled(t *testing.T) {
	p := build(t, Options{}, replay(1, "ext3", "ext2")).Published
	for _, row := range p.Scores {
		for _, c := range row.Cells {
			if c.Ours.Median != nil {
				t.Errorf("%s of %s: %v although a column is missing", row.Title, c.Level, *c.Ours.Median)
			}
		}
	}
	if row := p.Rows[0].line(); row[1] != "889.7 s (889.7)" || row[3] != "n/a (982.5)" {
		t.Errorf("line %q", row)
	}
}

// TestNoWriteUp: a study of our own has none.
func TestNoWriteUp(t *testing.T) {
	if p := build(t, Options{}, twoTrials()).Published; p != nil {
		t.Errorf("published %+v", p)
	}
}

// TestLabelsOfFigures: a latency that was measured of transactions and of single statements is that of transactions
// where the figure says so, and nothing where it does not.
func TestLabelsOfFigures(t *testing.T) {
	f := studyOf(map[string][]float64{"ext3": {1}, "xfs": {1}, "gfs2": {1}}, "ext3", "xfs", "gfs2")
	f.plan["study"] = "ext3-xfs-gfs"
	for i := range f.results {
		f.results[i].Metrics = nil
		for operation, v := range map[string]float64{"transaction": 0.5, "commit": 0.1} {
			for _, name := range []string{"latency_mean_seconds", "deadlocks_total"} {
				f.results[i].Metrics = append(f.results[i].Metrics, results.Metric{Name: name, Step: "run", Value: &v,
					Labels: map[string]string{"operation": operation, "kind": "service"}})
			}
		}
	}
	p := build(t, Options{}, f).Published
	for id, want := range map[string]string{"latency-avg": "500.0 ms", "deadlocks": "n/a"} {
		for _, row := range p.Rows {
			if row.ID == id && !strings.HasPrefix(row.line()[1], want) {
				t.Errorf("%s: %q, want %s", id, row.line()[1], want)
			}
		}
	}
}

// TestScoreClaims: a claim about a score is judged by the scores of single rounds. As printed, ext2 is first overall by a
// ratio of 1.104 over ext3, and vfat last; the write score has the same order, and claimed the other way round it is
// reversed.
func TestScoreClaims(t *testing.T) {
	f := replay(0.5, "ext3", "ext2", "vfat")
	for round := 3; round <= 6; round++ { // six rounds, each a little faster or slower as a whole
		for _, r := range f.results[:3] {
			again := copyOf(r)
			again.TrialID, again.Round = fmt.Sprintf("%s-%d", r.TrialID, round), round
			for i := range again.Metrics {
				*again.Metrics[i].Value *= 1 + float64(round)/100
			}
			f.results = append(f.results, again)
		}
	}
	published, far := 1.104, 2.0
	f.plan["claims"] = []claim{
		{ID: "a", Text: "ext2 is fastest overall", Score: "overall", Factor: "storage", Order: []string{"ext2", "ext3", "vfat"}, Ratio: &published},
		{ID: "b", Text: "vfat writes fastest", Score: "write", Factor: "storage", Order: []string{"vfat", "ext3"}, Ratio: &far},
		{ID: "c", Text: "no such level", Score: "write", Factor: "storage", Order: []string{"vfat", "ext9"}},
	}
	got := build(t, Options{}, f).Claims
	if got[0].Direction != Reproduced || got[0].Order != Reproduced || got[0].Magnitude != Reproduced {
		t.Errorf("as printed: %s", got[0].Line())
	}
	if got[1].Direction != Reversed || got[1].Magnitude != NotReproduced {
		t.Errorf("the other way round: %s", got[1].Line())
	}
	if got[2].Direction != CannotTell || got[2].Reason == "" {
		t.Errorf("no such level: %s", got[2].Line())
	}
	f.plan["study"] = "ext4-vs-xfs"
	if got := build(t, Options{}, f).Claims[0]; got.Direction != CannotTell || !strings.Contains(got.Reason, "overall score") {
		t.Errorf("a study without scores: %s", got.Line())
	}
}

// TestEraIsTheStudys: what the plan says of successors and era stands in the place of the figures' own list.
func TestEraIsTheStudys(t *testing.T) {
	f := replay(1, "ext3", "ext2", "vfat")
	f.plan["successors"] = []successor{{Was: "BDB", Now: "a real BDB", Reason: "an image has it"}}
	f.plan["era"] = []string{"the disk is virtual"}
	era := build(t, Options{}, f).Published.Era
	if want := []string{"a real BDB runs in place of BDB: an image has it", "the disk is virtual"}; !slices.Equal(era, want) {
		t.Errorf("era %q, want %q", era, want)
	}
}
