package store

import (
	"flag"
	"strings"
	"testing"
	"time"

	"platter/results"
)

var (
	vm      = flag.Bool("vm", false, "run the tests that need root and loop devices")
	archive = flag.String("archive", "", "write a run folder below this directory, to freeze as a fixture")
)

const digest = "7f3a9c00aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// plan has two trials, 000-ext4/1 and 001-xfs/1.
const plan = `{"schema":"platter.plan/1","study":"ext4-vs-xfs","question":"q","digest":"` + digest + `","seed":1,"rounds":1,
"factors":[{"name":"storage","levels":["ext4","xfs"]}],"trials":[
{"id":"000-ext4/1","name":"a","index":0,"round":1,"cell_id":"c","factors":{"storage":"ext4"}},
{"id":"001-xfs/1","name":"b","index":1,"round":1,"cell_id":"d","factors":{"storage":"xfs"}}]}`

func spec() CreateSpec {
	return CreateSpec{
		Study: "ext4-vs-xfs", Plan: []byte(plan), PlanDigest: digest,
		StudyFiles: map[string][]byte{"ext4-vs-xfs.yaml": []byte("study: ext4-vs-xfs\n")},
		Host:       results.HostFacts{Kernel: "6.12", PlatterVersion: "test"},
		Command:    []string{"platter", "run", "ext4-vs-xfs"},
		Now:        time.Date(2026, 1, 31, 3, 15, 0, 0, time.FixedZone("CET", 3600)),
	}
}

func create(t *testing.T, dir string) *Run {
	t.Helper()
	run, err := Create(dir, spec())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func result(id string) results.Result {
	one, half := 1.0, 0.5
	sum := "sha256:" + digest
	level := strings.Split(strings.Split(id, "-")[1], "/")[0]
	return results.Result{
		Study: "ext4-vs-xfs", Trial: "t/storage=" + level, TrialID: id, Round: 1, Attempt: 1,
		Factors: map[string]string{"storage": level}, CellID: sum, EnvID: sum, SoftwareID: sum,
		Status: results.StatusOK, StartedAt: time.Date(2026, 1, 31, 2, 16, 0, 0, time.UTC), Accel: "tcg",
		WallSeconds: &one, BootSeconds: &half, GuestSeconds: &half, OverheadSeconds: &half,
		Metrics: []results.Metric{{Name: "run_seconds", Value: &one}},
	}
}

// finish writes one whole attempt.
func finish(t *testing.T, run *Run, id string, attempt int) *TrialDir {
	t.Helper()
	dir, err := run.Trial(id, attempt)
	if err != nil {
		t.Fatal(err)
	}
	r := result(id)
	r.Attempt = attempt
	if err := dir.Finish(r); err != nil {
		t.Fatal(err)
	}
	return dir
}

// collect walks the results of a run and sorts problems by path.
func collect(run *Run) (ids []string, problems map[string]ProblemKind) {
	problems = map[string]ProblemKind{}
	for r, err := range run.Results() {
		if err != nil {
			p := err.(*Problem)
			problems[p.Path] = p.Kind
			continue
		}
		ids = append(ids, r.TrialID)
	}
	return ids, problems
}
