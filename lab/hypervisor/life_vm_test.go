package hypervisor

import (
	"bufio"
	"context"
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

	"platter/lab/domain"
)

// TestPortTaken: a port that was asked for and is taken is a typed error, and
// nothing is left of the machine.
func TestPortTaken(t *testing.T) {
	h := openHost(t, storageRoot(t))
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := idleSpec(t, h, "port", "platter-test-port")
	s.SSHPort = l.Addr().(*net.TCPAddr).Port
	_, err = h.Start(t.Context(), s)
	var failed *StartError
	if !errors.Is(err, ErrPortTaken) || !errors.As(err, &failed) || failed.XML == "" || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v", err)
	}
	noDomain(t, h, s.Name)
}

// TestNameTaken: a machine of that name that is somebody else's survives our
// attempt, and so does its log.
func TestNameTaken(t *testing.T) {
	h := openHost(t, storageRoot(t))
	foreign := foreignDomain(t, h)
	_, err := h.Start(t.Context(), idleSpec(t, h, "name", foreign.Name))
	var failed *StartError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("error is %v", err)
	}
	stillRuns(t, h, foreign)
	if _, err := os.Stat(h.logFile(foreign.Name)); err != nil {
		t.Errorf("its log: %v", err)
	}
}

// TestStartCancelled: Ctrl-C in the middle of a start leaves no machine.
func TestStartCancelled(t *testing.T) {
	h := openHost(t, storageRoot(t))
	s := idleSpec(t, h, "cancel", "platter-test-cancel")
	for _, wait := range []time.Duration{10, 50, 150, 300, 900, 2000} {
		wait *= time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		m, err := h.Start(ctx, s)
		cancel()
		if err == nil {
			if err := m.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %s: %v", wait, err)
		}
		noDomain(t, h, s.Name)
		if _, err := os.Stat(h.pidFile(s.Name)); err == nil {
			t.Errorf("after %s: QEMU is still there", wait)
		}
	}
}

