package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/digitalocean/go-libvirt"
)

// Deadlines of calls. They are generous, since a daemon under software
// emulation on a busy machine is slow, and only there to end what hangs.
const (
	handshakeLimit = 10 * time.Second
	queryLimit     = 30 * time.Second
	createLimit    = 3 * time.Minute
	destroyLimit   = 60 * time.Second
)

// errSilent is the cause of a CallError whose answer did not come in time.
var errSilent = errors.New("no answer")

// CallError is a libvirt call that failed, was refused or did not answer.
type CallError struct {
	Call  string        // libvirt's name of the call, without vir
	After time.Duration // set when there was no answer
	Err   error         // libvirt.Error, a context's error, or errSilent
}

func (e *CallError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("libvirt %s: %v after %s; is the daemon stuck?", e.Call, e.Err, e.After.Round(time.Millisecond))
	}
	return fmt.Sprintf("libvirt %s: %s", e.Call, oneLine(e.Err.Error()))
}

func (e *CallError) Unwrap() error { return e.Err }

// errorCode is libvirt's number of an error, 0 when the error is none of its.
func errorCode(err error) libvirt.ErrorNumber {
	var e libvirt.Error
	if errors.As(err, &e) {
		return libvirt.ErrorNumber(e.Code)
	}
	return 0
}

// conn is one connection to a daemon. A libvirt.Libvirt is never reused: a
// reconnect on the same object races in the library.
type conn struct {
	lv     *libvirt.Libvirt
	raw    *watchedConn
	socket string
}

// watchedConn notices the end of a connection, which the library reports only
// after a racy hand-over.
type watchedConn struct {
	net.Conn
	once sync.Once
	lost chan struct{}
}

func (w *watchedConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil {
		w.markLost()
	}
	return n, err
}

func (w *watchedConn) Close() error {
	w.markLost()
	return w.Conn.Close()
}

func (w *watchedConn) markLost() { w.once.Do(func() { close(w.lost) }) }

// Dial hands the connection to the library, which wants to dial itself.
func (w *watchedConn) Dial() (net.Conn, error) { return w, nil }

// connect opens a connection and introduces itself.
func connect(ctx context.Context, path string, a address, wantUID int, limit time.Duration) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := dialSocket(ctx, path, wantUID)
	if err != nil {
		return nil, err
	}
	watched := &watchedConn{Conn: raw, lost: make(chan struct{})}
	c := &conn{lv: libvirt.NewWithDialer(watched), raw: watched, socket: path}
	_, err = call(ctx, c, "ConnectOpen", limit, func(lv *libvirt.Libvirt) (struct{}, error) {
		return struct{}{}, lv.ConnectToURI(libvirt.ConnectURI(a.uri()))
	})
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) alive() bool {
	select {
	case <-c.raw.lost:
		return false
	default:
		return true
	}
}

// close ends the connection at once. The library's Disconnect would ask the
// daemon first and hang with it.
//
// Note: a polite ConnectClose before the end saves a line in the daemon's log,
// but libvirt 9.0 then frees the event callbacks in two threads, the one that
// answers and the one that sees the end, and was seen to crash of it.
func (c *conn) close() { c.raw.Close() }

// call runs one libvirt call under a deadline. The library knows no deadlines,
// so when one passes, or ctx ends, the connection is closed and with it every
// other call on it.
func call[T any](ctx context.Context, c *conn, name string, limit time.Duration, f func(*libvirt.Libvirt) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, &CallError{Call: name, Err: err}
	}
	done := make(chan answer, 1)
	start := time.Now()
	go func() {
		value, err := f(c.lv)
		done <- answer{value, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-done:
		if a.err != nil {
			return none, &CallError{Call: name, Err: a.err}
		}
		return a.value, nil
	case <-timer.C:
		c.close()
		return none, &CallError{Call: name, After: time.Since(start), Err: errSilent}
	case <-ctx.Done():
		c.close()
		return none, &CallError{Call: name, After: time.Since(start), Err: ctx.Err()}
	}
}

// oneLine folds QEMU's and libvirt's multi-line messages into one.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
