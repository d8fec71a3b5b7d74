package runner

import (
	"strings"
	"testing"
	"time"

	"platter/guest"
	"platter/lab"
	"platter/lab/hypervisor"
	"platter/results"
)

// TestFaults is the table of how faults end that show on the host's side: as which kind, with which sentence and evidence,
// and never as a number.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		midway   func(*fakeGuest)
		script   func(*guest.Encoder)
		status   results.Status
		kind     string
		reason   []string
		evidence string
		limit    time.Duration
	}{
		"the guest panics": {
			midway: func(g *fakeGuest) {
				g.machine.becomes(hypervisor.State{Name: "gone", Reason: "destroyed"}, "[  9.0] Kernel panic - not syncing: sysrq triggered crash\n"+strings.Repeat("[ 9.1]  trace\n", 60)+"[ 9.9] Rebooting")
				g.goAway()
			},
			status: results.StatusLost, kind: "infra", limit: 10 * time.Second,
			reason: []string{"the guest's kernel panicked in step run", "Kernel panic - not syncing: sysrq triggered crash"}, evidence: "sysrq triggered crash",
		},
		"the guest reboots": {
			midway: func(g *fakeGuest) {
				g.machine.becomes(hypervisor.State{Name: "gone", Reason: "destroyed"}, "[  9.0] reboot: Restarting system\n")
				g.goAway()
			},
			status: results.StatusLost, kind: "infra", limit: 10 * time.Second,
			reason: []string{"the guest rebooted in step run", "reboot: Restarting system"}, evidence: "Restarting system",
		},
		"the host's disk is full": {
			midway: func(g *fakeGuest) {
				g.machine.becomes(hypervisor.State{Name: "paused", Reason: "ioerror", Disk: "data-1234", IOError: "enospc"}, "")
				g.fallSilent()
			},
			status: results.StatusLost, kind: "infra", limit: 10 * time.Second,
			reason: []string{"the host could not write for the machine in step run", "enospc on disk data-1234", "make room"},
		},
		"the host fails a request": { // the guest may not have noticed
			midway: func(g *fakeGuest) {
				g.machine.becomes(hypervisor.State{Running: true, Name: "running", Disk: "data-1234", FailedRequests: 8}, "")
			},
			status: results.StatusInvalid, limit: 20 * time.Second,
			reason: []string{"requests to the machine's disks failed on the host: 8, the last to disk data-1234"},
		},
		"the host fails a request and the server dies of it": {
			midway: func(g *fakeGuest) {
				g.machine.becomes(hypervisor.State{Running: true, Name: "running", Disk: "data-1234", FailedRequests: 1}, "")
			},
			script: func(e *guest.Encoder) {
				e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusFailed, Reason: "step run: mariadbd was killed", Evidence: "last words", GuestSeconds: e.Seconds()}})
			},
			status: results.StatusLost, kind: "infra", limit: 20 * time.Second, evidence: "last words",
			reason: []string{"requests to the machine's disks failed on the host: 1", "mariadbd was killed"},
		},
		"the guest's clock runs ahead": {
			script: func(e *guest.Encoder) {
				e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusLost, Reason: "disk data: no disk has serial data-1234", Evidence: "vda, vdb", GuestSeconds: 3600}})
			},
			status: results.StatusLost, kind: "infra", limit: 20 * time.Second, evidence: "vda, vdb",
			reason: []string{"tell time in the machine", "took 3600 s by its clock", "no disk has serial"},
		},
		"somebody paused the machine": {
			midway: func(g *fakeGuest) {
				g.machine.becomes(hypervisor.State{Name: "paused", Reason: "user"}, "")
				time.Sleep(2*watchEvery + time.Second)
				g.machine.becomes(hypervisor.State{Running: true, Name: "running"}, "")
				time.Sleep(2 * watchEvery)
			},
			status: results.StatusInvalid, limit: 30 * time.Second,
			reason: []string{"somebody paused the machine for about "},
		},
		"the guest falls silent": { // the network drops everything, no reset
			midway: (*fakeGuest).fallSilent,
			status: results.StatusLost, kind: "infra", limit: 60 * time.Second,
			reason: []string{"the connection to the guest was lost in step run", "sent nothing for", "the machine is running"},
		},
		"no exit status": { // the follower ends without a word
			midway: (*fakeGuest).goAway,
			status: results.StatusLost, kind: "infra", limit: 60 * time.Second,
			reason: []string{"the connection to the guest was lost in step run", "connection refused", "the machine is running"},
		},
		"the agent is gone": {
			script: func(*guest.Encoder) {},
			status: results.StatusLost, kind: "infra", limit: 20 * time.Second,
			reason: []string{"without done"},
		},
		"the server dies": {
			script: func(e *guest.Encoder) {
				e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusFailed, Reason: "step run: mariadbd was killed", Evidence: "last words", GuestSeconds: e.Seconds()}})
			},
			status: results.StatusFailed, kind: "job", limit: 20 * time.Second, reason: []string{"mariadbd was killed"}, evidence: "last words",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeRun(t, 1, func(g *fakeGuest) { g.midway, g.script = c.midway, c.script })
			if name == "the guest falls silent" {
				f.silence = 2 * time.Second
			}
			_, found, err := f.carryOut(t, t.Context())
			if err != nil || len(found) == 0 {
				t.Fatalf("%d results, %v", len(found), err)
			}
			for _, r := range found {
				if r.Status != c.status || r.ErrorKind != c.kind || len(r.Metrics) > 0 && r.Status != results.StatusInvalid {
					t.Errorf("attempt %d: %s, kind %q, %d metrics: %s", r.Attempt, r.Status, r.ErrorKind, len(r.Metrics), r.Reason)
				}
				for _, want := range c.reason {
					if !strings.Contains(r.Reason, want) {
						t.Errorf("attempt %d: reason %q does not say %q", r.Attempt, r.Reason, want)
					}
				}
				if strings.Contains(r.Reason, "\n") {
					t.Errorf("attempt %d: reason is no sentence: %q", r.Attempt, r.Reason)
				}
				if !strings.Contains(r.Evidence, c.evidence) {
					t.Errorf("attempt %d: evidence %q does not say %q", r.Attempt, r.Evidence, c.evidence)
				}
				if *r.WallSeconds > c.limit.Seconds() {
					t.Errorf("attempt %d took %.0f s, want at most %s", r.Attempt, *r.WallSeconds, c.limit)
				}
			}
		})
	}
}

