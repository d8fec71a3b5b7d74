package hypervisor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/digitalocean/go-libvirt"
	"golang.org/x/sys/unix"
)

// sessionTests run once more as an unprivileged user with a private libvirt.
const sessionTests = "TestMachineLife|TestGuestPowersOff|TestEveryDiskOption|TestImageInUse|TestOwnerKilled|TestPortTaken|TestDaemonKilled"

// TestSession runs tests as a user who has no libvirt daemon, no runtime
// directory and no rights. What it starts ends with the test.
func TestSession(t *testing.T) {
	needVM(t)
	if os.Geteuid() != 0 {
		return // the other tests run in session mode already
	}
	t.Run("runtime directory", func(t *testing.T) { session(t, "run", "XDG_RUNTIME_DIR=", sessionTests) })
	t.Run("no runtime directory", func(t *testing.T) { session(t, ".cache", "NONE=", "TestMachineLife") })
}

// session runs tests with a home of their own; the variable, when it is one that
// counts, names the runtime directory below it.
func session(t *testing.T, runtimeDir, variable, tests string) {
	t.Helper()
	// libvirt wants a user that exists; nobody is one without rights.
	const uid = 65534
	base, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	binary := publicTestBinary(t, base)
	home := filepath.Join(base, "h")
	if err := errors.Join(os.Chmod(base, 0o755), os.Mkdir(home, 0o700), os.Chown(home, uid, uid)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-vm", "-test.v", "-test.run=^("+tests+")$")
	cmd.Dir = home
	runtime := filepath.Join(home, runtimeDir)
	cmd.Env = []string{"HOME=" + home, variable + runtime, "PATH=/usr/bin:/bin", "TMPDIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	t.Cleanup(func() {
		for _, name := range []string{"libvirt-sock", "virtqemud-sock", "virtlogd-sock"} {
			endListener(t, filepath.Join(runtime, "libvirt", name), uid)
		}
	})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range strings.Split(tests, "|") {
		if !strings.Contains(string(out), "--- PASS: "+name) {
			t.Errorf("%s did not run:\n%s", name, out)
		}
	}
	if !strings.Contains(string(out), "started libvirt's daemon") || !strings.Contains(string(out), "URI:qemu:///session") {
		t.Errorf("not a session of its own:\n%s", out)
	}
	t.Logf("%s", out)
}

// TestDaemonKilled: machines survive their daemon, and a new one is found or
// started. It needs a daemon that nobody else uses.
func TestDaemonKilled(t *testing.T) {
	needVM(t)
	if os.Geteuid() == 0 {
		return // run by TestSession
	}
	h := openHost(t, storageRoot(t))
	m := start(t, h, idleSpec(t, h, "daemon", "platter-test-daemon"))
	killListener(t, h.socket(), os.Geteuid(), syscall.SIGKILL)
	<-h.control.raw.lost
	state, err := m.Alive(t.Context())
	if err != nil || !state.Running {
		t.Fatalf("state %+v, %v", state, err)
	}
	time.Sleep(2 * time.Second) // the events' connection comes back by itself
	if _, err := ask(t.Context(), h, "DomainSuspend", queryLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
		return struct{}{}, lv.DomainSuspend(m.dom)
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := ""
	for e := range m.Events() {
		told += string(e.Kind) + ":" + e.Reason + " "
	}
	if !strings.Contains(told, "suspended:paused ") || !strings.Contains(told, "stopped:destroyed") {
		t.Errorf("events are %q", told)
	}
}

// endListener ends the one daemon that listens on a socket of the test's.
func endListener(t *testing.T, path string, uid int) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		killListener(t, path, uid, syscall.SIGTERM)
	}
}

// killListener sends a signal to the process that listens on a socket.
func killListener(t *testing.T, path string, uid int, signal syscall.Signal) {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		return // nobody listens
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	var cred *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(controlErr, err); err != nil || int(cred.Uid) != uid {
		t.Error(fmt.Errorf("who listens on %s: %+v, %w", path, cred, err))
		return
	}
	if err := syscall.Kill(int(cred.Pid), signal); err != nil {
		t.Error(err)
	}
	for range 300 { // until then it may still write into its directories
		if _, err := processStart(int(cred.Pid)); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("process %d that listened on %s does not end", cred.Pid, path)
}
