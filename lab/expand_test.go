package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platter/guest"
)

func parse(t *testing.T, file, scale string, sets ...string) Study {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "plans", file))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseStudy(file, data, scale, sets)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func expand(t *testing.T, s Study) Plan {
	t.Helper()
	p, err := Expand(s, fakeRegistry{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlans expands every testdata/plans/*.yaml, which between them use all that published studies need, and compares
// the whole plan.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d plans: %v", len(files), err)
	}
	for _, f := range files {
		base := filepath.Base(f)
		t.Run(base, func(t *testing.T) {
			p := expand(t, parse(t, base, ""))
			out, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "plans/"+strings.TrimSuffix(base, ".yaml")+".json", string(out)+"\n")
		})
	}
}

func TestSameStudySamePlan(t *testing.T) {
	a, b := expand(t, parse(t, "mirror.yaml", "smoke")), expand(t, parse(t, "mirror.yaml", "smoke"))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two expansions differ (-first +second):\n%s", diff)
	}
	other := expand(t, parse(t, "mirror.yaml", "smoke", "factors.workload.slap.concurrency=11"))
	if other.Seed == a.Seed || other.Digest == a.Digest {
		t.Error("another workload has the same seed or digest")
	}
	given := expand(t, parse(t, "mirror.yaml", "smoke", "seed=42"))
	if given.Seed != 42 {
		t.Errorf("seed %d, want the 42 that was given", given.Seed)
	}
}

// TestRounds checks the design: each round holds every cell once, and the rounds' orders differ.
func TestRounds(t *testing.T) {
	p := expand(t, parse(t, "engines.yaml", "", "rounds=8"))
	cells := map[string]bool{}
	orders := map[string]bool{}
	perRound := len(p.Trials) / 8
	for r := range 8 {
		var order []string
		seeds := map[uint64]bool{}
		for i, trial := range p.Trials[r*perRound : (r+1)*perRound] {
			if trial.Round != r+1 || trial.Index != r*perRound+i {
				t.Fatalf("trial %s: round %d index %d, want %d and %d", trial.ID, trial.Round, trial.Index, r+1, r*perRound+i)
			}
			cells[trial.CellID] = true
			order = append(order, trial.CellID)
			seeds[trial.Job.Seed] = true
		}
		if len(seeds) != 1 {
			t.Errorf("round %d has %d seeds, want one for all its cells", r+1, len(seeds))
		}
		orders[fmt.Sprint(order)] = true
		slices.Sort(order)
		if len(slices.Compact(order)) != perRound {
			t.Errorf("round %d repeats a cell", r+1)
		}
	}
	if len(cells) != perRound {
		t.Errorf("%d cells over all rounds, want %d", len(cells), perRound)
	}
	if len(orders) < 6 {
		t.Errorf("8 rounds of %d cells have only %d different orders", perRound, len(orders))
	}
}

func TestIdentities(t *testing.T) {
	ids, names := map[string]bool{}, map[string]bool{}
	for _, file := range []string{"engines.yaml", "mirror.yaml", "partitions.yaml", "devices.yaml"} {
		for _, trial := range expand(t, parse(t, file, "")).Trials {
			if key := file + trial.ID; ids[key] || names[file+trial.Name] {
				t.Errorf("%s twice", trial.ID)
			} else {
				ids[key], names[file+trial.Name] = true, true
			}
			if !filepath.IsLocal(trial.ID) || len(trial.ID) > 80 {
				t.Errorf("id %q is no short relative path", trial.ID)
			}
			if trial.Job.Trial != trial.Name || trial.Job.Protocol != guest.Protocol || trial.Job.Server.Serial == "" {
				t.Errorf("%s: the job is incomplete: %+v", trial.ID, trial.Job)
			}
			serials := map[string]bool{trial.Job.Server.Serial: true}
			for _, d := range trial.Disks {
				if len(d.Serial) > 20 || d.Serial == "" || serials[d.Serial] {
					t.Errorf("%s: serial %q of disk %s", trial.ID, d.Serial, d.Name)
				}
				serials[d.Serial] = true
			}
		}
	}
}

// TestCellIdentity checks what a cell's fingerprint depends on.
func TestCellIdentity(t *testing.T) {
	id := func(sets ...string) string { return expand(t, parse(t, "mirror.yaml", "", sets...)).Trials[0].CellID }
	base := func(sets ...string) map[string]bool {
		out := map[string]bool{}
		for _, trial := range expand(t, parse(t, "mirror.yaml", "", sets...)).Trials {
			out[trial.CellID] = true
		}
		return out
	}
	want := base()
	for _, same := range []string{"seed=1", "rounds=3", "question=Another?", "study=other"} {
		if !want[id(same)] {
			t.Errorf("--set %s changes the cells", same)
		}
	}
	for _, other := range []string{"machine.memory=4GiB", "disks.plain.cache=none", "factors.workload.slap.concurrency=1", "probes=[flush]"} {
		if got := base(other); len(got) != len(want) || fmt.Sprint(got) == fmt.Sprint(want) {
			t.Errorf("--set %s does not change the cells", other)
		}
	}
}

// TestEmptyLists: a --set takes everything out of a list that may be empty.
func TestEmptyLists(t *testing.T) {
	p := expand(t, parse(t, "partitions.yaml", "", "claims=[]", "probes=[]", "exclude=[]"))
	if all := expand(t, parse(t, "partitions.yaml", "")); len(p.Claims) != 0 || len(all.Claims) == 0 {
		t.Errorf("%d claims with none asked for, %d otherwise", len(p.Claims), len(all.Claims))
	}
}

func TestClaimsOfMissingLevels(t *testing.T) {
	p := expand(t, parse(t, "partitions.yaml", "", "factors.storage={ext3: {filesystem: ext3}}"))
	if len(p.Claims) != 0 || !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "cannot be judged") }) {
		t.Errorf("claims %v, notes %q", p.Claims, p.Notes)
	}
}

func TestTooManyTrials(t *testing.T) {
	s := parse(t, "mirror.yaml", "", "rounds=1000", "factors.workload={a: mysqlslap, b: mysqlslap, c: mysqlslap, d: mysqlslap}")
	for range 5 {
		s.Factors.Workload = append(s.Factors.Workload, s.Factors.Workload...)
	}
	_, err := Expand(s, fakeRegistry{})
	if err == nil || !strings.Contains(err.Error(), "100000 trials") {
		t.Errorf("a plan of 768,000 trials: %v", err)
	}
}