// TestClocks: a guest that stood still is told by its clock; an event that is late, or early ones that were, are not.
func TestClocks(t *testing.T) {
	for name, c := range map[string]struct {
		guest []float64 // what its clock says, a host's second apart
		want  bool
	}{
		"together":          {[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, false},
		"stood still":       {[]float64{0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3}, true},
		"the first is late": {[]float64{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, false},
		"a little behind":   {[]float64{0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trial{}
			tr.behind = 1e9
			for i, seconds := range c.guest {
				tr.started = time.Now().Add(-time.Duration(i) * time.Second)
				tr.clocks(seconds, i == len(c.guest)-1)
			}
			if got := len(tr.flags) == 1; got != c.want {
				t.Errorf("flags %v, want one: %v", tr.flags, c.want)
			}
		})
	}
}

// TestPauseIsToldFirst: a guest whose clock stood still with its machine rejects its numbers itself; the result says why.
func TestPauseIsToldFirst(t *testing.T) {
	for status, want := range map[results.Status]string{
		results.StatusOK:      "somebody paused the machine",
		results.StatusInvalid: "somebody paused the machine; the clocks are apart",
		results.StatusFailed:  "the clocks are apart",
	} {
		tr := &trial{collected: collected{done: &guest.Done{Status: status}}, pauses: []string{"somebody paused the machine"}}
		if status != results.StatusOK {
			tr.done.Reason = "the clocks are apart"
		}
		var r results.Result
		tr.judge(t.Context(), &r, nil)
		if r.Reason != want || r.Status == results.StatusOK {
			t.Errorf("%s: %s, %q; want %q", status, r.Status, r.Reason, want)
		}
	}
}

// TestWhoseDiskFailed: a volume that fails under the subject is the rig's fault, a real disk is the subject.
func TestWhoseDiskFailed(t *testing.T) {
	for serial, want := range map[string]results.Status{"volume": results.StatusLost, "real": results.StatusFailed} {
		disks := []lab.Disk{{Serial: "volume"}, {Serial: "real", Passport: &results.Passport{}}}
		tr := &trial{Trial: lab.Trial{Disks: disks}, collected: collected{done: &guest.Done{Status: results.StatusFailed}}}
		tr.requestsFailed(hypervisor.State{Running: true, Disk: serial, FailedRequests: 1})
		var r results.Result
		tr.judge(t.Context(), &r, &lab.JobError{Reason: "step run: mariadbd was killed"})
		if r.Status != want {
			t.Errorf("a request to disk %s failed: %s, %q; want %s", serial, r.Status, r.Reason, want)
		}
	}
}
