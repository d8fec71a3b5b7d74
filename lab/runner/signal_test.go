package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/results"
	"platter/results/store"
)

// fakeRun is a run of some trials of the smoke plan on a fake host.
type fakeRun struct {
	host  *fakeHost
	store *store.Run
	left  *Left
	plan  lab.Plan

	silence time.Duration // after which a connection is dead; for a busy machine it is long
}

func newFakeRun(t *testing.T, trials int, setUp func(*fakeGuest)) *fakeRun {
	t.Helper()
	dir := t.TempDir()
	plan, err := smokePlan()
	if err != nil {
		t.Fatal(err)
	}
	plan.Trials = plan.Trials[:trials]
	run, err := openOrCreate(dir, plan)
	if err != nil {
		t.Fatal(err)
	}
	host := &fakeHost{dir: filepath.Join(dir, "host"), setUp: setUp}
	if err := os.Mkdir(host.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &fakeRun{host: host, store: run, left: &Left{}, plan: plan, silence: time.Minute}
}

func (f *fakeRun) carryOut(t *testing.T, ctx context.Context) (Summary, []results.Result, error) {
	t.Helper()
	tag, err := hypervisor.NewTag(f.store.ID())
	if err != nil {
		t.Fatal(err)
	}
	summary, err := Run(ctx, Config{Plan: f.plan, Store: f.store, Host: f.host, Images: emptyImages{}, Tag: tag, Left: f.left,
		KeepaliveEvery: 300 * time.Millisecond, KeepaliveDead: f.silence,
		GuestBinary: func(string) (string, error) { return tinyBinary(f.host.dir + "/..") }})
	var out []results.Result
	for r, problem := range f.store.Results() {
		if problem != nil {
			t.Fatal(problem)
		}
		out = append(out, r)
	}
	if left := f.host.left(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if steps := f.left.Steps(); len(steps) > 0 {
		t.Errorf("clean-up says it still has to %v", steps)
	}
	return summary, out, err
}

// TestFirstSignal: an interrupted run stops its agent, keeps what was told so far, marks the trial and removes everything,
// within the grace however deaf the guest is.
func TestFirstSignal(t *testing.T) {
	for name, deaf := range map[string]bool{"the agent stops": false, "the agent is deaf": true} {
		t.Run(name, func(t *testing.T) {
			stopped := errors.New("stopped by interrupt")
			ctx, cancel := context.WithCancelCause(t.Context())
			var during []string
			var f *fakeRun
			f = newFakeRun(t, 2, func(g *fakeGuest) {
				g.holdBack, g.deafStop = true, deaf
				g.midway = func(*fakeGuest) {
					during = f.left.Steps()
					cancel(stopped)
				}
			})
			old := interruptGrace
			interruptGrace = time.Second
			defer func() { interruptGrace = old }()
			began := time.Now()
			summary, found, err := f.carryOut(t, ctx)
			if !errors.Is(err, stopped) || summary.Interrupted != 1 || len(found) != 1 {
				t.Fatalf("%+v, %v, %d results: a run that was stopped goes on", summary, err, len(found))
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
			r := found[0]
			if r.Status != results.StatusInterrupted || r.Reason != stopped.Error() || len(r.Metrics) > 0 {
				t.Errorf("%s: %s, %d metrics", r.Status, r.Reason, len(r.Metrics))
			}
			events, err := os.ReadFile(filepath.Join(f.store.Path(), "trials", r.TrialID+"-1", store.EventsFile))
			if err != nil || bytes.Count(events, []byte("\n")) < 2 {
				t.Errorf("what was told is not kept: %q, %v", events, err)
			}
			for _, want := range []string{"destroy the machine of " + r.TrialID, "remove the volume of disk data of " + r.TrialID, "remove the run's volumes"} {
				if !slices.Contains(during, want) {
					t.Errorf("during the trial what is left lacks %q: %v", want, during)
				}
			}
		})
	}
}