// TestAccessBeforeStart is case B19 with a real start.
func TestAccessBeforeStart(t *testing.T) {
	h := openHost(t, storageRoot(t))
	if h.Mode() != SystemMode {
		return // QEMU runs as the user himself
	}
	closed := filepath.Join(h.storage, "closed")
	image := filepath.Join(closed, "disk.raw")
	if err := errors.Join(os.MkdirAll(closed, 0o700), os.WriteFile(image, make([]byte, 1<<20), 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err := h.Start(t.Context(), idleSpec(t, h, "access", "platter-test-access", domain.DataDisk("data0", image, 1<<20)))
	var access *AccessError
	if !errors.As(err, &access) || access.Block != closed {
		t.Errorf("error is %v", err)
	}
	noDomain(t, h, "platter-test-access")
}

// TestHostClose: closing the host ends its machines.
func TestHostClose(t *testing.T) {
	storage := storageRoot(t)
	h := openHost(t, storage)
	m, err := h.Start(t.Context(), idleSpec(t, h, "close", "platter-test-close"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := m.awaitExit(t.Context()); err != nil {
		t.Error(err)
	}
	noDomain(t, openHost(t, storage), "platter-test-close")
}

// TestControlLost: a lost control connection costs no machine.
func TestControlLost(t *testing.T) {
	h := openHost(t, storageRoot(t))
	m := start(t, h, idleSpec(t, h, "lost", "platter-test-lost"))
	h.control.close()
	if state, err := m.Alive(t.Context()); err != nil || !state.Running {
		t.Errorf("state %+v, %v", state, err)
	}
}

// TestOwnerKilled is the kill -9 of a run: its machine goes at once, its volumes
// are found and removed, and nothing of anybody else is touched.
func TestOwnerKilled(t *testing.T) {
	needVM(t)
	if storage := os.Getenv("PLATTER_TEST_VICTIM"); storage != "" {
		victim(t, storage)
		return
	}
	storage := storageRoot(t)
	h := openHost(t, storage)
	foreign := foreignDomain(t, h)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestOwnerKilled$", "-vm")
	cmd.Env = append(os.Environ(), "PLATTER_TEST_VICTIM="+storage)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "started" {
	}
	if left := ours(t, h, storage, DeadOwners); len(left) != 0 {
		t.Errorf("of a living owner: %+v", left)
	}
	if left := ours(t, h, storage, Everything); len(left) != 2 {
		t.Errorf("of everybody: %+v, want a domain and a run", left)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for range 200 {
		if _, err := os.Stat(h.pidFile("platter-test-victim")); err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	noDomain(t, h, "platter-test-victim")
	left := ours(t, h, storage, DeadOwners)
	if len(left) != 1 || left[0].Kind != LeftoverRun || left[0].Name != "victim" {
		t.Fatalf("left over: %+v, want the run", left)
	}
	for range 2 {
		if err := h.Remove(t.Context(), left[0]); err != nil {
			t.Error(err)
		}
	}
	if left := ours(t, h, storage, Everything); len(left) != 0 {
		t.Errorf("still left over: %+v", left)
	}
	stillRuns(t, h, foreign)
}

func stillRuns(t *testing.T, h *Host, dom libvirt.Domain) {
	t.Helper()
	state, err := ask(t.Context(), h, "DomainGetState", queryLimit, func(lv *libvirt.Libvirt) (int32, error) {
		state, _, err := lv.DomainGetState(dom, 0)
		return state, err
	})
	if err != nil || state != int32(libvirt.DomainRunning) {
		t.Errorf("the foreign domain: state %d, %v", state, err)
	}
}

// victim is the process that will be killed.
func victim(t *testing.T, storage string) {
	h := openHost(t, storage)
	v := volume(t, h, "victim", "data0", 16<<20)
	start(t, h, idleSpec(t, h, "victim", "platter-test-victim", domain.DataDisk("data0", v.Path, v.SizeBytes)))
	fmt.Println("started")
	time.Sleep(time.Minute)
}

// ours are the leftovers of a test: other tests and people share the host.
func ours(t *testing.T, h *Host, storage string, scope Scope) []Leftover {
	t.Helper()
	all, err := h.Leftovers(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	var some []Leftover
	for _, l := range all {
		mine := strings.HasPrefix(l.Path, storage) || l.Tag.Run == "victim"
		if mine && l.Kind != LeftoverImage {
			some = append(some, l)
		}
	}
	return some
}

// foreignDomain is a machine of somebody else.
func foreignDomain(t *testing.T, h *Host) libvirt.Domain {
	t.Helper()
	text := fmt.Sprintf(`<domain type='qemu'><name>foreign-%d</name><memory unit='MiB'>64</memory><os><type machine='q35'>hvm</type></os>
<metadata><other:note xmlns:other='urn:other'>platter</other:note></metadata></domain>`, os.Getpid())
	if err := h.ensureLogging(t.Context()); err != nil {
		t.Fatal(err)
	}
	dom, err := ask(t.Context(), h, "DomainCreateXML", createLimit, func(lv *libvirt.Libvirt) (libvirt.Domain, error) {
		return lv.DomainCreateXML(text, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := h.destroyDomain(context.Background(), dom); err != nil {
			t.Error(err)
		}
	})
	return dom
}

// TestLeftoverDomain: a machine that outlived its owner, as one made by a tool
// without autodestroy would, is found and removed.
func TestLeftoverDomain(t *testing.T) {
	storage := storageRoot(t)
	h := openHost(t, storage)
	info, err := h.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := idleSpec(t, h, "victim", "platter-test-orphan")
	s.Tag = deadTag(t, "victim")
	if s, err = h.complete(info, s); err != nil {
		t.Fatal(err)
	}
	if s.SSHPort, err = freePort(); err != nil {
		t.Fatal(err)
	}
	if err := h.prepare(t.Context(), info, s); err != nil {
		t.Fatal(err)
	}
	text, err := domain.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	dom, err := ask(t.Context(), h, "DomainCreateXML", createLimit, func(lv *libvirt.Libvirt) (libvirt.Domain, error) {
		return lv.DomainCreateXML(text, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.destroyDomain(context.Background(), dom) })
	left := ours(t, h, storage, DeadOwners)
	if len(left) != 2 || left[0].Kind != LeftoverDomain || left[0].Name != s.Name || left[1].Kind != LeftoverRun {
		t.Fatalf("left over: %+v, want the domain, then the run", left)
	}
	renamed := left[0]
	renamed.Tag.PID++
	if err := h.Remove(t.Context(), renamed); err == nil || !strings.Contains(err.Error(), "another owner") {
		t.Errorf("a domain of another owner: %v", err)
	}
	for range 2 {
		for _, l := range left {
			if err := h.Remove(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
	}
	noDomain(t, h, s.Name)
}
