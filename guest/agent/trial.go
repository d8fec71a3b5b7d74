package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"platter/guest"
	"platter/guest/sampler"
	"platter/guest/server"
	"platter/guest/storage"
	"platter/results"
)

// trial is one job being carried out.
type trial struct {
	job guest.Job
	dir string
	sys System
	log *slog.Logger
	ex  *Exec
	enc *guest.Encoder

	began clocks
	phase string

	disks    map[string]BlockDevice
	fs       storage.Filesystem
	assembly storage.Assembly
	place    storage.Place
	facts    results.StorageFacts

	root         string // where the server image is mounted
	server       *server.Server
	closesServer bool   // the clean-up knows of it
	class        string // durability class, "" before it is known
	sampler      *sampler.Sampler
	source       *sampler.Source

	recovery *recovery // of the crash there was; nil while there was none

	invalid []string // rules of the method that reject the trial
	undo    []undo
}

// undo is one clean-up, run in reverse order of its adding.
type undo struct {
	name string
	fn   func(context.Context) error
}

func (t *trial) onExit(name string, fn func(context.Context) error) {
	t.undo = append(t.undo, undo{name, fn})
}

// undoAll runs every clean-up even when one fails. Its errors count only after a trial that went well:
// else they would hide the first fault, and are logged.
func (t *trial) undoAll(ctx context.Context, failed bool) error {
	var errs error
	for _, u := range slices.Backward(t.undo) {
		if err := t.step(ctx, -1, u.name, u.fn); err != nil {
			t.log.Error("clean-up", "step", u.name, "error", err)
			errs = errors.Join(errs, err)
		}
	}
	t.undo = nil
	if failed {
		return nil
	}
	return errs
}

// phases are the agent's own work around the steps.
func (t *trial) phases(ctx context.Context) error {
	anew := t.job.Resume == nil
	for _, p := range []struct {
		name string
		fn   func(context.Context) error
		when bool
	}{
		{"preflight", t.preflight, true},
		{"find disks", t.findDisks, true},
		{"guard", t.guard, anew},
		{"precondition", t.precondition, anew && t.preconditions()},
		{"probe before", t.probeBefore, anew && len(t.job.Probes) > 0},
		{"server image", t.mountServer, t.hasServer()},
		{"layout", t.layout, true},
		{"mkfs", t.mkfs, anew},
		{"mount", t.mount, anew},
		{"read back", t.readBack, anew},
		{"quiesce", t.quiesce, anew},
		{"server init", t.initServer, anew && t.hasServer()},
		{"server start", t.startServer, anew && t.hasServer()},
		{"recovery", t.recover, !anew},
		{"steps", t.steps, true},
		{"server facts", t.serverFacts, t.hasServer()},
		{"server stop", t.stopServer, t.hasServer()},
		{"facts after", t.factsAfter, true},
		{"probe after", t.probeAfter, len(t.job.Probes) > 0},
	} {
		if !p.when {
			continue
		}
		if err := t.do(ctx, p.name, p.fn); err != nil {
			return err
		}
	}
	return nil
}

// do runs one phase between its two events.
func (t *trial) do(ctx context.Context, name string, fn func(context.Context) error) error {
	t.phase = name
	return t.step(ctx, -1, name, fn)
}

func (t *trial) step(ctx context.Context, index int, name string, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := t.enc.Encode(guest.Event{Step: &guest.StepEvent{Index: index, Name: name, State: "started"}}); err != nil {
		return err
	}
	begin := time.Now()
	err := fn(ctx)
	took := time.Since(begin).Seconds()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	ev := guest.StepEvent{Index: index, Name: name, State: "ended", Seconds: &took}
	if err != nil {
		ev.Error = clip(err.Error(), guest.MaxMessageBytes)
	}
	return errors.Join(err, t.enc.Encode(guest.Event{Step: &ev}))
}

func (t *trial) measure(m guest.Measurement) error {
	return t.enc.Encode(guest.Event{Measurement: &m})
}

func (t *trial) flag(name, format string, args ...any) {
	t.measure(guest.Measurement{Flags: []results.Flag{{Name: name, Detail: fmt.Sprintf(format, args...)}}})
}

func (t *trial) say(level, format string, args ...any) {
	m := clip(fmt.Sprintf(format, args...), guest.MaxMessageBytes)
	t.log.Info(m, "level", level)
	t.enc.Encode(guest.Event{Log: &guest.Log{Level: level, Message: m}})
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

func (t *trial) hasServer() bool { return t.job.Server.Serial != "" }
