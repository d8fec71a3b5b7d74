package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"platter/guest"
	"platter/guest/server"
	"platter/guest/storage"
	"platter/guest/workload"
	"platter/results"

	"golang.org/x/sys/unix"
)

const (
	acknowledgeEvery = 150 * time.Millisecond // how often clients' commits are told to the host
	killLimit        = 3 * time.Minute        // for the host to end the machine that asks for it
)

// recovery is what became of the storage and the server after a crash.
type recovery struct {
	kind         string // workload.MachineKill or PowerCut
	acknowledged []int64
	seconds      *float64 // mount and server start; nil while it is not over, or when it failed
	failed       error    // why the filesystem or the server did not come back
}

// crasherOf decodes the workload of a step crash or verify.
func crasherOf(s guest.Step) (workload.Crasher, error) {
	w, err := workload.Decode(s.Workload, s.Options)
	if err != nil {
		return nil, err
	}
	c, ok := w.(workload.Crasher)
	if !ok {
		return nil, fmt.Errorf("workload %s cannot %s: it does not know what was acknowledged", s.Workload, s.Do)
	}
	return c, nil
}

// crash runs the load and ends it the hard way. After a machine's kill nobody returns from it.
func (t *trial) crash(ctx context.Context, s guest.Step, name string) error {
	w, err := crasherOf(s)
	if err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	kind, after := w.How()
	commits := make([]atomic.Int64, w.Clients())
	loading, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- w.Crash(loading, t.session(name), func(client int, n int64) { commits[client].Store(n) })
	}()
	if err := t.acknowledge(ctx, name, commits, ended, seconds(after)); err != nil {
		return err
	}
	if kind == workload.MachineKill {
		if err := t.enc.Encode(guest.Event{Crash: &guest.Crash{Step: name}}); err != nil {
			return err
		}
		err := t.acknowledge(ctx, name, commits, ended, killLimit)
		return errors.Join(err, &LostError{fmt.Errorf("the host did not end the machine within %s", killLimit)})
	}
	// What is acknowledged from here on may come after the mark in the log, and so does not count.
	t.recovery = &recovery{kind: kind, acknowledged: loadAll(commits)}
	return t.cutPower(ctx, name, func() { stop(); <-ended })
}

// settle makes what was prepared durable, by a flush of the very device, which a filesystem without barriers does not
// send: so the crash concerns what the load wrote.
func (t *trial) settle(ctx context.Context) error {
	unix.Sync()
	for _, device := range t.assembly.Target.Devices {
		f, err := os.OpenFile(device, os.O_RDWR, 0)
		if err != nil {
			return &LostError{fmt.Errorf("flush the disk before the crash: %w", err)}
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return &LostError{fmt.Errorf("flush the disk before the crash: %w", err)}
		}
	}
	return ctx.Err()
}

// acknowledge tells for d how far the clients are. It returns the error of a load that ended by itself.
func (t *trial) acknowledge(ctx context.Context, name string, commits []atomic.Int64, ended <-chan error, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	tick := time.NewTicker(acknowledgeEvery)
	defer tick.Stop()
	for {
		over := false
		select {
		case err := <-ended:
			return errors.Join(errors.New("the load ended before the crash"), err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			over = true
		case <-tick.C:
		}
		if err := t.enc.Encode(guest.Event{Acknowledged: &guest.Acknowledged{Step: name, Commits: loadAll(commits)}}); err != nil {
			return err
		}
		if over {
			return nil
		}
	}
}

func loadAll(commits []atomic.Int64) []int64 {
	out := make([]int64, len(commits))
	for i := range commits {
		out[i] = commits[i].Load()
	}
	return out
}

// recover brings the filesystem and the server back after a crash, by the clock. That they do not come back is what the
// crash did, and no error here.
func (t *trial) recover(ctx context.Context) error {
	took, err := t.bringBack(ctx)
	var lost *LostError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &lost):
		return err
	case err != nil:
		t.recovery.failed = err
		t.say("error", "after the crash nothing came back: %v", err)
		return nil
	}
	s := took.Seconds()
	t.recovery.seconds = &s
	t.exposeServer()
	return t.serverFacts(ctx)
}

