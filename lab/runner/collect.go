package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"platter/guest"
	"platter/lab"
	"platter/results"
	"platter/results/store"
)

// collected is what the guest has said so far.
type collected struct {
	decoder    *guest.Decoder
	lines      *store.Lines
	hello      *guest.Hello
	done       *guest.Done
	guestSteps []results.StepResult
	learnt     guest.Measurement
	flags      []results.Flag
	announced  map[string]bool
	probes     []results.Probe

	told         int              // entries, see maxTold
	current      *guest.StepEvent // what the guest began last
	behind       float64          // least seconds of the guest's clock behind the trial's
	lastSeconds  float64          // of the last event, by the guest's
	acknowledged []int64          // commits by client, of a step crash
}

// line takes one line of the guest, keeps it and learns from it.
func (t *trial) line(line []byte) error {
	event, err := t.decoder.Line(line)
	if err != nil {
		return &lab.InfraError{What: "read the guest's events", Err: err}
	}
	if len(t.identities) > 0 {
		line = []byte(t.hide(string(line)))
	}
	if err := t.lines.Append(json.RawMessage(line)); err != nil {
		return &lab.InfraError{What: "keep the guest's events", Err: err}
	}
	if t.told += entries(event); t.told > maxTold {
		return &lab.InfraError{What: "read the guest's events", Err: fmt.Errorf("the guest told more than %d steps and values, which no job does", maxTold)}
	}
	t.lastSeconds = event.Seconds
	if event.Crash != nil {
		return t.takeCrash(event.Crash)
	}
	t.take(event)
	return nil
}

// maxTold bounds what a trial's guest can make us remember; its events are bounded by their file as well.
const maxTold = guest.MaxCollection

// entries counts what an event adds to what is remembered of its trial.
func entries(e guest.Event) int {
	switch m := e.Measurement; {
	case e.Step != nil:
		return 1
	case m != nil:
		return len(m.Disks) + len(m.Settings) + len(m.Metrics) + len(m.Histograms) + len(m.Probes) + len(m.Flags)
	}
	return 0
}

func (t *trial) take(e guest.Event) {
	defer func() { t.clocks(e.Seconds, e.Done != nil) }()
	switch {
	case e.Hello != nil:
		t.hello, t.behind = e.Hello, math.Inf(1)
	case e.Step != nil:
		t.takeStep(e.Step)
	case e.Progress != nil:
		p := e.Progress
		t.emit(lab.RunEvent{Kind: lab.PhaseDone, Trial: t.Name, TrialID: t.ID, Index: t.Index + 1, Phase: p.Step, Done: p.Done, Of: p.Total, Unit: p.Unit})
	case e.Acknowledged != nil:
		t.acknowledged = e.Acknowledged.Commits
	case e.Log != nil:
		t.emit(lab.RunEvent{Kind: lab.LogLine, Trial: t.Name, TrialID: t.ID, Index: t.Index + 1, Level: e.Log.Level, Message: e.Log.Message})
	case e.Measurement != nil:
		t.learn(*e.Measurement)
	case e.File != nil:
		if t.announced == nil {
			t.announced = map[string]bool{}
		}
		t.announced[e.File.Name] = true
	case e.Done != nil:
		t.done = e.Done
	}
}

func (t *trial) takeStep(s *guest.StepEvent) {
	if s.State == "started" {
		t.current = s
		t.phase(s.Name)
		return
	}
	t.guestSteps = append(t.guestSteps, results.StepResult{Index: s.Index, Name: s.Name, Seconds: s.Seconds, Error: s.Error})
}

// learn merges a measurement: later facts replace earlier ones, lists grow.
func (t *trial) learn(m guest.Measurement) {
	l := &t.learnt
	for _, d := range m.Disks {
		t.learnDisk(d)
	}
	if m.Storage != nil && t.resume == nil { // after a crash the filesystem is that of the first machine
		l.Storage = m.Storage
	}
	if m.Server != nil {
		l.Server = m.Server
	}
	if m.Durability != "" {
		l.Durability = m.Durability
	}
	for _, setting := range m.Settings {
		l.Settings = replaceSetting(l.Settings, setting)
	}
	l.Metrics = append(l.Metrics, m.Metrics...)
	l.Histograms = append(l.Histograms, m.Histograms...)
	l.Probes = append(l.Probes, m.Probes...)
	for _, flag := range m.Flags {
		t.flag(flag)
	}
}

// replaceSetting keeps one row a setting: what was in force last.
func replaceSetting(all []results.Setting, s results.Setting) []results.Setting {
	for i := range all {
		if all[i].Subject == s.Subject && all[i].Name == s.Name {
			all[i] = s
			return all
		}
	}
	return append(all, s)
}

// flag marks the result, once for each thing to know.
func (t *trial) flag(f results.Flag) {
	if !slices.Contains(t.flags, f) {
		t.flags = append(t.flags, f)
	}
}

// learnDisk adds what the guest found to what the host made; the host's own facts stay.
func (t *trial) learnDisk(d results.DiskFacts) {
	for i := range t.disks {
		if t.disks[i].Name != d.Name {
			continue
		}
		have := &t.disks[i]
		have.KernelName, have.Model = d.KernelName, d.Model
		have.LogicalBlockBytes, have.PhysicalBlockBytes, have.Rotational = d.LogicalBlockBytes, d.PhysicalBlockBytes, d.Rotational
		if d.SizeBytes != 0 && d.SizeBytes != have.SizeBytes {
			t.flag(results.Flag{Name: "asked_not_effective",
				Detail: fmt.Sprintf("disk %s: made with %d bytes, the guest sees %d", d.Name, have.SizeBytes, d.SizeBytes)})
		}
	}
}

// doneError turns the guest's own verdict into the kind of error it is; nil for a job that went well.
func (t *trial) doneError(ctx context.Context) error {
	switch t.done.Status {
	case results.StatusOK, results.StatusSkipped, results.StatusInvalid:
		return nil
	case results.StatusInterrupted:
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return &lab.InfraError{What: "the guest agent was stopped", Err: errInterrupted}
	case results.StatusLost:
		return &lab.InfraError{What: "guest", Err: errors.New(t.done.Reason)}
	}
	return &lab.JobError{Reason: t.done.Reason, Evidence: t.done.Evidence}
}

// setting records a value as asked and as in force on the host's side.
func (t *trial) setting(subject, name, asked, effective string) {
	s := results.Setting{Subject: subject, Name: name}
	if asked != "" {
		s.Asked = &asked
	}
	if effective != "" {
		s.Effective = &effective
	}
	t.settings = append(t.settings, s)
}
