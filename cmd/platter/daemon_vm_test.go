package main

import (
	"bufio"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"platter/lab"
	"platter/results"
	"platter/results/store"
)

// daemon is the process that serves the user's libvirt socket.
func (s session) daemon(t *testing.T) int {
	t.Helper()
	for _, name := range []string{"virtqemud-sock", "libvirt-sock"} {
		c, err := net.Dial("unix", filepath.Join(s.home, "run/libvirt", name))
		if err != nil {
			continue
		}
		defer c.Close()
		raw, err := c.(*net.UnixConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var cred *unix.Ucred
		controlErr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
		if err := errors.Join(controlErr, err); err != nil || cred.Uid != nobody {
			t.Fatalf("who serves %s: %+v, %v", name, cred, err)
		}
		return int(cred.Pid)
	}
	t.Fatal("no libvirt serves the user")
	return 0
}

// during runs the idle study as the user and calls act as its step begins. It returns the exit status.
func (s session) during(t *testing.T, study string, act func()) (status int, stderr string) {
	t.Helper()
	c := &command{t: t, cmd: s.command("run", study, "--results", "results", "--json", "--log-level", "info")}
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.events = bufio.NewScanner(out)
	c.events.Buffer(nil, 64<<20)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.cmd.Process.Kill() })
	c.await("the step", func(e lab.RunEvent) bool { return e.Kind == lab.PhaseStarted && e.Phase == "sleep" })
	act()
	return c.wait(), c.stderr.String()
}

// TestDaemonKilled: libvirt's daemon dies in the middle of a trial. The machine and the job go on without it, another
// daemon is started for what is left to do, and the trial is as good as any.
func TestDaemonKilled(t *testing.T) {
	needVM(t)
	t.Parallel()
	s := newSession(t, "idle.yaml")
	status, stderr := s.during(t, "bin/idle.yaml", func() {
		if err := syscall.Kill(s.daemon(t), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	})
	if status != 0 {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	for _, r := range folderResults(t, s) {
		if r.Status != results.StatusOK {
			t.Errorf("%s: %s", r.Status, r.Reason)
		}
	}
	s.nothingLeft(t)
}

// TestDaemonHangs: libvirt's daemon stops answering in the middle of a long trial. The run ends with what it is, in
// bounded time, and removes the machine without libvirt.
func TestDaemonHangs(t *testing.T) {
	needVM(t)
	t.Parallel()
	s := newSession(t, "idle.yaml")
	var stopped time.Time
	var pid int
	status, stderr := s.during(t, "bin/idle.yaml@long", func() {
		pid = s.daemon(t)
		stopped = time.Now()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
	})
	took := time.Since(stopped)
	t.Logf("%.0f s after the daemon hung: status %d: %s", took.Seconds(), status, stderr)
	if status != 4 || took > 240*time.Second {
		t.Errorf("exit status %d after %.0f s, want 4 within 240 s: %s", status, took.Seconds(), stderr)
	}
	s.nothingLeft(t)
	found := folderResults(t, s)
	if len(found) == 0 || found[0].Status != results.StatusLost || found[0].ErrorKind != "infra" ||
		!strings.Contains(found[0].Reason, "the hypervisor has not answered for ") || len(found[0].Metrics) > 0 {
		t.Errorf("%d results, the first: %+v", len(found), found)
	}
	if err := errors.Join(syscall.Kill(pid, syscall.SIGCONT), syscall.Kill(pid, syscall.SIGTERM)); err != nil {
		t.Error(err)
	}
}

func folderResults(t *testing.T, s session) []results.Result {
	t.Helper()
	runs, problems, err := store.List(filepath.Join(s.home, "results"))
	if err != nil || len(problems) > 0 || len(runs) != 1 {
		t.Fatalf("%d runs, %v, %v", len(runs), problems, err)
	}
	var out []results.Result
	for r, err := range runs[0].Results() {
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", r.Status, r.Reason)
		out = append(out, r)
	}
	return out
}
