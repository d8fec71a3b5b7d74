package planner_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"platter/guest"
	"platter/lab"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results/published"
)

// scaleNames are the scales that every shipped study has.
var scaleNames = []string{"smoke", "laptop", "published"}

func planOf(t *testing.T, name string) lab.Plan {
	t.Helper()
	s, _, err := studies.Parse(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := lab.Expand(s, planner.Registry{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// measures is what a step of each workload reports, as far as write-ups print it.
var measures = map[string][]string{
	"prepare oltp_legacy": {"load_seconds"},
	"run oltp_legacy": {"run_seconds", "transactions_total", "transactions_per_second", "reads_total", "writes_total", "others_total",
		"requests_per_second", "deadlocks_total", "latency_minimum_seconds", "latency_mean_seconds", "latency_maximum_seconds",
		"latency_p95_seconds", "events_per_thread_mean_total", "events_per_thread_stddev_total",
		"cpu_user_ratio", "cpu_system_ratio", "cpu_iowait_ratio", "cpu_idle_ratio"},
	"run restore":   {"restore_seconds"},
	"run mysqlslap": {"run_seconds", "run_minimum_seconds", "run_maximum_seconds"},
}

// today is the level that runs for a printed one.
func today(p lab.Plan, level string) string {
	for _, s := range p.Successors {
		if s.Was == level {
			return s.Now
		}
	}
	return level
}

// TestEveryPrintedRowRuns: at every scale each figure of each write-up has cells, a step and a metric in its study, and
// no cell and no measured step is there that the write-up has no figure of.
func TestEveryPrintedRowRuns(t *testing.T) {
	for _, s := range published.All() {
		for _, scale := range scaleNames {
			p := planOf(t, s.Study+"@"+scale)
			for _, level := range s.Levels {
				if runs := today(p, level); runs != s.Today(level) {
					t.Errorf("%s: %s runs %s, and its figures stand beside %s", s.Study, level, runs, s.Today(level))
				}
			}
			measured := map[string]bool{} // cell and step that a figure is of
			for _, f := range s.Figures {
				for _, level := range s.Levels {
					found := false
					for _, trial := range p.Trials {
						step := stepOf(trial, f, s.Factor, today(p, level))
						if step == nil {
							continue
						}
						found = true
						measured[trial.CellID+step.Name] = true
						if kind := step.Do + " " + step.Workload; !slices.Contains(measures[kind], f.Metric) {
							t.Errorf("%s@%s: figure %s is of %s, which step %s (%s) does not report", s.Study, scale, f.ID, f.Metric, step.Name, kind)
						}
					}
					if !found {
						t.Errorf("%s@%s: nothing runs for figure %s of %s", s.Study, scale, f.ID, level)
					}
				}
			}
			for _, trial := range p.Trials {
				for _, step := range trial.Job.Steps {
					if measures[step.Do+" "+step.Workload] != nil && step.Do == "run" && !measured[trial.CellID+step.Name] {
						t.Errorf("%s@%s: no figure is of step %s of %s", s.Study, scale, step.Name, trial.Name)
					}
				}
			}
		}
	}
}

// stepOf is the step of a trial that a figure is of, nil when the figure is of other cells.
func stepOf(trial lab.Trial, f published.Figure, factor, level string) *guest.Step {
	if trial.Factors[factor] != level {
		return nil
	}
	for name, want := range f.Where {
		if trial.Factors[name] != want {
			return nil
		}
	}
	for i, step := range trial.Job.Steps {
		if step.Name == f.Step {
			return &trial.Job.Steps[i]
		}
	}
	return nil
}

// TestClaimsFollowFromTheWriteUp: the ratio of every claim of a replay is that of the printed figures to its rounding, the
// claimed order is the printed one, and every step that a claim names is measured.
func TestClaimsFollowFromTheWriteUp(t *testing.T) {
	for _, s := range published.All() {
		p := planOf(t, s.Study+"@smoke")
		if len(p.Claims) == 0 || len(p.Successors) == 0 || len(p.Era) == 0 {
			t.Errorf("%s: %d claims, %d successors, %d differences of era", s.Study, len(p.Claims), len(p.Successors), len(p.Era))
		}
		for _, c := range p.Claims {
			if c.Source == "" {
				t.Errorf("%s: claim %s has no source", s.Study, c.ID)
			}
			rows := printedRows(s, p, c)
			if len(rows) == 0 && c.Ratio != nil {
				t.Errorf("%s: claim %s has a ratio and no figure", s.Study, c.ID)
			}
			for _, row := range rows {
				first, second, last := row[c.Order[0]], row[c.Order[1]], row[c.Order[len(c.Order)-1]]
				if c.Ratio != nil && math.Abs(first/second / *c.Ratio - 1) > 0.002 {
					t.Errorf("%s: claim %s says %v, the figures %.4f", s.Study, c.ID, *c.Ratio, first/second)
				}
				if spread := math.Abs(math.Log(first / last)); c.Within != nil && spread > math.Log(1+*c.Within) {
					t.Errorf("%s: claim %s says within %v, the figures differ by %.3f", s.Study, c.ID, *c.Within, spread)
				}
				if !c.Equal && !slices.IsSortedFunc(c.Order, func(a, b string) int {
					if rises := c.Metric == "transactions_per_second" || c.Score != ""; rises {
						a, b = b, a
					}
					return int(math.Copysign(1, row[a]-row[b]))
				}) {
					t.Errorf("%s: claim %s orders %v, the figures are %v", s.Study, c.ID, c.Order, row)
				}
			}
		}
	}
}

// printedRows are the figures or the score that a claim is about, by the levels' names of today.
func printedRows(s published.Study, p lab.Plan, c lab.Claim) (rows []map[string]float64) {
	add := func(values map[string]float64) {
		row := map[string]float64{}
		for level, v := range values {
			row[today(p, level)] = v
		}
		rows = append(rows, row)
	}
	for _, score := range s.Scores {
		if score.ID == c.Score {
			add(score.Values)
		}
	}
	for _, f := range s.Figures {
		if f.Metric == c.Metric && (c.Step == "" || f.Step == c.Step) && (len(c.Where) == 0 || f.Where["config"] == c.Where["config"]) {
			add(f.Values)
		}
	}
	return rows
}

// TestPlansAreRepeatable: the same study and scale give the same plan, byte for byte.
func TestPlansAreRepeatable(t *testing.T) {
	for _, name := range studies.Names() {
		for _, scale := range scaleNames {
			var plans [2][]byte
			for i := range plans {
				var err error
				if plans[i], err = json.Marshal(planOf(t, name+"@"+scale)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(plans[0], plans[1]) {
				t.Errorf("%s@%s: two plans differ", name, scale)
			}
		}
	}
}

// TestPublishedSizes: the scale published has the sizes of the write-ups.
func TestPublishedSizes(t *testing.T) {
	for _, c := range []struct {
		study, step string
		want        map[string]float64
	}{
		{"ext3-xfs-gfs", "prepare", map[string]float64{"oltp_table_size": 10_000_000}},
		{"ext3-xfs-gfs", "run", map[string]float64{"oltp_table_size": 10_000_000, "num_threads": 300, "max_requests": 800_000, "oltp_index_updates": 10}},
		{"ssd-vs-hdd", "prepare", map[string]float64{"oltp_table_size": 1_000_000}},
		{"ssd-vs-hdd", "run", map[string]float64{"oltp_table_size": 1_000_000, "num_threads": 16, "max_requests": 100_000}},
		{"ext3-ext2-vfat", "myisam-2m-prepare", map[string]float64{"oltp_table_size": 2_000_000}},
		{"ext3-ext2-vfat", "myisam-2m-run", map[string]float64{"oltp_table_size": 2_000_000, "num_threads": 50}},
		{"ext3-ext2-vfat", "myisam-1m-run", map[string]float64{"oltp_table_size": 1_000_000, "num_threads": 50}},
		{"ext3-ext2-vfat", "bdb-1m-run", map[string]float64{"oltp_table_size": 1_000_000, "num_threads": 50}},
		{"ext3-ext2-vfat", "innodb-1m-run", map[string]float64{"oltp_table_size": 1_000_000, "num_threads": 50}},
		{"ext3-ext2-vfat", "restore", map[string]float64{"dump_bytes": 670_000_000}},
		{"ext4-vs-zfs", "run", map[string]float64{"concurrency": 10, "iterations": 3, "number_of_queries": 1000}},
	} {
		for _, trial := range planOf(t, c.study+"@published").Trials {
			i := slices.IndexFunc(trial.Job.Steps, func(s guest.Step) bool { return s.Name == c.step })
			if i < 0 {
				t.Fatalf("%s: no step %s", c.study, c.step)
			}
			var options map[string]any
			if err := json.Unmarshal(trial.Job.Steps[i].Options, &options); err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				if options[name] != want {
					t.Errorf("%s, %s: %s is %v, want %v", trial.Name, c.step, name, options[name], want)
				}
			}
		}
	}
}

// TestOrderOfSteps: the steps of the replay of 2005 are the original's, in its order, with prepare, run and cleanup of each
// table agreeing on its rows.
func TestOrderOfSteps(t *testing.T) {
	want := []string{"myisam-2m-prepare", "myisam-2m-run", "myisam-2m-cleanup", "restart", "myisam-1m-prepare", "myisam-1m-run", "myisam-1m-cleanup",
		"restart-2", "bdb-1m-prepare", "bdb-1m-run", "bdb-1m-cleanup", "restart-3", "innodb-1m-prepare", "innodb-1m-run", "innodb-1m-cleanup", "restore"}
	for _, scale := range scaleNames {
		for _, trial := range planOf(t, "ext3-ext2-vfat@"+scale).Trials {
			rows := map[string]any{}
			for i, step := range trial.Job.Steps {
				if step.Name != want[i] {
					t.Fatalf("%s@%s: step %d is %s, want %s", trial.Name, scale, i, step.Name, want[i])
				}
				var options map[string]any
				if step.Workload != "oltp_legacy" {
					continue
				}
				if err := json.Unmarshal(step.Options, &options); err != nil {
					t.Fatal(err)
				}
				table := step.Name[:len(step.Name)-len(step.Do)]
				if before, ok := rows[table]; ok && before != options["oltp_table_size"] {
					t.Errorf("%s@%s: %s has %v rows, the step before it %v", trial.Name, scale, step.Name, options["oltp_table_size"], before)
				}
				rows[table] = options["oltp_table_size"]
			}
		}
	}
}
