package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"platter/lab"
	"platter/lab/planner"
	"platter/lab/studies"
	"platter/results"
	"platter/results/store"
)

// made says how a run folder of the tests is made up.
type made struct {
	as, cache, kernel, end string  // variable that takes the run's name; facts; done, interrupted, open or killed
	rounds, day, leave     int     // of the plan; of the start; trials left out at the end
	slower                 float64 // factor on all times
	failed                 bool    // the last trial failed; as an option it comes last
}

// parse reads options such as rounds=6 as=BASE.
func (m *made) parse(ts *testscript.TestScript, options []string) {
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		number, err := strconv.ParseFloat(value, 64)
		switch text, known := map[string]*string{"as": &m.as, "cache": &m.cache, "kernel": &m.kernel, "end": &m.end}[name]; {
		case known:
			*text = value
		case err != nil:
			ts.Fatalf("makerun: %s", option)
		case name == "slower":
			m.slower = number
		case name == "failed":
			m.failed = number > 0
		default:
			count := map[string]*int{"rounds": &m.rounds, "day": &m.day, "leave": &m.leave}[name]
			*count, m.failed = int(number), false
		}
	}
}

// makeRun writes a run folder below args[0], as a run on ext4-vs-xfs@smoke would: the real store and the real plan, with
// numbers made up. xfs takes 2 s a trial, ext4 4 s; without options the last trial failed.
func makeRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: makerun RESULTS [OPTION=VALUE...]")
	}
	m := made{as: "RUN", cache: "none", kernel: "6.12", end: "done", rounds: 2, day: 31, slower: 1, failed: true}
	m.parse(ts, args[1:])
	study, src, err := studies.Parse("ext4-vs-xfs@smoke", []string{fmt.Sprintf("rounds=%d", m.rounds)})
	ts.Check(err)
	plan, err := lab.Expand(study, planner.Registry{})
	ts.Check(err)
	text, err := json.Marshal(plan)
	ts.Check(err)
	run, err := store.Create(ts.MkAbs(args[0]), store.CreateSpec{
		Study: plan.Study, Plan: text, PlanDigest: plan.Digest, StudyFiles: map[string][]byte{src.File: src.Data},
		Host: results.HostFacts{Kernel: m.kernel, Arch: "x86_64", CPUs: 2}, Command: []string{"platter", "run", "ext4-vs-xfs@smoke"},
		Now: time.Date(2026, 1, m.day, 2, 15, 0, 0, time.UTC),
	})
	ts.Check(err)
	last := len(plan.Trials) - m.leave
	for i, t := range plan.Trials[:last] {
		dir, err := run.Trial(t.ID, 1)
		ts.Check(err)
		ts.Check(dir.Finish(m.result(run.ID(), plan, t, m.failed && i == last-1)))
	}
	switch m.end {
	case "open":
		ts.Check(run.Log(store.JournalEntry{Event: "trial_started", Trial: plan.Trials[last].ID, Attempt: 1}))
	case "killed": // after its last trial and before its end
	case "done":
		ts.Check(run.Close(store.Done, ""))
	default:
		ts.Check(run.Close(store.Status(m.end), "stopped by a test"))
	}
	ts.Setenv(m.as, run.ID())
}

func (m made) result(run string, p lab.Plan, t lab.Trial, failed bool) results.Result {
	seconds := map[string]float64{"xfs": 2, "ext4": 4}[t.Factors["storage"]] * m.slower * (1 + float64(t.Round)/1000)
	wall, boot, guest, overhead, rate := seconds+10, 7.0, seconds+5, 5.0, 200/seconds
	r := results.Result{
		Schema: results.Schema, RunID: run, Study: p.Study, Scale: p.Scale, Trial: t.Name, TrialID: t.ID, Index: t.Index,
		Round: t.Round, Attempt: 1, Factors: t.Factors, CellID: t.CellID,
		EnvID: results.EnvID(results.HostFacts{Kernel: m.kernel}, "tcg"), SoftwareID: p.Digest,
		StartedAt: time.Date(2026, 1, 31, 2, 15, t.Index, 0, time.UTC), Accel: "tcg", Host: results.HostFacts{Kernel: m.kernel}, Status: results.StatusOK,
		WallSeconds: &wall, BootSeconds: &boot, GuestSeconds: &guest, OverheadSeconds: &overhead,
		Disks:   []results.DiskFacts{{Name: "data", Kind: "file", CacheEffective: m.cache}},
		Metrics: []results.Metric{{Name: "run_seconds", Step: "run", Value: &seconds}, {Name: "queries_per_second", Step: "run", Value: &rate}},
	}
	if failed {
		r.Status, r.Reason, r.ErrorKind, r.Metrics = results.StatusFailed, "the server ended", "job", nil
	}
	return r
}
