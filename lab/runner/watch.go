package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/results"
)

const (
	// watchEvery is how often the machine's state is asked for; a dead machine is known within that time.
	watchEvery = 2 * time.Second
	// hypervisorPatience is how long the daemon may stay away while a job goes on without it: it may be restarted.
	hypervisorPatience = 45 * time.Second
	// pausePatience is how long somebody may keep a machine paused.
	pausePatience = 10 * time.Minute
)

// watcher looks at a machine beside its job.
type watcher struct {
	trial   *trial
	machine Machine

	silent time.Time // since when the hypervisor has not answered
	paused time.Time // since when somebody has paused the machine
}

// watch ends following when the machine is no longer running (a crashed guest, a host disk that is full), or when the
// hypervisor does not tell for too long.
func (t *trial) watch(ctx context.Context, machine Machine, stop context.CancelCauseFunc) {
	w := &watcher{trial: t, machine: machine}
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			stop(err)
			return
		}
	}
}

// look asks once. It returns an error when the trial cannot go on.
func (w *watcher) look(ctx context.Context) error {
	asked := time.Now()
	state, err := w.machine.Alive(ctx)
	if err != nil {
		if w.silent.IsZero() {
			w.silent = asked
		}
		if away := time.Since(w.silent); away > hypervisorPatience {
			return &lab.InfraError{What: fmt.Sprintf("the hypervisor has not answered for %.0f s", away.Seconds()), Err: err}
		}
		return nil
	}
	w.silent = time.Time{}
	w.trial.requestsFailed(state)
	switch {
	case state.Running:
		if !w.paused.IsZero() {
			w.trial.wasPaused(time.Since(w.paused))
			w.paused = time.Time{}
		}
	case state.Name == "paused" && state.Reason == "user":
		if w.paused.IsZero() {
			w.paused = asked
		}
		if time.Since(w.paused) > pausePatience {
			return &stoppedError{state}
		}
	default:
		return &stoppedError{state}
	}
	return nil
}

// wasPaused rejects the numbers of a job whose machine somebody paused: no clock of the guest saw that time.
func (t *trial) wasPaused(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pauses = append(t.pauses, fmt.Sprintf("somebody paused the machine for about %.0f s during the job", d.Seconds()))
}

// requestsFailed keeps what a machine says of requests that the host could not carry out. The guest saw each as an error of
// its disk: its numbers are no measurement, whatever the guest made of it. For a volume the error is our rig's, for a real
// disk it is that disk's own.
func (t *trial) requestsFailed(s hypervisor.State) {
	if s.FailedRequests == 0 {
		return
	}
	text := fmt.Sprintf("requests to the machine's disks failed on the host: %d, the last to disk %s", s.FailedRequests, cmp.Or(s.Disk, "unknown"))
	if s.IOError != "" {
		text += " (" + s.IOError + ")"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rigFailed = !slices.ContainsFunc(t.Disks, func(d lab.Disk) bool { return d.Passport != nil && d.Serial == s.Disk })
	t.failed = text + "; the host's kernel log and QEMU's may say why"
}

// lastLook asks a machine whose job has ended for requests that failed since it was last asked.
func (t *trial) lastLook(ctx context.Context, machine Machine) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostLimit)
	defer cancel()
	if state, err := machine.Alive(ctx); err == nil {
		t.requestsFailed(state)
	}
}

// clocks compares how long the job took by the host's clock and by the guest's, which stands still with its machine. An
// event that arrives late looks the same, so the earliest arrival is the measure, and little is forgiven.
func (t *trial) clocks(guestSeconds float64, done bool) {
	behind := time.Since(t.started).Seconds() - guestSeconds
	t.behind = min(t.behind, behind)
	if lost := behind - t.behind; done && lost > 5 && lost > guestSeconds/10 {
		t.flag(results.Flag{Name: "clocks_apart", Detail: fmt.Sprintf("the job took %.1f s by the guest's clock and %.1f s more by the host's", guestSeconds, lost)})
	}
}
