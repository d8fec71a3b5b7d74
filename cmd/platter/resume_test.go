package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"platter/lab"
	"platter/results"
	"platter/results/store"
)

// TestHostChanges: what a resumed run finds changed on its host is named, and nothing else.
func TestHostChanges(t *testing.T) {
	then := results.HostFacts{Kernel: "6.12.48", CPUs: 2, MemoryBytes: 8 << 30, QEMUVersion: "10.0.3", PlatterVersion: "a"}
	run, err := store.Create(t.TempDir(), store.CreateSpec{Study: "s", PlanDigest: digestOfNothing, Host: then, Plan: []byte(
		`{"schema":"platter.plan/1","study":"s","question":"q","digest":"` + digestOfNothing + `","seed":1,"rounds":1,"factors":[],"trials":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	now := then
	if changes, err := hostChanges(run, now); err != nil || len(changes) > 0 {
		t.Errorf("the same host: %v, %v", changes, err)
	}
	now.Kernel, now.CPUs, now.PlatterVersion = "6.12.51", 4, ""
	changes, err := hostChanges(run, now)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"kernel 6.12.48 became 6.12.51", "cpus 2 became 4", `platter_version a became ""`}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// TestSettledProgress: trials that are settled already count as done, and not towards the time that is left.
func TestSettledProgress(t *testing.T) {
	p := steady()
	p.settled = 2
	for _, e := range []lab.RunEvent{
		{Kind: lab.TrialStarted, Index: 3, Total: 4},
		{Kind: lab.TrialEnded, Index: 3, Total: 4, Status: results.StatusOK},
	} {
		p.apply(e)
	}
	if rest, _ := p.left(); p.fraction() != 0.75 || rest.Minutes() != 1 {
		t.Errorf("%v done and %v left, want 0.75 and a minute", p.fraction(), rest)
	}
}
