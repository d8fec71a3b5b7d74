package runner

import (
	"context"
	"testing"

	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results"
)

// TestCrashCheck carries out the smallest part of the shipped study that shows both kinds of crash, a loss where one is
// expected and none where none is.
func TestCrashCheck(t *testing.T) {
	needVM(t)
	host, err := hypervisor.Open(t.Context(), hypervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	study, _, err := studies.Parse("crash-check@smoke", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lab.Expand(study, planner.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	binary := guestPath(t)
	two := make(chan struct{}, 2)
	for id, lossy := range map[string]bool{
		"002-ext4-flush-1-innodb-power-cut/1":           false,
		"005-ext4-flush-2-innodb-kill/1":                true,
		"008-ext4-nobarrier-flush-1-innodb-power-cut/1": true,
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			two <- struct{}{}
			defer func() { <-two }()
			crashCheck(t, host, plan, id, lossy, binary)
		})
	}
}

func crashCheck(t *testing.T, host *hypervisor.Host, plan lab.Plan, id string, lossy bool, binary string) {
	var planned []lab.Trial
	for _, trial := range plan.Trials {
		if trial.ID == id {
			planned = append(planned, trial)
		}
	}
	if len(planned) != 1 {
		t.Fatalf("the plan has %d trials %s", len(planned), id)
	}
	plan.Trials, plan.Study = planned, "crash-"+id[:3]
	kept, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	folder := newFolder(t, plan)
	tag, err := hypervisor.NewTag(folder.ID())
	if err != nil {
		t.Fatal(err)
	}
	summary, err := Run(context.Background(), Config{Plan: plan, Store: folder, Host: NewHost(host), Images: catalogue{kept, nil}, Tag: tag, Log: testLog(t),
		GuestBinary: func(string) (string, error) { return binary, nil }})
	if err != nil || summary.CleanupErr != nil {
		t.Fatalf("%v, clean-up %v", err, summary.CleanupErr)
	}
	for r, err := range folder.Results() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == results.StatusLost && r.Attempt == 1 {
			t.Logf("lost and tried again: %s\n%s", r.Reason, r.Evidence)
			continue
		}
		if r.Status != results.StatusOK {
			t.Errorf("%s: %s\n%s", r.Status, r.Reason, r.Evidence)
			continue
		}
		acknowledged, lost := metric(t, r, "acknowledged_total"), metric(t, r, "lost_total")
		t.Logf("durability %s: %v acknowledged, %v lost, flags %v", r.Durability, acknowledged, lost, r.Flags)
		if acknowledged < 10 || lossy != (lost > 0) {
			t.Errorf("of %v acknowledged commits %v were lost; a loss is expected: %v", acknowledged, lost, lossy)
		}
		for _, f := range r.Flags {
			if f.Name == "durability_broken" {
				t.Errorf("%s", f.Detail)
			}
		}
	}
}

func metric(t *testing.T, r results.Result, name string) float64 {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name && m.Value != nil {
			return *m.Value
		}
	}
	t.Errorf("no %s", name)
	return -1
}