// bringBack mounts the filesystem and starts the server; only these two are on the clock.
func (t *trial) bringBack(ctx context.Context) (took time.Duration, err error) {
	mount := t.attach
	if t.job.Resume != nil { // a new machine, with nothing to undo yet
		mount = t.mount
	}
	first := t.facts.MountSeconds
	begin := time.Now()
	if err := mount(ctx); err != nil {
		return 0, err
	}
	took = time.Since(begin)
	if first != nil {
		t.facts.MountSeconds = first // that of the new filesystem is the fact; this one is part of the recovery
	}
	if err := t.prepareServer(ctx, true); err != nil {
		return 0, err
	}
	if err := t.server.Init(ctx); err != nil { // there must be a data directory
		return 0, err
	}
	begin = time.Now()
	err = t.server.Start(ctx)
	return took + time.Since(begin), err
}

// verify counts what is gone. A loss that the durability class rules out is a finding about the subject, shown as loudly
// as can be; it does not fail the trial, whose numbers say how bad it is.
func (t *trial) verify(ctx context.Context, s guest.Step, name string) error {
	w, err := crasherOf(s)
	if err != nil {
		return err
	}
	r := t.recovery
	if r == nil {
		return errors.New("nothing has crashed: a step crash comes before verify")
	}
	var sum, lost int64
	for _, n := range r.acknowledged {
		sum += n
	}
	recovered := results.Metric{Name: "recovery_seconds", Step: name, Value: r.seconds}
	if r.failed == nil {
		if lost, err = w.Verify(ctx, t.session(name), r.acknowledged); err != nil {
			return err
		}
	} else {
		lost, recovered.Reason = sum, clip("nothing came back: "+r.failed.Error(), 300)
		t.flag("not_recovered", "after the %s: %v", r.words(), r.failed)
	}
	if lost > 0 && r.ruledOut(t.class) {
		text := fmt.Sprintf("%d of %d acknowledged commits were lost by the %s, although the durability class is %s", lost, sum, r.words(), t.class)
		t.flag("durability_broken", "%s", text)
		t.say("error", "%s", text)
	}
	a, l := float64(sum), float64(lost)
	return t.measure(guest.Measurement{Metrics: []results.Metric{
		{Name: "acknowledged_total", Step: name, Value: &a}, {Name: "lost_total", Step: name, Value: &l}, recovered,
	}})
}

func (r *recovery) words() string {
	return map[string]string{workload.MachineKill: "kill of the machine", workload.PowerCut: "power cut"}[r.kind]
}

// ruledOut tells whether a durability class promises that this kind of crash loses nothing.
func (r *recovery) ruledOut(class string) bool {
	if r.kind == workload.PowerCut {
		return class == server.DurableFull
	}
	return class == server.DurableFull || class == server.DurableOSCrash
}

// broken tells that filesystem or server did not come back from a crash: there is nothing to ask or to undo any more.
func (t *trial) broken() bool { return t.recovery != nil && t.recovery.failed != nil }

// takeUp is where a job goes on after its machine was killed; nil when it begins at its beginning.
func (t *trial) takeUp() error {
	r := t.job.Resume
	if r == nil {
		return nil
	}
	if r.Step < 1 || r.Step > len(t.job.Steps) || t.job.Steps[r.Step-1].Do != "crash" {
		return fmt.Errorf("resume at step %d: there was no crash before it", r.Step)
	}
	if !storage.Reassembles(t.job.Storage.Layout) {
		return fmt.Errorf("layout %s cannot be put together again after a crash", t.job.Storage.Layout.Kind)
	}
	w, err := crasherOf(t.job.Steps[r.Step-1])
	if err != nil {
		return err
	}
	kind, _ := w.How()
	t.recovery = &recovery{kind: kind, acknowledged: slices.Clone(r.Acknowledged)}
	return nil
}

// firstStep is the first step this machine carries out.
func (t *trial) firstStep() int {
	if t.job.Resume == nil {
		return 0
	}
	return t.job.Resume.Step
}
