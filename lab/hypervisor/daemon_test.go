package hypervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestDaemonPlan: when it is for us to start a daemon.
func TestDaemonPlan(t *testing.T) {
	initRoot := t.TempDir()
	if err := os.MkdirAll(filepath.Join(initRoot, "run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	bare := t.TempDir()
	cases := []struct {
		name string
		env  environment
		addr address
		want bool
	}{
		{"session", environment{uid: 1000, root: initRoot, getenv: getenvOf(nil)}, address{mode: SessionMode}, true},
		{"forbidden", environment{uid: 1000, root: bare, getenv: getenvOf(map[string]string{"LIBVIRT_AUTOSTART": "0"})}, address{mode: SessionMode}, false},
		{"own socket", environment{uid: 1000, root: bare, getenv: getenvOf(nil)}, address{mode: SessionMode, socket: "/x"}, false},
		{"root, init system", environment{uid: 0, root: initRoot, getenv: getenvOf(nil)}, address{mode: SystemMode}, false},
		{"root, no init system", environment{uid: 0, root: bare, getenv: getenvOf(nil)}, address{mode: SystemMode}, true},
		{"user, system daemon", environment{uid: 1000, root: bare, getenv: getenvOf(nil)}, address{mode: SystemMode}, false},
	}
	for _, c := range cases {
		if got := c.env.daemonPlan(c.addr) != nil; got != c.want {
			t.Errorf("%s: plan %v, want %v", c.name, got, c.want)
		}
	}
}

// fakeBinary is a directory with a daemon that does what the script says.
func fakeBinary(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "virtqemud"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSessionDaemonFails: a daemon that ends at once is reported with its own
// words, in a runtime directory that is made for it and private.
func TestSessionDaemonFails(t *testing.T) {
	runtime := filepath.Join(t.TempDir(), "runtime")
	h := unitHost(t, "")
	h.env.getenv = getenvOf(map[string]string{"XDG_RUNTIME_DIR": runtime, "PATH": fakeBinary(t, "echo \"cannot run: $1\"\nexit 3\n") + ":/usr/bin:/bin"})
	_, err := h.dialOrStart(t.Context())
	var e *ConnectError
	if !errors.As(err, &e) || e.Start == nil {
		t.Fatalf("error is %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "virtqemud ended at once (exit status 3): cannot run: --timeout=120") {
		t.Errorf("message is %q", text)
	}
	info, err := os.Stat(runtime)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("runtime directory: %v %v", info, err)
	}
}

// TestDaemonNotInstalled names what is missing.
func TestDaemonNotInstalled(t *testing.T) {
	h := unitHost(t, "")
	err := h.startDaemon(t.Context(), &daemonPlan{})
	if err == nil || err.Error() != "neither libvirtd nor virtqemud is installed" {
		t.Errorf("error is %v", err)
	}
}

// TestLiveDaemonIsNotReplaced: one that denies or hangs is there.
func TestLiveDaemonIsNotReplaced(t *testing.T) {
	for _, c := range []struct {
		attempt error
		want    bool
	}{{os.ErrNotExist, true}, {errRefused, true}, {os.ErrPermission, false}, {errSilent, false}, {errWrongPeer, false}} {
		if got := nobodyListens(&ConnectError{Attempts: []Attempt{{Err: os.ErrNotExist}, {Err: c.attempt}}}); got != c.want {
			t.Errorf("nobodyListens(%v) = %v", c.attempt, got)
		}
	}
}

// TestSessionPathTooLong: QEMU's monitor socket must fit into an address.
func TestSessionPathTooLong(t *testing.T) {
	env := environment{getenv: getenvOf(map[string]string{"XDG_CONFIG_HOME": "/" + strings.Repeat("c", 60)})}
	if err := env.checkSessionPaths(SessionMode); err == nil || !strings.Contains(err.Error(), "set XDG_CONFIG_HOME to a shorter directory") {
		t.Errorf("error is %v", err)
	}
	if err := env.checkSessionPaths(SystemMode); err != nil {
		t.Error(err)
	}
}

func TestProcessStart(t *testing.T) {
	if start, err := processStart(os.Getpid()); err != nil || start <= 0 {
		t.Errorf("own process: %d, %v", start, err)
	}
	if _, err := processStart(1 << 30); err == nil {
		t.Error("no error for a pid that cannot be")
	}
	tag, err := NewTag("r1")
	if err != nil || stateOf(tag) != ownerRuns {
		t.Fatalf("own tag %+v: %v", tag, err)
	}
	if time.Since(tag.Created) > time.Minute || tag.Expires.Before(tag.Created) {
		t.Errorf("times of %+v", tag)
	}
	reused := tag
	reused.PIDStart++
	rebooted := tag
	rebooted.BootID = "00000000-0000-0000-0000-000000000000"
	if stateOf(reused) != ownerEnded || stateOf(rebooted) != ownerEnded {
		t.Error("a reused pid or one of an earlier boot counts as alive")
	}
	elsewhere := reused
	elsewhere.PIDNamespace++
	if stateOf(elsewhere) != ownerUnseen {
		t.Error("a process of another container is not known to be out of sight")
	}
}
