package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"platter/guest"
	"platter/results"
)

// Names of files in the agent's directory that are not among guest.Files.
const (
	EventsFile = "events.jsonl"
	PidFile    = "agent.pid"
)

// ErrStopped is the cause of a context that Stop's signal ended.
var ErrStopped = errors.New("stopped by signal")

// cleanUpLimit bounds the clean-up after a trial that did not end well.
const cleanUpLimit = 5 * time.Minute

// Run carries out the job in jobFile and tells it in dir/events.jsonl, from Hello to Done whatever
// happens; a job it cannot read or that another build wrote is told too. It logs to log. The error is
// one that kept it from telling; everything else is in Done.
func Run(ctx context.Context, jobFile, dir string, log io.Writer) error {
	survive()
	return run(ctx, System{Root: "/"}, jobFile, dir, log)
}

func run(ctx context.Context, sys System, jobFile, dir string, log io.Writer) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the agent's directory: %w", err)
	}
	events, err := os.OpenFile(filepath.Join(dir, EventsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the event stream (one job a directory): %w", err)
	}
	defer events.Close()
	if err := writePid(dir); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	t := &trial{
		dir: dir, sys: sys, log: logger, ex: &Exec{Log: logger}, enc: guest.NewEncoder(events),
		began: sys.clocks(),
	}
	return t.tell(ctx, jobFile)
}

// tell says Hello, does the work and says Done.
func (t *trial) tell(ctx context.Context, jobFile string) error {
	hello := guest.Hello{Protocol: guest.Protocol, Build: guest.Build(), Facts: t.sys.Facts()}
	if err := t.enc.Encode(guest.Event{Hello: &hello}); err != nil {
		return err
	}
	job, err := readJob(jobFile)
	if err != nil {
		return t.enc.Encode(guest.Event{Done: &guest.Done{Status: results.StatusLost, Reason: err.Error(), GuestSeconds: t.enc.Seconds()}})
	}
	t.job = job
	err = t.carryOut(ctx)
	t.announceFiles()
	done := t.outcome(err)
	return t.enc.Encode(guest.Event{Done: &done})
}

func readJob(name string) (guest.Job, error) {
	f, err := os.Open(name)
	if err != nil {
		return guest.Job{}, fmt.Errorf("read job: %w", err)
	}
	defer f.Close()
	job, err := guest.DecodeJob(f)
	if err == nil && job.Build != guest.Build() {
		err = &guest.MismatchError{What: "build", Ours: guest.Build(), Theirs: job.Build}
	}
	return job, err
}

// carryOut does the phases, then undoes what was done, in reverse and under its own deadline. A panic of
// ours becomes an error, so that the stream still ends with Done.
func (t *trial) carryOut(ctx context.Context) (err error) {
	clean := context.WithoutCancel(ctx)
	if s := t.job.DeadlineSeconds; s > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, seconds(s), &DeadlineError{Seconds: s})
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("panic", "value", p, "stack", string(debug.Stack()))
			err = &LostError{fmt.Errorf("the agent broke in phase %s: %v", t.phase, p)}
		}
		bounded, cancel := context.WithTimeout(clean, cleanUpLimit)
		defer cancel()
		err = errors.Join(err, t.undoAll(bounded, err != nil || t.broken()))
	}()
	return t.phases(ctx)
}

// DeadlineError says that the whole job took too long.
type DeadlineError struct{ Seconds float64 }

// Error names the deadline.
func (e *DeadlineError) Error() string {
	return fmt.Sprintf("the job's deadline of %g s passed", e.Seconds)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
