package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// grace is how long a call waits after its context ended for the work to end
// in good order, so that temporary files can be removed.
const grace = 2 * time.Second

// errClosed is the reason of a connection which our side closed.
var errClosed = errors.New("closed by platter")

// Client is one SSH connection to one machine whose key and token were checked.
// It is safe for concurrent use. Every call ends when its context ends or when
// the connection dies, whichever is first; a dead connection is noticed within
// Target.KeepaliveDead. The caller closes it.
type Client struct {
	target Target
	conn   *watchedConn
	ssh    *ssh.Client

	done  chan struct{}
	once  sync.Once
	cause error // why the connection ended; valid after done is closed

	sftpMu sync.Mutex
	sftp   *sftpChannel
}

func newClient(t Target, conn *watchedConn, sshClient *ssh.Client) *Client {
	c := &Client{target: t, conn: conn, ssh: sshClient, done: make(chan struct{})}
	go func() {
		err := sshClient.Wait()
		if err == nil {
			err = errors.New("closed by the guest")
		}
		c.end(err)
	}()
	go c.keepalive()
	return c
}

// Close ends the connection. Calls in flight return a *LostError.
func (c *Client) Close() error {
	c.end(errClosed)
	return nil
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, or nil while it lives.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.cause
	default:
		return nil
	}
}

// end records the first cause and closes the connection.
func (c *Client) end(cause error) {
	c.once.Do(func() {
		c.cause = cause
		close(c.done)
		// Not ssh.Client.Close: it would first write a message to a peer
		// which may have stopped reading.
		c.conn.Close()
	})
}

// keepalive asks every KeepaliveEvery and gives the connection up after
// KeepaliveDead without a single byte from the guest.
func (c *Client) keepalive() {
	every, dead := c.target.KeepaliveEvery, c.target.KeepaliveDead
	answered := make(chan struct{}, 1)
	asking := false
	nextAsk := time.Now().Add(every)
	for {
		wait := min(time.Until(nextAsk), dead-c.conn.silence())
		select {
		case <-c.done:
			return
		case <-answered:
			asking = false
		case <-time.After(max(wait, time.Millisecond)):
		}
		if c.conn.silence() >= dead {
			c.end(fmt.Errorf("%s sent nothing for %s though asked every %s; it hangs, is frozen, or its network is cut", c.target.Name, dead, every))
			return
		}
		if time.Now().Before(nextAsk) {
			continue
		}
		nextAsk = time.Now().Add(every)
		if !asking {
			asking = true
			go func() { // may block in a full send buffer; end frees it
				c.ssh.SendRequest("keepalive@openssh.com", true, nil)
				answered <- struct{}{}
			}()
		}
	}
}

// failure names err after what was attempted, and tells a cancelled call and a
// lost connection from an answer of the guest.
func (c *Client) failure(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case c.Err() != nil:
		return &LostError{Op: op, Err: c.Err()}
	case isLost(err):
		// The call may see the end of the connection before Client does.
		select {
		case <-c.done:
			err = c.cause
		case <-time.After(100 * time.Millisecond):
		}
		return &LostError{Op: op, Err: err}
	default:
		return fmt.Errorf("%s: %w", op, err)
	}
}

// bounded runs f, which cannot be interrupted, and stops waiting for it when
// ctx ends. A value that comes too late goes to late, which may be nil.
func bounded[T any](ctx context.Context, f func() (T, error), late func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := f()
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		go func() {
			if r := <-results; r.err == nil && late != nil {
				late(r.value)
			}
		}()
		var zero T
		return zero, context.Cause(ctx)
	}
}

// clip shortens guest text for a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
