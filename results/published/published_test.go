package published

import (
	"io/fs"
	"math"
	"testing"

	"platter/results"
)

// TestEveryStudyConforms reads every file strictly and holds it to what a report relies on.
func TestEveryStudyConforms(t *testing.T) {
	paths, err := fs.Glob(files, "*.json")
	if err != nil || len(paths) != 4 {
		t.Fatalf("files %v, %v; want the four studies", paths, err)
	}
	for _, path := range paths {
		data, err := files.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := decode(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if s.Schema != "platter.published/1" || s.Study+".json" != path || s.Source == "" || s.Year < 2000 || len(s.Era) == 0 || s.Factor == "" {
			t.Errorf("%s: %+v lacks something", path, s)
		}
		if found, ok := Lookup(s.Study); !ok || found.Study != s.Study {
			t.Errorf("Lookup(%s) = %v, %v", s.Study, found.Study, ok)
		}
		ids := map[string]bool{}
		for _, f := range s.Figures {
			if ids[f.ID] {
				t.Errorf("%s: figure %s is there twice", path, f.ID)
			}
			ids[f.ID] = true
			info, known := results.LookupMetric(f.Metric)
			if !known || string(info.Unit) != f.Unit {
				t.Errorf("%s: %s: metric %s (known: %v) has unit %s, the figure %s", path, f.ID, f.Metric, known, info.Unit, f.Unit)
			}
			for _, level := range s.Levels {
				if v, ok := f.Values[level]; !ok || v <= 0 {
					t.Errorf("%s: %s: %s is %v", path, f.ID, level, v)
				}
			}
			if len(f.Values) != len(s.Levels) {
				t.Errorf("%s: %s has %d values for %d levels", path, f.ID, len(f.Values), len(s.Levels))
			}
		}
	}
	if _, ok := Lookup("no-such-study"); ok {
		t.Error("Lookup found a study that is not there")
	}
}

// TestScoresFollowFromFigures: all nine printed scores of ext3-ext2-vfat come out of its printed figures to 0.1.
func TestScoresFollowFromFigures(t *testing.T) {
	s, _ := Lookup("ext3-ext2-vfat")
	got := s.ScoresOf(s.Printed())
	compared := 0
	for _, score := range s.Scores {
		for level, want := range score.Values {
			if math.Abs(got[score.ID][level]-want) > 0.1 {
				t.Errorf("%s of %s: %.2f, printed is %.1f", score.Title, level, got[score.ID][level], want)
			}
			compared++
		}
	}
	if compared != 9 {
		t.Errorf("%d scores compared, want 9", compared)
	}
}

// TestPrintedRatesFollow: what the write-ups printed twice agrees with itself. Transactions over total time are the
// rate (to the rounding of the print), so the figures were copied right.
func TestPrintedRatesFollow(t *testing.T) {
	for study, prefixes := range map[string][]string{"ext3-xfs-gfs": {""}, "ssd-vs-hdd": {"cached-", "uncached-"}} {
		s, _ := Lookup(study)
		v := s.Printed()
		for _, prefix := range prefixes {
			for _, level := range s.Levels {
				rate := v[prefix+"transactions"][level] / v[prefix+"total"][level]
				if printed := v[prefix+"tps"][level]; math.Abs(rate-printed) > 0.001*printed {
					t.Errorf("%s%s, %s: %.2f a second follow, %.2f are printed", study, prefix, level, rate, printed)
				}
				requests := (v[prefix+"reads"][level] + v[prefix+"writes"][level]) / v[prefix+"total"][level]
				if printed := v[prefix+"requests"][level]; math.Abs(requests-printed) > 0.001*printed {
					t.Errorf("%s%s, %s: %.2f requests a second follow, %.2f are printed", study, prefix, level, requests, printed)
				}
			}
		}
	}
}

func TestIncompleteFiguresHaveNoScore(t *testing.T) {
	s, _ := Lookup("ext3-ext2-vfat")
	values := s.Printed()
	values["restore"] = map[string]float64{"ext3": 889.7, "ext2": 819.9}
	got := s.ScoresOf(values)
	if len(got["write"]) != 0 || len(got["overall"]) != 0 {
		t.Errorf("scores %v although vfat has no restore", got)
	}
	if len(got["transaction"]) != 3 {
		t.Errorf("transaction scores %v, want all three", got["transaction"])
	}
}

func TestToday(t *testing.T) {
	s, _ := Lookup("ext3-xfs-gfs")
	for level, want := range map[string]string{"gfs": "gfs2", "ext3": "ext3"} {
		if got := s.Today(level); got != want {
			t.Errorf("Today(%s) = %s, want %s", level, got, want)
		}
	}
}

// TestMeans: by hand, for two levels that are mirror images of each other.
func TestMeans(t *testing.T) {
	s := Study{Levels: []string{"a", "b"}, Scores: []Score{{ID: "write"}},
		Figures: []Figure{{ID: "x", Score: "write"}, {ID: "y", Score: "write"}, {ID: "z", Score: "transaction"}}}
	got := s.MeansOf(Values{"x": {"a": 1, "b": 3}, "y": {"a": 3, "b": 1}, "z": {"a": 30, "b": 10}})
	// Averages are 2, 2 and 20: a is 2/1 and 2/3 of them better, √(4/3) = 1.1547; its rate is 30/20.
	for level, want := range map[string]float64{"a": 115.47, "b": 115.47} {
		if math.Abs(got["write"][level]-want) > 0.01 {
			t.Errorf("write, %s: %.2f, want %.2f", level, got["write"][level], want)
		}
	}
	if math.Abs(got["transaction"]["a"]-150) > 1e-9 || math.Abs(got["transaction"]["b"]-50) > 1e-9 {
		t.Errorf("transaction: %v, want 150 and 50", got["transaction"])
	}
	if got := s.MeansOf(Values{"x": {"a": 1}, "y": {"a": 3, "b": 1}, "z": {"a": 30, "b": 10}}); len(got["write"]) != 0 {
		t.Errorf("a hole was filled: %v", got)
	}
}
