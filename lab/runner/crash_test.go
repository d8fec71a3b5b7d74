package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platter/guest"
	"platter/results"
	"platter/results/store"
)

// crashSteps are those of a crash check.
var crashSteps = []guest.Step{{Do: "prepare", Name: "prepare"}, {Do: "crash", Name: "crash"}, {Do: "verify", Name: "verify"}}

// untilCrash tells of two acknowledgements, and then asks for the machine's end in the named step.
func untilCrash(index int) func(*guest.Encoder) {
	return func(e *guest.Encoder) {
		e.Encode(guest.Event{Step: &guest.StepEvent{Index: index, Name: "crash", State: "started"}})
		e.Encode(guest.Event{Acknowledged: &guest.Acknowledged{Step: "crash", Commits: []int64{3, 4}}})
		e.Encode(guest.Event{Acknowledged: &guest.Acknowledged{Step: "crash", Commits: []int64{5, 6}}})
		e.Encode(guest.Event{Crash: &guest.Crash{Step: "crash"}})
	}
}

// TestCrash: a guest that asks for it loses its machine; the next one gets the same disks, no new volume, and is told
// where to go on and what was acknowledged. Both conversations are kept, and the trial is one.
func TestCrash(t *testing.T) {
	var guests []*fakeGuest
	f := newFakeRun(t, 1, func(g *fakeGuest) {
		guests = append(guests, g)
		if len(guests) == 1 {
			g.script = untilCrash(1)
			return
		}
		if _, err := os.Stat(guests[0].machine.path); err == nil {
			t.Error("the first machine is still there when the second starts")
		}
	})
	f.plan.Trials[0].Job.Steps = crashSteps
	_, found, err := f.carryOut(t, t.Context())
	if err != nil || len(found) != 1 || len(guests) != 2 {
		t.Fatalf("%d results of %d machines, %v", len(found), len(guests), err)
	}
	if r := found[0]; r.Status != results.StatusOK || len(r.Metrics) != 1 {
		t.Errorf("%s: %s, %d metrics", r.Status, r.Reason, len(r.Metrics))
	}
	if guests[0].job.Resume != nil {
		t.Errorf("the first machine resumes %+v", guests[0].job.Resume)
	}
	if r := guests[1].job.Resume; r == nil || r.Step != 2 || !slices.Equal(r.Acknowledged, []int64{5, 6}) {
		t.Errorf("the second machine resumes %+v", r)
	}
	dir := filepath.Join(f.store.Path(), "trials", f.plan.Trials[0].ID+"-1")
	events, err := os.ReadFile(filepath.Join(dir, store.EventsFile))
	if err != nil || bytes.Count(events, []byte(`{"type":"hello"`)) != 2 || bytes.Count(events, []byte(`{"type":"done"`)) != 1 {
		t.Errorf("events are not both conversations: %s, %v", events, err)
	}
	for _, name := range []string{"logs/console.log", "logs/console-resumed.log", "effective/job.json", "effective/job-resumed.json", "effective/domain-resumed.xml"} {
		if !slices.Contains(found[0].Files, name) {
			t.Errorf("%s is not kept: %v", name, found[0].Files)
		}
	}
	if err := f.store.Close(store.Done, ""); err != nil {
		t.Fatal(err)
	}
	if problems := f.store.Verify(); len(problems) > 0 {
		t.Errorf("verify: %v", problems)
	}
}

// TestCrashUnasked: a guest cannot have its machine ended where its job does not say so, nor twice for one step.
func TestCrashUnasked(t *testing.T) {
	for name, c := range map[string]struct {
		steps  []guest.Step
		index  int
		always bool
	}{
		"no such step":  {crashSteps[:1], 0, false},
		"another step":  {crashSteps, 2, false},
		"a phase":       {crashSteps, -1, false},
		"out of bounds": {crashSteps, 7, false},
		"twice":         {crashSteps, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeRun(t, 1, func(g *fakeGuest) { g.script = untilCrash(c.index) })
			f.plan.Trials[0].Job.Steps = c.steps
			_, found, err := f.carryOut(t, t.Context())
			if err != nil || len(found) != 2 {
				t.Fatalf("%d results, %v", len(found), err)
			}
			for _, r := range found {
				if r.Status != results.StatusLost || !strings.Contains(r.Reason, "a crash is asked for in ") {
					t.Errorf("%s: %s", r.Status, r.Reason)
				}
			}
		})
	}
}
