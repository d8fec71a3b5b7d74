package main

import (
	"encoding/json"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"platter/lab"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results"
	"platter/results/store"
)

// makeRun writes a run folder below args[0], as a run on ext4-vs-xfs@smoke would: the real store and the real plan, with
// numbers made up. xfs takes 2 s a trial, ext4 4 s; the last trial failed.
func makeRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: makerun RESULTS")
	}
	study, src, err := studies.Parse("ext4-vs-xfs@smoke", nil)
	ts.Check(err)
	plan, err := lab.Expand(study, planner.Registry{})
	ts.Check(err)
	text, err := json.Marshal(plan)
	ts.Check(err)
	run, err := store.Create(ts.MkAbs(args[0]), store.CreateSpec{
		Study: plan.Study, Plan: text, PlanDigest: plan.Digest, StudyFiles: map[string][]byte{src.File: src.Data},
		Host: results.HostFacts{Kernel: "6.12", Arch: "x86_64", CPUs: 2}, Command: []string{"platter", "run", "ext4-vs-xfs@smoke"},
		Now: time.Date(2026, 1, 31, 2, 15, 0, 0, time.UTC),
	})
	ts.Check(err)
	for i, t := range plan.Trials {
		dir, err := run.Trial(t.ID, 1)
		ts.Check(err)
		ts.Check(dir.Finish(madeUp(run.ID(), plan, t, i == len(plan.Trials)-1)))
	}
	ts.Check(run.Close(store.Done, ""))
	ts.Setenv("RUN", run.ID())
}

func madeUp(run string, p lab.Plan, t lab.Trial, failed bool) results.Result {
	seconds := map[string]float64{"xfs": 2, "ext4": 4}[t.Factors["storage"]]
	wall, boot, guest, overhead, rate := seconds+10, 7.0, seconds+5, 5.0, 200/seconds
	r := results.Result{
		Schema: results.Schema, RunID: run, Study: p.Study, Scale: p.Scale, Trial: t.Name, TrialID: t.ID, Index: t.Index,
		Round: t.Round, Attempt: 1, Factors: t.Factors, CellID: t.CellID, EnvID: t.CellID, SoftwareID: t.CellID,
		StartedAt: time.Date(2026, 1, 31, 2, 15, t.Index, 0, time.UTC), Accel: "tcg", Status: results.StatusOK,
		WallSeconds: &wall, BootSeconds: &boot, GuestSeconds: &guest, OverheadSeconds: &overhead,
		Disks:   []results.DiskFacts{{Name: "data", Kind: "file", CacheEffective: "none"}},
		Metrics: []results.Metric{{Name: "run_seconds", Step: "run", Value: &seconds}, {Name: "queries_per_second", Step: "run", Value: &rate}},
	}
	if failed {
		r.Status, r.Reason, r.ErrorKind, r.Metrics = results.StatusFailed, "the server ended", "job", nil
	}
	return r
}
