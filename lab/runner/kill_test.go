package runner

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results"
	"platter/results/store"
)

// helperDirectory makes the test binary carry out a run instead of tests, see TestMain.
const helperDirectory = "PLATTER_TEST_RUN_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDirectory); dir != "" {
		os.Exit(helperRun(dir))
	}
	os.Exit(m.Run())
}

// helperRun begins the run below dir, or goes on with the one that is there. It kills itself, for real, at the n-th thing
// that happens, when the environment says n; it prints how many there were.
func helperRun(dir string) int {
	limit, _ := strconv.Atoi(os.Getenv("PLATTER_TEST_KILL_AT"))
	points := 0
	point := func() {
		if points++; points == limit {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	err := helperCarryOut(dir, point)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(points)
	return 0
}

func helperCarryOut(dir string, point func()) error {
	plan, err := smokePlan()
	if err != nil {
		return err
	}
	run, err := openOrCreate(dir, plan)
	if err != nil {
		return err
	}
	point()
	tag, err := hypervisor.NewTag(run.ID())
	if err != nil {
		return err
	}
	host := &fakeHost{dir: filepath.Join(dir, "host"), point: point}
	summary, err := Run(context.Background(), Config{Plan: plan, Store: run, Host: host, Images: emptyImages{}, Tag: tag,
		Events: func(lab.RunEvent) { point() }, GuestBinary: func(string) (string, error) { return tinyBinary(dir) }})
	if err == nil {
		err = summary.Err()
	}
	if err != nil {
		return err
	}
	point()
	err = run.Close(store.Done, "")
	point()
	return err
}

func openOrCreate(dir string, plan lab.Plan) (*store.Run, error) {
	runs, _, err := store.List(filepath.Join(dir, "results"))
	if err == nil && len(runs) > 0 {
		return store.Resume(runs[0].Path())
	}
	document, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	return store.Create(filepath.Join(dir, "results"), store.CreateSpec{Study: plan.Study, Plan: document, PlanDigest: plan.Digest})
}

func smokePlan() (lab.Plan, error) {
	study, _, err := studies.Parse("ext4-vs-xfs@smoke", nil)
	if err != nil {
		return lab.Plan{}, err
	}
	return lab.Expand(study, planner.Registry{})
}

// tinyBinary writes what passes for a guest binary of this host: the header of one.
func tinyBinary(dir string) (string, error) {
	machine := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64}[hostArch]
	head := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	binary.LittleEndian.PutUint16(head[16:], uint16(elf.ET_EXEC))
	binary.LittleEndian.PutUint16(head[18:], uint16(machine))
	binary.LittleEndian.PutUint32(head[20:], 1)
	binary.LittleEndian.PutUint16(head[52:], 64)
	path := filepath.Join(dir, "guest")
	return path, os.WriteFile(path, head, 0o755)
}

// helper starts this test binary as a run; killAt 0 lets it come to its end.
func helper(t *testing.T, dir string, killAt int) (points int, state *os.ProcessState) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "host"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperDirectory+"="+dir, "PLATTER_TEST_KILL_AT="+strconv.Itoa(killAt))
	cmd.Stderr = os.Stderr
	out, _ := cmd.Output() // the state tells
	points, _ = strconv.Atoi(string(out))
	return points, cmd.ProcessState
}

// settledTrial is what must be the same however often a run was killed.
type settledTrial struct {
	ID, CellID, Name string
	Index, Round     int
	Status           results.Status
	Metrics          []results.Metric
}

// settledTrials are the valid results of the one run below dir, in the order in which they were made.
func settledTrials(t *testing.T, dir string) []settledTrial {
	t.Helper()
	runs, problems, err := store.List(filepath.Join(dir, "results"))
	if err != nil || len(problems) > 0 || len(runs) != 1 {
		t.Fatalf("%d runs, %v, %v", len(runs), problems, err)
	}
	if found := runs[0].Verify(); len(found) > 0 {
		t.Errorf("verify: %v", found)
	}
	if got := runs[0].Meta().State(); got != store.Done {
		t.Errorf("the run is %s", got)
	}
	byID := map[string]settledTrial{}
	for r, err := range runs[0].Results() {
		var problem *store.Problem
		if errors.As(err, &problem) && problem.Kind == store.Incomplete {
			continue // the attempt that was killed
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != results.StatusOK {
			t.Errorf("%s: %s: %s", r.Trial, r.Status, r.Reason)
			continue
		}
		if _, twice := byID[r.TrialID]; twice {
			t.Errorf("%s was measured twice", r.TrialID)
		}
		byID[r.TrialID] = settledTrial{r.TrialID, r.CellID, r.Trial, r.Index, r.Round, r.Status, r.Metrics}
	}
	var out []settledTrial
	entries, journal := runs[0].Journal()
	if len(journal) > 0 {
		t.Errorf("journal: %v", journal)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		// A process may die between the result and its line in the journal: then the next trial's start stands for it.
		if e.Event == "trial_started" && !seen[e.Trial] {
			seen[e.Trial] = true
			out = append(out, byID[e.Trial])
		}
	}
	return out
}

// TestKilledAnywhere kills the process of a run, with SIGKILL, at 20 points from its first to its last moment. After
// each, the host's leftovers carry their owner and clean removes them all; the resumed run then equals an undisturbed one.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	undisturbed := t.TempDir()
	points, state := helper(t, undisturbed, 0)
	if !state.Success() || points < 40 {
		t.Fatalf("an undisturbed run: %s, %d points", state, points)
	}
	want := settledTrials(t, undisturbed)
	if len(want) != 4 {
		t.Fatalf("%d trials", len(want))
	}
	const kills = 20
	var midway atomic.Int32
	t.Cleanup(func() {
		if midway.Load() < kills/2 {
			t.Errorf("only %d of the kills met a machine or a volume", midway.Load())
		}
	})
	for n := range kills {
		at := 1 + n*(points-1)/(kills-1)
		t.Run(fmt.Sprintf("point %d of %d", at, points), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			host := &fakeHost{dir: filepath.Join(dir, "host")}
			_, state := helper(t, dir, at)
			if ws := state.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
				t.Fatalf("the run was not killed: %s", state)
			}
			if len(host.left(t)) > 0 {
				midway.Add(1)
			}
			host.clean(t)
			if left := host.left(t); len(left) > 0 {
				t.Errorf("after clean there is still %v", left)
			}
			if _, state := helper(t, dir, 0); !state.Success() {
				t.Fatalf("the resumed run: %s", state)
			}
			if diff := cmp.Diff(want, settledTrials(t, dir)); diff != "" {
				t.Errorf("the resumed run differs from an undisturbed one (-want +got):\n%s", diff)
			}
			if left := host.left(t); len(left) > 0 {
				t.Errorf("the resumed run left %v", left)
			}
		})
	}
}

var _ Host = (*fakeHost)(nil)
var _ Machine = (*fakeMachine)(nil)
