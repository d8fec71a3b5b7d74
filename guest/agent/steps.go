package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"platter/guest"
	"platter/guest/sampler"
	"platter/guest/workload"

	"golang.org/x/sys/unix"
)

// reading is a short name for what the sampler reads.
type reading = sampler.Reading

// maxSampleGapSeconds is the longest silence of the sampler a trial survives, also under emulation: with ten times as much
// work on the host as it has processors the longest of 13 trials was 2.1 s.
const maxSampleGapSeconds = 5.0

// decodeSteps checks every step before anything is written.
func (t *trial) decodeSteps() error {
	var errs []error
	for i, s := range t.job.Steps {
		if _, err := t.workloadOf(s); err != nil {
			errs = append(errs, fmt.Errorf("step %d (%s): %w", i, s.Do, err))
		}
	}
	return errors.Join(errs...)
}

// workloadOf decodes the workload of a step; nil when the step has none.
func (t *trial) workloadOf(s guest.Step) (workload.Workload, error) {
	switch s.Do {
	case "prepare", "warmup", "run", "cleanup":
		if !t.hasServer() {
			return nil, errors.New("the job has no server")
		}
		return workload.Decode(s.Workload, s.Options)
	case "crash", "verify":
		if !t.hasServer() {
			return nil, errors.New("the job has no server")
		}
		return crasherOf(s)
	case "restart", "stop", "start":
		if !t.hasServer() {
			return nil, errors.New("the job has no server")
		}
		return nil, nil
	case "sleep", "drop_caches":
		return nil, nil
	case "fill":
		_, err := decodeFill(s.Options)
		return nil, err
	}
	return nil, fmt.Errorf("unknown step %q; there are prepare, warmup, run, crash, verify, cleanup, restart, stop, start, sleep, drop_caches, fill", s.Do)
}

// needs is what the job's workloads take of the server.
func (t *trial) needs() workload.Needs {
	var all []workload.Needs
	for _, s := range t.job.Steps {
		if w, err := t.workloadOf(s); err == nil && w != nil {
			all = append(all, w.Needs())
		}
	}
	return workload.Total(all...)
}

// steps runs the job's steps under the sampler.
func (t *trial) steps(ctx context.Context) (err error) {
	if len(t.job.Steps) == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(t.dir, "samples.csv"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open samples: %w", err)
	}
	defer f.Close()
	options := sampler.Options{Period: seconds(t.job.SampleSeconds)}
	options.More = t.moreSamples(nil)
	if t.server != nil && !t.broken() {
		db, err := t.server.DB(1)
		if err != nil {
			return err
		}
		defer db.Close()
		options.More = t.moreSamples(statusReader{db}.read)
	}
	ctx, stopWatching := t.watchRoom(ctx)
	defer stopWatching()
	if t.sampler, err = sampler.Start(f, t.source, options); err != nil {
		return err
	}
	defer func() {
		summary, stopErr := t.sampler.Stop()
		if summary.MaxGapSeconds > maxSampleGapSeconds {
			t.invalid = append(t.invalid, fmt.Sprintf("the sampler was silent for %.1f s", summary.MaxGapSeconds))
		}
		err = errors.Join(err, stopErr)
	}()
	for i, s := range t.job.Steps {
		if i < t.firstStep() {
			continue
		}
		name := s.Name
		if name == "" {
			name = s.Do
		}
		t.phase = "step " + name
		t.sampler.Step(name)
		err := t.step(ctx, i, name, func(ctx context.Context) error { return t.measured(ctx, s, name) })
		t.sampler.Step("")
		if err != nil {
			return fmt.Errorf("step %s: %w", name, err)
		}
	}
	return nil
}

// measured runs a step between two readings of the counters.
func (t *trial) measured(ctx context.Context, s guest.Step, name string) error {
	before, err := t.source.Read()
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := t.perform(ctx, s, name); err != nil {
		return err
	}
	took := time.Since(begin).Seconds()
	after, err := t.source.Read()
	if err != nil {
		return err
	}
	return t.measure(guest.Measurement{Metrics: sampler.Usage(name, before, after, took)})
}

func (t *trial) perform(ctx context.Context, s guest.Step, name string) error {
	switch s.Do {
	case "sleep":
		return pause(ctx, seconds(s.Seconds))
	case "restart":
		err := t.server.Restart(ctx)
		t.exposeServer()
		return err
	case "stop":
		return t.server.Stop(ctx)
	case "start":
		err := t.server.Start(ctx)
		t.exposeServer()
		return err
	case "drop_caches":
		return t.dropCaches(ctx)
	case "fill":
		o, err := decodeFill(s.Options)
		if err != nil {
			return err
		}
		return t.fill(ctx, o)
	case "crash":
		return t.crash(ctx, s, name)
	case "verify":
		return t.verify(ctx, s, name)
	}
	w, err := t.workloadOf(s)
	if err != nil {
		return err
	}
	session := t.session(name)
	switch s.Do {
	case "prepare":
		if faults := w.Check(t.workplace()); len(faults) > 0 {
			return errors.Join(faults...)
		}
		err = w.Prepare(ctx, session)
	case "warmup":
		err = w.Warmup(ctx, session)
	case "run":
		err = w.Run(ctx, session)
	case "cleanup":
		err = w.Cleanup(ctx, session)
	}
	return err
}

// session is what a workload gets for one step.
func (t *trial) session(name string) *workload.Session {
	return &workload.Session{
		Connect: t.server.Connect, Exited: t.server.Exited(), ExitErr: t.server.ExitErr,
		Seed: t.job.Seed, Step: name, Flavour: t.server.Product().Flavour,
		Emit: func(m guest.Measurement) {
			if err := t.measure(m); err != nil {
				t.say("error", "a measurement of step %s was dropped: %v", name, err)
				t.invalid = append(t.invalid, fmt.Sprintf("a measurement of step %s could not be told: %v", name, err))
			}
		},
		Progress: func(p guest.Progress) { t.enc.Encode(guest.Event{Progress: &p}) },
		Log:      func(l guest.Log) { t.say(l.Level, "%s", l.Message) },
		Sample:   func(s workload.Sample) { t.sampler.Add("workload", s.Values) },
	}
}

// workplace is what the workload's own check may know of where it runs.
func (t *trial) workplace() workload.Place {
	p := workload.Place{
		Flavour: t.server.Product().Flavour, Version: t.server.Product().Version,
		MaxFileBytes: t.fs.MaxFile, Filesystem: t.fs.Name,
	}
	var st unix.Statfs_t
	if err := unix.Statfs(t.place.Dir, &st); err == nil {
		p.DiskBytes = int64(st.Bavail) * int64(st.Frsize)
	}
	return p
}

// dropCaches empties the kernel's caches and the filesystem's own.
func (t *trial) dropCaches(ctx context.Context) error {
	unix.Sync()
	if err := os.WriteFile(t.sys.path("/proc/sys/vm/drop_caches"), []byte("3\n"), 0); err != nil {
		return fmt.Errorf("drop caches: %w", err)
	}
	return t.fs.DropCaches(ctx, t.ex, t.job.Storage, t.assembly.Target, t.place)
}
