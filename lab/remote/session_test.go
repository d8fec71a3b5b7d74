package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// events is a long stream with lines of all lengths, one far beyond 64 KiB.
func events() []byte {
	var b bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&b, "{\"event\":%d,\"text\":%q}\n", i, strings.Repeat("x", i*7))
	}
	fmt.Fprintf(&b, "{%q}\n", strings.Repeat("y", 300_000))
	return b.Bytes()
}

// dropping serves stream from the asked offset and loses the connection at
// each of the given positions once.
func dropping(s *testServer, stream []byte, at ...int) func(string, ssh.Channel) {
	return func(command string, ch ssh.Channel) {
		words := strings.Fields(command)
		offset, _ := strconv.Atoi(strings.Trim(words[len(words)-1], "'"))
		reply(func(ch ssh.Channel) {
			if len(at) > 0 {
				stop := at[0]
				at = at[1:]
				ch.Write(stream[offset:stop])
				time.Sleep(30 * time.Millisecond) // let it arrive
				s.drop()
				return
			}
			ch.Write(stream[offset:])
			exit(ch, 0)
		})(command, ch)
	}
}

func followArgv(offset int64) []string {
	return []string{"platter-guest", "follow", "--offset", strconv.FormatInt(offset, 10)}
}

func newTestSession(t *testing.T, s *testServer) *Session {
	session := NewSession(s.dial(t))
	session.pause = func(int) time.Duration { return time.Millisecond }
	t.Cleanup(func() { session.Close() })
	return session
}

// lineCheck collects lines and fails if a Write is not exactly one.
type lineCheck struct {
	t *testing.T
	bytes.Buffer
}

func (l *lineCheck) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, '\n') != len(p)-1 {
		l.t.Errorf("not one line: %q", clip(string(p), 60))
	}
	return l.Buffer.Write(p)
}

func TestFollowAttachesAgain(t *testing.T) {
	stream := events()
	line := bytes.IndexByte(stream[5000:], '\n') + 5001
	for name, at := range map[string][]int{
		"never":          nil,
		"at once":        {0},
		"between lines":  {line},
		"within a line":  {line + 3},
		"before newline": {line - 1},
		"many times":     {10, 11, 12, 700, line, line, 100_000, 200_000, len(stream) - 1, len(stream)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			session := newTestSession(t, s)
			s.onExec(dropping(s, stream, slices.Clone(at)...))
			got := &lineCheck{t: t}
			if err := session.Follow(t.Context(), followArgv, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), stream) {
				t.Errorf("got %d bytes, want %d", got.Len(), len(stream))
			}
		})
	}
}

func TestFollowGivesUp(t *testing.T) {
	s := newTestServer(t)
	session := newTestSession(t, s)
	s.onExec(reply(func(ssh.Channel) { s.drop() }))
	var lost *LostError
	err := session.Follow(t.Context(), followArgv, io.Discard)
	if !errors.As(err, &lost) || !strings.Contains(err.Error(), "10 attempts") {
		t.Errorf("got %v", err)
	}
}

func TestFollowEndsForGood(t *testing.T) {
	refusal := errors.New("disk full")
	for name, tc := range map[string]struct {
		exec func(ssh.Channel)
		w    io.Writer
		want func(error) bool
	}{
		"follower fails": {
			func(ch ssh.Channel) { exit(ch, 4) }, io.Discard,
			func(err error) bool { var e *ExitError; return errors.As(err, &e) && e.Status == 4 },
		},
		"last line unfinished": {
			func(ch ssh.Channel) { io.WriteString(ch, "{}\n{"); exit(ch, 0) }, io.Discard,
			func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
		},
		"writer refuses": {
			func(ch ssh.Channel) { io.WriteString(ch, "{}\n{}\n"); exit(ch, 0) }, &cappedWriter{w: io.Discard, left: 3, err: refusal},
			func(err error) bool { return errors.Is(err, refusal) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			session := newTestSession(t, s)
			s.onExec(reply(tc.exec))
			if err := session.Follow(t.Context(), followArgv, tc.w); !tc.want(err) {
				t.Errorf("got %v", err)
			}
			if n := s.logins.Load(); n != 1 {
				t.Errorf("dialled %d times", n)
			}
		})
	}
}

func TestFollowRefusesMachineThatChanged(t *testing.T) {
	s := newTestServer(t)
	session := newTestSession(t, s)
	s.onExec(reply(func(ssh.Channel) {
		os.WriteFile(s.target.TokenFile, []byte("run-8/vm-1"), 0o600)
		s.drop()
	}))
	var token *TokenError
	if err := session.Follow(t.Context(), followArgv, io.Discard); !errors.As(err, &token) {
		t.Errorf("got %v", err)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	s := newTestServer(t)
	session := newTestSession(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	panicked := errors.New("the domain crashed")
	s.onExec(reply(func(ssh.Channel) { s.listener.Close(); s.drop(); cancel(panicked) }))
	if err := session.Follow(ctx, followArgv, io.Discard); !errors.Is(err, panicked) {
		t.Errorf("got %v", err)
	}
}

// TestSessionCloseEndsDialling closes a session whose guest accepts connections
// and says nothing.
func TestSessionCloseEndsDialling(t *testing.T) {
	s := newTestServer(t)
	session := newTestSession(t, s)
	var dropped atomic.Bool
	s.onExec(reply(func(ssh.Channel) { dropped.Store(true); s.drop() }))
	dial := s.target.Dial
	session.target.Dial = func(ctx context.Context) (net.Conn, error) {
		time.AfterFunc(50*time.Millisecond, func() { session.Close() })
		conn, err := dial(ctx)
		stalled := make(chan struct{})
		close(stalled)
		return &stallConn{Conn: conn, frozen: stalled, closed: make(chan struct{})}, err
	}
	begin := time.Now()
	err := session.Follow(t.Context(), followArgv, io.Discard)
	if !dropped.Load() || err == nil || !strings.Contains(err.Error(), "session is closed") || time.Since(begin) > 3*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

func TestSessionUploadsAfterDrop(t *testing.T) {
	s := newTestServer(t)
	session := newTestSession(t, s)
	first, err := session.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.drop()
	<-first.Done()
	second, err := session.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Upload(t.Context(), filepath.Join(t.TempDir(), "x"), 1, 0o600, strings.NewReader("x")); err != nil {
		t.Error(err)
	}
}

func TestLineCap(t *testing.T) {
	l := &lineWriter{w: io.Discard, max: 10}
	for _, part := range []string{"123456789\n", "12345", "67890\n"} {
		if _, err := io.WriteString(l, part); (err != nil) != (part == "67890\n") {
			t.Errorf("%q: %v", part, err)
		}
	}
}
