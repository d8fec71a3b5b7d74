package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/lab/remote"
	"platter/results"
	"platter/results/store"
)

// Config is everything a run needs. Store is open for writing, new or resumed; the caller closes it.
type Config struct {
	Plan        lab.Plan
	Store       *store.Run
	Host        Host
	Images      Images
	GuestBinary func(arch string) (path string, err error) // see FindGuestBinary
	Events      func(lab.RunEvent)                         // called from one goroutine at a time; may be nil
	Log         *slog.Logger
	Tag         domain.Tag   // Run and Trial are filled in
	Passthrough *Passthrough // nil: the plan hands over no real disks
	Left        *Left        // told what is not undone yet; may be nil

	// How guests are asked whether they live, and how long they may be silent; 0 means lab/remote's own.
	KeepaliveEvery, KeepaliveDead time.Duration
}

// Summary counts the ends of a run's trials, those that an earlier process of it settled too.
type Summary struct {
	OK, Failed, Invalid, Skipped, Lost, Interrupted int
	NotBooted                                       int   // of the lost ones
	CleanupErr                                      error // what could not be removed
}

// run is the state of one Run.
type run struct {
	Config
	info     hypervisor.Info
	accel    domain.Accel
	keys     remote.Keys
	short    string // random, makes domain names unique on the host
	staged   map[string]stagedImage
	guest    guestBinary
	previous string
	earlier  map[string]store.Progress // by trial id; empty in a new run
	summary  Summary
}

// Run carries out the plan's trials in order, but for those that the folder of a resumed run has settled. A trial that
// our own rig lost, or that a rule made invalid, is tried once more at the end of its round. It returns an error when the
// run could not go on; the summary is valid even then.
func Run(ctx context.Context, c Config) (Summary, error) {
	r := &run{Config: c, staged: map[string]stagedImage{}}
	if r.Events == nil {
		r.Events = func(lab.RunEvent) {}
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	r.takeUp()
	undo := cleanup{log: r.Log, left: r.Left}
	err := r.all(ctx, &undo)
	r.summary.CleanupErr = undo.run(ctx)
	return r.summary, err
}

func (r *run) all(ctx context.Context, undo *cleanup) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	undo.add("remove the run's volumes", func(context.Context) error {
		return r.Host.RemoveRun(r.Store.ID())
	})
	for _, round := range rounds(r.Plan.Trials) {
		again, err := r.pass(ctx, round, 1)
		if err != nil {
			return err
		}
		if _, err := r.pass(ctx, again, 2); err != nil {
			return err
		}
	}
	return nil
}

// prepare does once what all trials share.
func (r *run) prepare(ctx context.Context) error {
	var err error
	if r.info, err = r.Host.Info(ctx); err != nil {
		return &lab.InfraError{What: "ask the hypervisor", Err: err}
	}
	if r.accel, err = r.Host.Accel(ctx, policy(r.Plan)); err != nil {
		return &lab.InputError{Err: err}
	}
	if r.guest, err = readGuestBinary(r.GuestBinary, r.info.Arch); err != nil {
		return &lab.InputError{Err: err}
	}
	if r.keys, err = remote.NewKeys(); err != nil {
		return &lab.InfraError{What: "make the run's keys", Err: err}
	}
	random := make([]byte, 4)
	rand.Read(random)
	r.short = hex.EncodeToString(random)
	return r.stageImages(ctx)
}

// policy is the accelerator the plan asks for; all its trials share one machine definition.
func policy(p lab.Plan) string {
	if len(p.Trials) > 0 && p.Trials[0].Machine.Accel != "" {
		return p.Trials[0].Machine.Accel
	}
	return "auto"
}

