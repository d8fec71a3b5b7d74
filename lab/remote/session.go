package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxAttempts is how many times in a row Session tries to get a stream going
// again. Any byte received starts the count anew.
const maxAttempts = 10

// Follow runs argv(offset) and copies its stdout to w until it ends with status
// 0. It is one attachment: a dropped connection gives a *LostError. Sessions
// use it; so may who wants to handle re-attachment alone.
func (c *Client) Follow(ctx context.Context, argv func(offset int64) []string, offset int64, w io.Writer) error {
	return c.Run(ctx, argv(offset), nil, w, nil)
}

// Session is a Client that comes back: when the connection is lost it dials the
// same Target again, with the same checks of key and token. It is safe for
// concurrent use. The guest's agent must not depend on the connection.
type Session struct {
	target Target
	life   context.Context // ends with Close
	close  context.CancelCauseFunc

	mu     sync.Mutex // held while dialling, so that concurrent callers dial once
	client *Client

	// pause returns how long to wait before attempt n, counted from 1.
	pause func(n int) time.Duration
}

// errSessionClosed is final: Close has been called.
var errSessionClosed = Final(errors.New("the session is closed"))

// NewSession takes client over; Close closes it.
func NewSession(client *Client) *Session {
	s := &Session{target: client.target, client: client, pause: pause}
	s.life, s.close = context.WithCancelCause(context.Background())
	return s
}

// ErrGaveUp is the cause of a Follow that could not get its stream going again.
var ErrGaveUp = errors.New("gave up")

func pause(n int) time.Duration { return min(100*time.Millisecond<<n, 5*time.Second) }

// Close closes the current connection and ends re-dialling. Calls in flight
// return an error.
func (s *Session) Close() error {
	s.close(errSessionClosed) // ends a dial in flight, and so frees mu
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Close()
}

// Client returns a live connection; it dials once if the last one is gone.
func (s *Session) Client(ctx context.Context) (*Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return nil, errSessionClosed
	}
	if s.client.Err() == nil {
		return s.client, nil
	}
	// A guest that accepts and then says nothing must not use up ctx.
	limit := s.target.KeepaliveDead
	dialing, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no login within %s", limit))
	defer stop()
	dialing, cancel := context.WithCancelCause(dialing)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errSessionClosed) })()
	client, err := Dial(dialing, s.target)
	if err != nil {
		return nil, err
	}
	s.target.Log.Info("connected again", "machine", s.target.Name, "lost", s.client.Err())
	s.client = client
	return client, nil
}

// Follow delivers the stdout of argv to w, one complete line with its newline a
// Write, until the command ends with status 0. argv(offset) must print the same
// bytes from offset on, whenever it is called: that is how a lost connection
// costs nothing. Without progress it gives up, with ErrGaveUp, after 10 attempts
// in a row or twice KeepaliveDead; a dead machine does not come back, so let ctx
// end with it. A command that ends with
// another status gives its *ExitError, an unfinished last line
// io.ErrUnexpectedEOF, and a refusal of w ends the call with w's error.
func (s *Session) Follow(ctx context.Context, argv func(offset int64) []string, w io.Writer) error {
	lines := &lineWriter{w: w, max: maxLine}
	var since time.Time // of the first attempt without progress
	var first error     // why that one ended
	for attempt := 1; ; attempt++ {
		before := lines.received
		err := s.attach(ctx, argv, lines)
		switch {
		case lines.err != nil:
			return lines.err
		case err == nil:
			return lines.end()
		case ctx.Err() != nil:
			return fmt.Errorf("follow %s: %w", s.target.Name, context.Cause(ctx))
		case !passes(err):
			return err
		}
		if lines.received > before || since.IsZero() {
			attempt, since, first = 1, time.Now(), err
		}
		if attempt >= maxAttempts || time.Since(since) > 2*s.target.KeepaliveDead {
			return fmt.Errorf("follow %s: %w after %d attempts without progress at byte %d: %w; at last %w", s.target.Name, ErrGaveUp, attempt, lines.received, first, err)
		}
		s.target.Log.Warn("connection dropped, attaching again", "machine", s.target.Name, "offset", lines.received, "attempt", attempt, "error", err)
		waitOr(ctx, s.pause(attempt))
	}
}

func (s *Session) attach(ctx context.Context, argv func(int64) []string, lines *lineWriter) error {
	client, err := s.Client(ctx)
	if err != nil {
		return err
	}
	return client.Follow(ctx, argv, lines.received, lines)
}

// passes reports whether another attempt can do better: a lost connection, a
// dial that failed, or a follower which something killed. A follower's own
// status is its answer.
func passes(err error) bool {
	var exit *ExitError
	if errors.As(err, &exit) {
		return exit.Signal != ""
	}
	return !isFinal(err)
}

// waitOr waits for d or for the end of ctx.
func waitOr(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
