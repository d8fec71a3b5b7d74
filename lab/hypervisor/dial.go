package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// dial tries every socket of the address. The error is a *ConnectError.
func (h *Host) dial(ctx context.Context) (*conn, error) {
	failure := &ConnectError{URI: h.asked}
	for _, path := range h.env.sockets(h.addr) {
		c, err := connect(ctx, path, h.addr, h.peerUID(), h.handshake)
		if err == nil {
			return c, nil
		}
		failure.Attempts = append(failure.Attempts, Attempt{Path: path, Reason: reason(err), Err: err})
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failure
}

// peerUID is the user a daemon must run as.
func (h *Host) peerUID() int {
	if h.addr.mode == SystemMode {
		return 0
	}
	return h.env.uid
}

// dyingAttempts is how often a daemon that hangs up on us is tried again.
const dyingAttempts = 5

// dialOrStart connects, and starts a daemon when there is none to connect to. A
// daemon that is there but denies or does not answer is not replaced.
func (h *Host) dialOrStart(ctx context.Context) (*conn, error) {
	c, err := h.dial(ctx)
	for attempt := 0; err != nil && lostConnection(err) && attempt < dyingAttempts; attempt++ {
		// A daemon that ends, idle or not, still takes connections for a moment.
		if !backOff(ctx, attempt) {
			break
		}
		c, err = h.dial(ctx)
	}
	if err == nil {
		return c, nil
	}
	var failure *ConnectError
	if !errors.As(err, &failure) || ctx.Err() != nil {
		return nil, err
	}
	failure.Hint = h.hint(failure)
	plan := h.env.daemonPlan(h.addr)
	if plan == nil || !nobodyListens(failure) {
		return nil, err
	}
	if failure.Start = h.startDaemon(ctx, plan); failure.Start != nil {
		return nil, failure
	}
	c, err = h.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("after starting %s: %w", filepath.Base(plan.daemon), err)
	}
	return c, nil
}

// nobodyListens tells whether every socket is missing or dead.
func nobodyListens(e *ConnectError) bool {
	for _, a := range e.Attempts {
		if !errors.Is(a.Err, fs.ErrNotExist) && reason(a.Err) != reason(errRefused) {
			return false
		}
	}
	return true
}

// hint says what a person can do about a failed connection.
func (h *Host) hint(e *ConnectError) string {
	denied := false
	for _, a := range e.Attempts {
		denied = denied || errors.Is(a.Err, fs.ErrPermission)
	}
	switch {
	case !denied && !nobodyListens(e):
		return "" // the daemon's own words say it best
	case denied && h.addr.mode == SystemMode:
		return "join the group libvirt (and log in again), or use --connect qemu:///session"
	case h.addr.mode == SystemMode && h.env.hasInit():
		return "install libvirt-daemon-system and start it with: systemctl start libvirtd.socket (or virtqemud.socket)"
	case h.addr.mode == SystemMode:
		return "install libvirt-daemon-system and start it as root: virtlogd -d; libvirtd -d"
	}
	return "install libvirt-daemon and qemu-system, or set LIBVIRT_AUTOSTART=1 so that the session daemon may be started"
}

// checkSessionPaths makes sure that QEMU's monitor sockets, which libvirt puts
// below the user's configuration directory, fit into a socket address.
func (env environment) checkSessionPaths(mode Mode) error {
	if mode != SessionMode {
		return nil
	}
	config := env.xdg("XDG_CONFIG_HOME", ".config")
	monitor := filepath.Join(config, "libvirt/qemu/lib/domain-99999-abcdefghijklmnopqrst/monitor.sock")
	if len(monitor) > maxSocketPath {
		return fmt.Errorf("connect to qemu:///session: QEMU's monitor socket would have a path of %d bytes (%s), a Unix socket may have %d; set XDG_CONFIG_HOME to a shorter directory", len(monitor), monitor, maxSocketPath)
	}
	return nil
}

// backOff waits a little longer each time; it reports false when ctx ends first.
func backOff(ctx context.Context, attempt int) bool {
	wait := min(50*time.Millisecond<<attempt, time.Second)
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// makePrivate makes a directory that only the caller can enter.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the runtime directory: %w", err)
	}
	return nil
}
