package hypervisor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/digitalocean/go-libvirt"
)

func libVersion(lv *libvirt.Libvirt) (uint64, error) { return lv.ConnectGetLibVersion() }

// TestCallDeadline: a daemon that hangs costs the connection, not the caller.
func TestCallDeadline(t *testing.T) {
	d := &fakeDaemon{answer: func(int32, uint32) (uint32, []byte, bool, bool) { return 0, nil, false, false }}
	d.serve(t)
	h := unitHost(t, d.path)
	within(t, 5*time.Second, func(ctx context.Context) {
		_, err := ask(ctx, h, "ConnectGetLibVersion", 100*time.Millisecond, libVersion)
		var e *CallError
		if !errors.As(err, &e) || e.Call != "ConnectGetLibVersion" || e.After < 100*time.Millisecond || !errors.Is(err, errSilent) {
			t.Errorf("error is %v (%T)", err, err)
		}
	})
	if h.control.alive() {
		t.Error("the connection of the hung call is still open")
	}
	if n := d.conns.Load(); n != 1 {
		t.Errorf("%d connections: a call that hung must not be repeated", n)
	}
}

// TestCallCancel: Ctrl-C does not wait for a daemon that hangs.
func TestCallCancel(t *testing.T) {
	d := &fakeDaemon{answer: func(int32, uint32) (uint32, []byte, bool, bool) { return 0, nil, false, false }}
	d.serve(t)
	h := unitHost(t, d.path)
	within(t, 5*time.Second, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if _, err := ask(ctx, h, "ConnectGetLibVersion", time.Minute, libVersion); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		if _, err := ask(ctx, h, "ConnectGetLibVersion", time.Minute, libVersion); err == nil {
			t.Error("a call under an ended context succeeded")
		}
	})
}

// TestReconnect: a daemon that ended when idle is found again.
func TestReconnect(t *testing.T) {
	d := &fakeDaemon{answer: func(conn int32, _ uint32) (uint32, []byte, bool, bool) {
		return statusOK, hyper(9_000_000), true, conn == 1 // the first connection dies
	}}
	d.serve(t)
	h := unitHost(t, d.path)
	version, err := ask(t.Context(), h, "ConnectGetLibVersion", 5*time.Second, libVersion)
	if err != nil || version != 9_000_000 {
		t.Fatalf("version %d, %v", version, err)
	}
	if n := d.conns.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestReconnectGivesUp: a daemon that always dies is reported after one more try.
func TestReconnectGivesUp(t *testing.T) {
	d := &fakeDaemon{answer: func(int32, uint32) (uint32, []byte, bool, bool) { return 0, nil, false, true }}
	d.serve(t)
	h := unitHost(t, d.path)
	within(t, 10*time.Second, func(ctx context.Context) {
		if _, err := ask(ctx, h, "ConnectGetLibVersion", 5*time.Second, libVersion); !lostConnection(err) {
			t.Errorf("error is %v, want a lost connection", err)
		}
	})
	if n := d.conns.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestRefusal: libvirt's own error keeps its number and becomes one line.
func TestRefusal(t *testing.T) {
	d := &fakeDaemon{answer: func(int32, uint32) (uint32, []byte, bool, bool) {
		return statusError, remoteError(noDomainError, "Domain not found:\n  no domain"), true, false
	}}
	d.serve(t)
	h := unitHost(t, d.path)
	_, err := ask(t.Context(), h, "ConnectGetLibVersion", 5*time.Second, libVersion)
	if !gone(err) || !strings.HasSuffix(err.Error(), "libvirt ConnectGetLibVersion: Domain not found: no domain") {
		t.Errorf("error is %v", err)
	}
	if !h.control.alive() {
		t.Error("a refusal must not cost the connection")
	}
	h.Close()
	if _, err := ask(t.Context(), h, "ConnectGetLibVersion", 5*time.Second, libVersion); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}
