package lab

import (
	"slices"
	"strings"
	"testing"
)

// planned is a plan of ext4 and xfs with an A/A control, as Expand would make it, without the machines.
func planned(server string) Plan {
	var cells []Trial
	for i, level := range []string{"ext4", "xfs", "ext4"} {
		id := []string{"001-ext4", "002-xfs", "003-ext4-control"}[i]
		cells = append(cells, Trial{ID: id, Name: "slap/storage=" + level + "/round=0", CellID: level, Root: "root", Server: server,
			Factors: map[string]string{"storage": level}, Control: i == 2})
	}
	return Plan{Study: "s", Rounds: 2, Factors: []Factor{{"storage", []string{"ext4", "xfs"}}}, Trials: order(cells, 2, 1), DiskBytes: 5, MemoryBytes: 7}
}

// TestConfirm: both sides of the chosen cell in every round, in an order that varies, and nothing else.
func TestConfirm(t *testing.T) {
	xfs := func(levels map[string]string) bool { return levels["storage"] == "xfs" }
	p, err := Confirm(Side{"A", planned("mariadb-11.8")}, Side{"B", planned("mysql-9.7")}, "run", xfs, 6, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Trials) != 12 || p.Digest == "" || !slices.Equal(p.Images, []string{"mariadb-11.8", "mysql-9.7", "root"}) || p.DiskBytes != 5 {
		t.Fatalf("%d trials, images %v: %+v", len(p.Trials), p.Images, p)
	}
	if len(p.Factors) != 2 || !slices.Equal(p.Factors[0].Levels, []string{"A", "B"}) || !slices.Equal(p.Factors[1].Levels, []string{"xfs"}) {
		t.Errorf("factors %+v", p.Factors)
	}
	ids, firsts := map[string]bool{}, map[string]bool{}
	for i, trial := range p.Trials {
		side := map[string]string{"A": "mariadb-11.8", "B": "mysql-9.7"}[trial.Factors["run"]]
		if trial.Index != i || trial.Round != i/2+1 || trial.Server != side || trial.Factors["storage"] != "xfs" || trial.CellID != "xfs" {
			t.Errorf("trial %d: %+v", i, trial)
		}
		if trial.Job.Seed != p.Trials[i-i%2].Job.Seed {
			t.Errorf("trial %s: the sides of a round see other data", trial.ID)
		}
		if i%2 == 0 {
			firsts[trial.Factors["run"]] = true
		}
		ids[trial.ID] = true
	}
	if len(ids) != 12 || len(firsts) != 2 {
		t.Errorf("%d names of 12 trials; sides that came first: %v", len(ids), firsts)
	}
	if first := p.Trials[0]; !strings.Contains(first.ID, "-xfs/1") || !strings.HasPrefix(first.Name, "slap/run=") || !strings.HasSuffix(first.Name, "/storage=xfs/round=1") {
		t.Errorf("id %q, name %q", first.ID, first.Name)
	}
	if planned("x").Trials[0].Factors["run"] != "" {
		t.Error("the plans were changed")
	}
}

func TestConfirmNothing(t *testing.T) {
	none := func(map[string]string) bool { return false }
	if _, err := Confirm(Side{"A", planned("x")}, Side{"B", planned("x")}, "run", none, 6, 3); err == nil || !strings.Contains(err.Error(), "none of the cells") {
		t.Errorf("no cell was chosen: %v", err)
	}
}
