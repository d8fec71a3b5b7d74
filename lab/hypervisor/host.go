package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/digitalocean/go-libvirt"
)

// Options of Open. The zero value is usable.
type Options struct {
	// URI is what --connect says; empty means LIBVIRT_DEFAULT_URI, else
	// qemu:///system as root and qemu:///session otherwise.
	URI string
	Log *slog.Logger // nil: quiet
	// StorageDir holds staged images and volumes; empty means
	// /var/lib/libvirt/images/platter in system mode and
	// $XDG_DATA_HOME/platter/volumes in session mode.
	StorageDir string
}

// Host is a machine that can run virtual machines for us. It is safe for
// concurrent use.
type Host struct {
	log     *slog.Logger
	env     environment
	addr    address
	asked   string // URI as asked for, for messages
	storage string
	// handshake is how long a daemon may take to introduce itself.
	handshake time.Duration

	events *eventHub

	// connecting holds a token while a control connection is made, so that
	// others wait for that one, but no longer than their context lets them.
	connecting chan struct{}

	mu       sync.Mutex
	control  *conn // nil or lost: reconnect before the next call
	closed   bool
	machines map[*Machine]struct{}
	info     *Info // what does not change while a daemon lives
}

var errClosed = errors.New("the host is closed")

// Open connects to the host's libvirt daemon, starting the user's own session
// daemon (or, on a host without an init system, the system one) when there is
// none. The error is a *RemoteURIError, a *ConnectError or says what is wrong
// with the URI.
func Open(ctx context.Context, o Options) (*Host, error) {
	env := processEnvironment()
	asked := chooseURI(o.URI, env.getenv, env.uid)
	addr, err := parseURI(asked, env.uid)
	if err != nil {
		return nil, err
	}
	h, err := newHost(env, addr, asked, o)
	if err != nil {
		return nil, err
	}
	if err := env.checkSessionPaths(addr.mode); err != nil {
		return nil, err
	}
	if _, err := h.controlConn(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// newHost is a host that is not connected yet.
func newHost(env environment, addr address, asked string, o Options) (*Host, error) {
	h := &Host{
		log: o.Log, env: env, addr: addr, asked: asked, storage: o.StorageDir,
		handshake: handshakeLimit, connecting: make(chan struct{}, 1), machines: map[*Machine]struct{}{},
	}
	if h.log == nil {
		h.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if h.storage == "" {
		h.storage = env.storageDir(addr.mode)
	}
	var err error
	if h.storage, err = filepath.Abs(h.storage); err != nil {
		return nil, fmt.Errorf("find the storage directory %s: %w", o.StorageDir, err)
	}
	h.events = newEventHub(h)
	return h, nil
}

// URI is the libvirt URI the host was opened with.
func (h *Host) URI() string { return h.asked }

// Mode says which of libvirt's drivers serves the host.
func (h *Host) Mode() Mode { return h.addr.mode }

// StorageDir is the directory of staged images and volumes on the host.
func (h *Host) StorageDir() string { return h.storage }

// Close ends all connections. Machines that still run are destroyed by libvirt.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	control := h.control
	machines := make([]*Machine, 0, len(h.machines))
	for m := range h.machines {
		machines = append(machines, m)
	}
	h.mu.Unlock()
	// Events first: there will be some when the machines end.
	h.events.close()
	for _, m := range machines {
		m.life.close()
		m.events.close()
	}
	if control != nil {
		control.close()
	}
	return nil
}

// controlConn is the connection for calls, made anew when the last one was lost.
func (h *Host) controlConn(ctx context.Context) (*conn, error) {
	select {
	case h.connecting <- struct{}{}:
		defer func() { <-h.connecting }()
	case <-ctx.Done():
		return nil, fmt.Errorf("connect to %s: %w", h.asked, ctx.Err())
	}
	c, err := h.liveControl()
	if c != nil || err != nil {
		return c, err
	}
	if c, err = h.dialOrStart(ctx); err != nil {
		return nil, err
	}
	h.log.Debug("connected to libvirt", "uri", h.addr.uri(), "socket", c.socket)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		c.close()
		return nil, errClosed
	}
	h.control, h.info = c, nil // a new daemon may have new capabilities
	return c, nil
}

// liveControl is the present connection, nil when there is none.
func (h *Host) liveControl() (*conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	if h.control != nil && h.control.alive() {
		return h.control, nil
	}
	return nil, nil
}

// ask makes a call on the control connection. A call that found the daemon gone
// (it ends when idle) is made once more on a new connection: all calls made
// this way may be repeated.
func ask[T any](ctx context.Context, h *Host, name string, limit time.Duration, f func(*libvirt.Libvirt) (T, error)) (T, error) {
	var none T
	for attempt := 0; ; attempt++ {
		c, err := h.controlConn(ctx)
		if err != nil {
			return none, err
		}
		value, err := call(ctx, c, name, limit, f)
		if err == nil || attempt > 0 || !lostConnection(err) {
			return value, err
		}
		c.close()
		h.log.Warn("lost the connection to libvirt, connecting again", "call", name, "err", err)
	}
}

// lostConnection tells a connection that ended from a call that was refused or
// that hung.
func lostConnection(err error) bool {
	var e *CallError
	if errors.As(err, &e) && e.After > 0 {
		return false
	}
	for _, cause := range []error{libvirt.ErrInterrupted, syscall.EINVAL, syscall.EPIPE, syscall.ECONNRESET, io.EOF} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
