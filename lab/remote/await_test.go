package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var errNotYet = errors.New("not yet")

// after is met at its n-th call.
func after(n int) func(context.Context) error {
	return func(context.Context) error {
		if n--; n > 0 {
			return errNotYet
		}
		return nil
	}
}

func TestAwaitOrder(t *testing.T) {
	var got []string
	err := Await(t.Context(), []Requirement{
		Alive(after(1)),
		{Name: "a", Check: after(3)},
		{Name: "b", Check: after(1)},
	}, Options{Poll: time.Millisecond, Progress: func(r Requirement, s State, _ time.Duration) {
		got = append(got, fmt.Sprint(r.Name, " ", s))
	}})
	want := []string{"process waiting", "process met", "a waiting", "a met", "b waiting", "b met"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestAwaitTimesOut(t *testing.T) {
	begin := time.Now()
	err := Await(t.Context(), []Requirement{{Name: "port", Hint: "look there", Check: after(1 << 30)}},
		Options{Timeout: 10 * time.Millisecond, Scale: 20, Poll: time.Millisecond})
	var notReady *NotReadyError
	if !errors.As(err, &notReady) || !notReady.TimedOut || !errors.Is(err, errNotYet) || !strings.Contains(err.Error(), "wait for port: not met after") || !strings.HasSuffix(err.Error(), "; look there") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took < 200*time.Millisecond || took > time.Second {
		t.Errorf("10 ms at scale 20 took %s", took)
	}
}

func TestAwaitSeesDeathAtOnce(t *testing.T) {
	dead := errors.New("qemu exited with status 1")
	begin := time.Now()
	var failed string
	err := Await(t.Context(), []Requirement{
		Alive(func(context.Context) error {
			if time.Since(begin) > 50*time.Millisecond {
				return dead
			}
			return nil
		}),
		{Name: "console", Check: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
	}, Options{Timeout: time.Minute, Poll: 5 * time.Millisecond, Progress: func(r Requirement, s State, _ time.Duration) {
		if s == Failed {
			failed = r.Name
		}
	}})
	var notReady *NotReadyError
	if !errors.As(err, &notReady) || notReady.Requirement != "process" || notReady.Pending != "console" || notReady.TimedOut || !errors.Is(err, dead) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > time.Second || failed != "console" {
		t.Errorf("noticed after %s at %q", took, failed)
	}
}

func TestAwaitGivesUpEarly(t *testing.T) {
	for name, r := range map[string]Requirement{
		"final": {Name: "x", Check: func(context.Context) error { return Final(errNotYet) }},
		"alive": Alive(after(2)),
	} {
		var notReady *NotReadyError
		if err := Await(t.Context(), []Requirement{r}, Options{}); !errors.As(err, &notReady) || notReady.TimedOut {
			t.Errorf("%s: got %v", name, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	err := Await(ctx, []Requirement{{Name: "x", Check: func(context.Context) error { cancel(interrupted); return errNotYet }}}, Options{})
	var notReady *NotReadyError
	if !errors.Is(err, interrupted) || errors.As(err, &notReady) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestAwaitMarker covers the console step, with a console that cannot be read.
func TestAwaitMarker(t *testing.T) {
	polls := 0
	ready := Marker("platter: ready", func() (bool, error) { polls++; return polls == 3, nil })
	if err := Await(t.Context(), []Requirement{ready}, Options{Poll: time.Millisecond}); err != nil || polls != 3 {
		t.Errorf("%v after %d polls", err, polls)
	}
	broken := Marker("platter: ready", func() (bool, error) { return false, Final(os.ErrClosed) })
	if err := Await(t.Context(), []Requirement{broken}, Options{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestLoginSurvivesEarlySshd(t *testing.T) {
	s := newTestServer(t)
	s.dropFirst.Store(5)
	login := NewLogin(s.target)
	defer login.Close()
	if err := Await(t.Context(), login.Requirements(), Options{Poll: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if n := s.logins.Load(); n != 1 {
		t.Errorf("%d logins for three steps, want 1", n)
	}
	login.Close()
	c := login.Client()
	defer c.Close()
	if _, err := c.Output(t.Context(), "true"); err != nil {
		t.Errorf("Login.Close closed the client it had handed out: %v", err)
	}
}

// TestLoginSurvivesRestartOfSshd drops the connection between banner and login
// and between login and token.
func TestLoginSurvivesRestartOfSshd(t *testing.T) {
	s := newTestServer(t)
	login := NewLogin(s.target)
	defer login.Close()
	steps := login.Requirements()
	for i, step := range steps[:2] {
		check := step.Check
		done := false
		steps[i].Check = func(ctx context.Context) error {
			err := check(ctx)
			if err == nil && !done {
				done = true
				s.drop()
			}
			return err
		}
	}
	if err := Await(t.Context(), steps, Options{Poll: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	login.Client().Close()
}

func TestLoginNamesWhatIsWrong(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing, like a forwarded port of a hung guest
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, tc := range map[string]struct {
		break_ func(*testServer)
		step   string
		final  bool
	}{
		"nobody listens": {func(s *testServer) { s.listener.Close() }, "port", false},
		"silent port": {func(s *testServer) {
			s.target.Dial = func(context.Context) (net.Conn, error) { return net.Dial("tcp", silent.Addr().String()) }
		}, "port", false},
		"not an sshd":       {func(s *testServer) { s.set(func(b *behaviour) { b.preamble = strings.Repeat("text\n", 20_000) }) }, "port", false},
		"other host key":    {func(s *testServer) { s.target.Keys, _ = s.keys.ForMachine() }, "login", true},
		"other client key":  {func(s *testServer) { s.target.Keys.client = newKeys(t).client }, "login", false},
		"other token":       {func(s *testServer) { s.target.Token = "another" }, "token", true},
		"token not written": {func(s *testServer) { os.Remove(s.target.TokenFile) }, "token", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			tc.break_(s)
			login := NewLogin(s.target)
			defer login.Close()
			err := Await(t.Context(), login.Requirements(), Options{Timeout: 300 * time.Millisecond, Poll: 5 * time.Millisecond})
			var notReady *NotReadyError
			if !errors.As(err, &notReady) || notReady.Requirement != tc.step || notReady.TimedOut == tc.final {
				t.Errorf("got %v", err)
			}
			if login.Client() != nil {
				t.Error("a client was handed out")
			}
		})
	}
}

func newKeys(t *testing.T) Keys {
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
