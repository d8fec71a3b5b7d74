package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestKeysDoNotLeak(t *testing.T) {
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %s", keys, keys, keys, keys.LogValue())
	if strings.Contains(printed, "PRIVATE") || !strings.Contains(printed, "SHA256:") {
		t.Errorf("printed as %q", printed)
	}
	other, err := keys.ForMachine()
	if err != nil || other.AuthorizedKey() != keys.AuthorizedKey() || string(other.HostPrivatePEM()) == string(keys.HostPrivatePEM()) {
		t.Errorf("a second machine must share the client key only: %v", err)
	}
}

func TestWrongMachineIsRefused(t *testing.T) {
	s := newTestServer(t)

	stranger := s.target
	stranger.Keys, _ = s.keys.ForMachine()
	var hostKey *HostKeyError
	if _, err := Dial(t.Context(), stranger); !errors.As(err, &hostKey) || !isFinal(err) {
		t.Errorf("other host key: %v", err)
	}
	if s.logins.Load() != 0 {
		t.Error("the client logged in to a machine with another host key")
	}

	neighbour := s.target
	neighbour.Token = "run-7/vm-2"
	var token *TokenError
	if _, err := Dial(t.Context(), neighbour); !errors.As(err, &token) || !isFinal(err) || token.Got != "run-7/vm-1" {
		t.Errorf("other token: %v", err)
	}

	nameless := s.target
	nameless.Token = ""
	if err := os.WriteFile(nameless.TokenFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), nameless); !isFinal(err) {
		t.Errorf("an empty token must not match an empty file: %v", err)
	}
}

func TestTextBeforeBanner(t *testing.T) {
	s := newTestServer(t)
	s.set(func(b *behaviour) { b.preamble = "kernel: something\r\nwelcome\r\n" })
	s.dial(t)
}

// stallConn is a network which, once frozen, loses all packets without a word.
type stallConn struct {
	net.Conn
	frozen, closed chan struct{}
	once           sync.Once
}

func (c *stallConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (c *stallConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.frozen:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

// Write blocks like a full send buffer.
func (c *stallConn) Write(p []byte) (int, error) {
	select {
	case <-c.frozen:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return c.Conn.Write(p)
	}
}

func stallable(s *testServer) (freeze func()) {
	frozen := make(chan struct{})
	dial := s.target.Dial
	s.target.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		return &stallConn{Conn: conn, frozen: frozen, closed: make(chan struct{})}, err
	}
	return func() { close(frozen) }
}

func TestKeepaliveEndsDeadConnection(t *testing.T) {
	s := newTestServer(t)
	freeze := stallable(s)
	s.target.KeepaliveEvery, s.target.KeepaliveDead = 20*time.Millisecond, 300*time.Millisecond
	c := s.dial(t)
	time.AfterFunc(400*time.Millisecond, freeze) // first the keepalives must keep it alive
	begin := time.Now()
	err := c.Run(t.Context(), []string{"sleep", "20"}, nil, nil, nil)
	took := time.Since(begin)
	var lost *LostError
	if !errors.As(err, &lost) || !strings.Contains(err.Error(), "sent nothing for 300ms") {
		t.Errorf("got %v", err)
	}
	if took < 600*time.Millisecond || took > 2*time.Second {
		t.Errorf("noticed after %s, want about 700ms", took)
	}
}

// TestCallsEndOnStalledConnection pins the promise that no call outlives its
// context by more than grace, even if the connection takes no more bytes.
func TestCallsEndOnStalledConnection(t *testing.T) {
	s := newTestServer(t)
	freeze := stallable(s)
	c := s.dial(t)
	freeze()
	calls := map[string]func(context.Context) error{
		"run":    func(ctx context.Context) error { return c.Run(ctx, []string{"true"}, nil, nil, nil) },
		"upload": func(ctx context.Context) error { return c.Upload(ctx, "/x", 1, 0o600, strings.NewReader("x")) },
		"read":   func(ctx context.Context) error { _, err := c.ReadFile(ctx, "/x"); return err },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			begin := time.Now()
			if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > grace+time.Second {
				t.Errorf("%v after %s", err, time.Since(begin))
			}
		})
	}
}
