package hypervisor

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func getenvOf(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestSocketPaths(t *testing.T) {
	root := t.TempDir()
	login := filepath.Join(root, "run/user/4711")
	cases := []struct {
		name string
		addr address
		vars map[string]string
		uid  int
		want []string
	}{
		{"system", address{mode: SystemMode}, nil, 4711, []string{root + "/run/libvirt/virtqemud-sock", root + "/run/libvirt/libvirt-sock"}},
		{"session", address{mode: SessionMode}, map[string]string{"XDG_RUNTIME_DIR": "/r"}, 4711, []string{"/r/libvirt/virtqemud-sock", "/r/libvirt/libvirt-sock"}},
		{"no runtime dir", address{mode: SessionMode}, map[string]string{"HOME": "/h"}, 4712, []string{"/h/.cache/libvirt/virtqemud-sock", "/h/.cache/libvirt/libvirt-sock"}},
		{"cache home", address{mode: SessionMode}, map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c"}, 4712, []string{"/c/libvirt/virtqemud-sock", "/c/libvirt/libvirt-sock"}},
		{"login dir", address{mode: SessionMode}, map[string]string{"HOME": "/h"}, os.Geteuid(), []string{
			login + "/libvirt/virtqemud-sock", login + "/libvirt/libvirt-sock", "/h/.cache/libvirt/virtqemud-sock", "/h/.cache/libvirt/libvirt-sock",
		}},
		{"explicit", address{mode: SystemMode, socket: "/s"}, nil, 0, []string{"/s"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "login dir" {
				login = filepath.Join(root, "run/user", itoa(c.uid))
				if err := os.MkdirAll(login, 0o700); err != nil {
					t.Fatal(err)
				}
				for i, path := range c.want[:2] {
					c.want[i] = filepath.Join(login, "libvirt", filepath.Base(path))
				}
			}
			env := environment{root: root, uid: c.uid, getenv: getenvOf(c.vars)}
			if diff := cmp.Diff(c.want, env.sockets(c.addr)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestConnectFailures is case B18: every kind of socket that does not serve is
// told apart, and every path is named.
func TestConnectFailures(t *testing.T) {
	dir, err := os.MkdirTemp("", "sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	dead := filepath.Join(dir, "dead")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	silent := filepath.Join(dir, "silent")
	quiet, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { quiet.Close() })
	cases := []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none"), "missing"},
		{"no directory", filepath.Join(dir, "none/deeper/sock"), "missing"},
		{"dead", dead, "refused, the socket is there but nobody listens"},
		{"silent", silent, "silent, it accepts connections but does not answer"},
		{"too long", "/" + strings.Repeat("x", 120), "the path has 121 bytes, a Unix socket may have 107; use a shorter XDG_RUNTIME_DIR"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := unitHost(t, c.path)
			within(t, 5*time.Second, func(ctx context.Context) {
				_, err := h.dialOrStart(ctx)
				var e *ConnectError
				if !errors.As(err, &e) || len(e.Attempts) != 1 || e.Attempts[0].Reason != c.want {
					t.Fatalf("error %v (%T)", err, err)
				}
				if !strings.Contains(err.Error(), c.path+": "+c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("message is %q", err)
				}
			})
		})
	}
}

// TestDyingDaemon: one that hangs up while it ends is tried again.
func TestDyingDaemon(t *testing.T) {
	d := &fakeDaemon{hangUps: 2}
	d.serve(t)
	h := unitHost(t, d.path)
	if _, err := h.dialOrStart(t.Context()); err != nil {
		t.Error(err)
	}
	if n := d.conns.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
}

// TestConnectNamesAllPaths: with nothing there, both daemons' sockets are named.
func TestConnectNamesAllPaths(t *testing.T) {
	h := unitHost(t, "")
	h.env.getenv = getenvOf(map[string]string{"XDG_RUNTIME_DIR": "/nowhere/at/all", "LIBVIRT_AUTOSTART": "0"})
	_, err := h.dialOrStart(t.Context())
	want := "connect to qemu:///session: no libvirt daemon serves us; /nowhere/at/all/libvirt/virtqemud-sock: missing; /nowhere/at/all/libvirt/libvirt-sock: missing; " +
		"install libvirt-daemon and qemu-system, or set LIBVIRT_AUTOSTART=1 so that the session daemon may be started"
	if err == nil || err.Error() != want {
		t.Errorf("message is\n%v, want\n%s", err, want)
	}
}

// TestWrongPeer: a daemon of another user is not talked to.
func TestWrongPeer(t *testing.T) {
	d := &fakeDaemon{}
	d.serve(t)
	_, err := dialSocket(t.Context(), d.path, os.Geteuid()+1)
	if !errors.Is(err, errWrongPeer) {
		t.Errorf("error is %v", err)
	}
}

// TestPermission runs as an unprivileged user, since nothing is forbidden to root.
func TestPermission(t *testing.T) {
	if dir := os.Getenv("PLATTER_TEST_PERMISSION"); dir != "" {
		_, err := dialSocket(t.Context(), filepath.Join(dir, "closed"), os.Geteuid())
		if got := reason(err); got != "no permission" {
			t.Errorf("%v is called %q", err, got)
		}
		return
	}
	dir, err := os.MkdirTemp("", "perm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "closed"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "closed"), 0)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(publicTestBinary(t, dir), "-test.run=^TestPermission$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLATTER_TEST_PERMISSION="+dir)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// publicTestBinary copies this test binary to where other users can start it.
func publicTestBinary(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "hypervisor.test")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