// pass runs trials in order, for the nth time, and returns those worth another attempt.
func (r *run) pass(ctx context.Context, trials []lab.Trial, nth int) ([]lab.Trial, error) {
	var again []lab.Trial
	for _, t := range trials {
		if r.skip(t) {
			continue
		}
		result, err := r.one(ctx, t, r.attempt(t, nth))
		if err != nil {
			return again, err
		}
		if result.Status == results.StatusLost || result.Status == results.StatusInvalid {
			if nth == 1 {
				again = append(again, t)
				continue // counted when its last attempt ends
			}
		}
		r.summary.count(result)
		if err := ctx.Err(); err != nil {
			return again, context.Cause(ctx)
		}
	}
	return again, nil
}

// one runs a trial and keeps its result. It returns an error only when the run cannot go on.
func (r *run) one(ctx context.Context, t lab.Trial, attempt int) (results.Result, error) {
	dir, err := r.Store.Trial(t.ID, attempt)
	if err != nil {
		return results.Result{}, &lab.InfraError{What: "make the trial's folder", Err: err}
	}
	if err := r.Store.Log(store.JournalEntry{Event: "trial_started", Trial: t.ID, Attempt: attempt}); err != nil {
		return results.Result{}, &lab.InfraError{What: "write the journal", Err: err}
	}
	r.emit(lab.RunEvent{Kind: lab.TrialStarted, Trial: t.Name, TrialID: t.ID, Index: t.Index + 1, Attempt: attempt})
	started := time.Now()
	tr := &trial{run: r, Trial: t, dir: dir, attempt: attempt, started: started}
	result := tr.carryOut(ctx)
	if result, err = tr.finish(result); err != nil {
		return result, &lab.InfraError{What: "keep the result of " + t.Name, Err: err}
	}
	entry := store.JournalEntry{Event: "trial_ended", Trial: t.ID, Attempt: attempt, Status: string(result.Status), Reason: result.Reason}
	if err := r.Store.Log(entry); err != nil {
		return result, &lab.InfraError{What: "write the journal", Err: err}
	}
	r.previous = t.ID
	r.emit(lab.RunEvent{Kind: lab.TrialEnded, Trial: t.Name, TrialID: t.ID, Index: t.Index + 1, Attempt: attempt,
		Status: result.Status, Message: result.Reason, Seconds: result.WallSeconds})
	return result, nil
}

func (r *run) emit(e lab.RunEvent) {
	e.Time = time.Now()
	e.Run = r.Store.ID()
	e.Total = len(r.Plan.Trials)
	r.Events(e)
}

// rounds splits trials, which are in order, where the round changes.
func rounds(trials []lab.Trial) [][]lab.Trial {
	var out [][]lab.Trial
	for i, t := range trials {
		if i == 0 || t.Round != trials[i-1].Round {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], t)
	}
	return out
}

// kindOf names the kind of an error as results keep it.
func kindOf(err error) string {
	var boot *lab.BootError
	var job *lab.JobError
	switch {
	case errors.As(err, &boot):
		return "boot"
	case errors.As(err, &job):
		return "job"
	}
	return "infra"
}

// Err says in one error what a summary means for the run: nil when every trial gave a valid result or a reasoned skip.
func (s Summary) Err() error {
	if bad := s.Failed + s.Invalid + s.Lost + s.Interrupted; bad > 0 {
		return fmt.Errorf("%d of %d trials gave no valid result (%d failed, %d invalid, %d lost, %d interrupted)", bad, s.Total(), s.Failed, s.Invalid, s.Lost, s.Interrupted)
	}
	return nil
}

// Total is the number of trials that ended.
func (s Summary) Total() int {
	return s.OK + s.Failed + s.Invalid + s.Skipped + s.Lost + s.Interrupted
}

func (s *Summary) count(r results.Result) {
	switch r.Status {
	case results.StatusOK:
		s.OK++
	case results.StatusFailed:
		s.Failed++
	case results.StatusInvalid:
		s.Invalid++
	case results.StatusSkipped:
		s.Skipped++
	case results.StatusLost:
		s.Lost++
		if r.ErrorKind == "boot" {
			s.NotBooted++
		}
	case results.StatusInterrupted:
		s.Interrupted++
	}
}
