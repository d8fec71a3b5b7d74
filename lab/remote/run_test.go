package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// reply makes an exec handler that passes the marker on and then calls f.
func reply(f func(ch ssh.Channel)) func(string, ssh.Channel) {
	return func(command string, ch ssh.Channel) {
		marker := strings.Fields(command)[3] + " 4711\n"
		io.WriteString(ch, marker)
		io.WriteString(ch.Stderr(), marker)
		f(ch)
	}
}

func TestRunKeepsWordsAndStreams(t *testing.T) {
	c := newTestServer(t).dial(t)
	words := []string{"a b", "it's", `$HOME "x" \n`, "*", "", "ü\n2"}
	var out, errs bytes.Buffer
	script := `for w; do printf '<%s>' "$w"; done; printf oops >&2; cat`
	err := c.Run(t.Context(), append([]string{"sh", "-c", script, "sh"}, words...), strings.NewReader("stdin"), &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	want := "<" + strings.Join(words, "><") + ">stdin"
	if out.String() != want || errs.String() != "oops" {
		t.Errorf("stdout %q, want %q; stderr %q", out.String(), want, errs.String())
	}
}

func TestRunStatus(t *testing.T) {
	s := newTestServer(t)
	c := s.dial(t)
	var exitErr *ExitError
	err := c.Run(t.Context(), []string{"sh", "-c", "echo why >&2; exit 3"}, nil, nil, nil)
	if !errors.As(err, &exitErr) || exitErr.Status != 3 || exitErr.Stderr != "why\n" {
		t.Errorf("got %#v", err)
	}
	err = c.Run(t.Context(), []string{"no-such-tool"}, nil, nil, nil)
	if !errors.As(err, &exitErr) || exitErr.Status != 127 {
		t.Errorf("missing tool: %v", err)
	}
	s.onExec(reply(func(ch ssh.Channel) {
		ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal     string
			Core       bool
			Text, Lang string
		}{Signal: "SEGV"}))
		ch.Close()
	}))
	err = c.Run(t.Context(), []string{"x"}, nil, nil, nil)
	if !errors.As(err, &exitErr) || exitErr.Signal != "SEGV" {
		t.Errorf("signal: %v", err)
	}
}

func TestRunFindsToolsInSbin(t *testing.T) {
	c := newTestServer(t).dial(t) // its shells start with a PATH of two directories
	out, err := c.Output(t.Context(), "sh", "-c", "echo $PATH")
	if err != nil || !strings.Contains(string(out), "/usr/sbin:") {
		t.Errorf("PATH is %q, %v", out, err)
	}
}

func TestRunWithoutStatusIsLost(t *testing.T) {
	s := newTestServer(t)
	c := s.dial(t)
	for name, end := range map[string]func(ssh.Channel){
		"channel closed":    func(ch ssh.Channel) { ch.Close() },
		"connection closed": func(ssh.Channel) { s.drop() },
	} {
		s.onExec(reply(func(ch ssh.Channel) { io.WriteString(ch, "half"); end(ch) }))
		var out bytes.Buffer
		var lost *LostError
		if err := c.Run(t.Context(), []string{"agent"}, nil, &out, nil); !errors.As(err, &lost) {
			t.Errorf("%s: got %v, want a LostError", name, err)
		}
		c = s.dial(t)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	c := newTestServer(t).dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err := c.Run(ctx, []string{"sleep", "20"}, nil, nil, nil)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > grace+time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

func TestRunStopsWhenNobodyListens(t *testing.T) {
	c := newTestServer(t).dial(t)
	full := errors.New("disk full")
	err := c.Run(t.Context(), []string{"sh", "-c", "while echo line; do :; done"}, nil, &cappedWriter{w: io.Discard, left: 100, err: full}, nil)
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestShellNoiseStaysOutside(t *testing.T) {
	s := newTestServer(t)
	s.set(func(b *behaviour) { b.noise = "Welcome to the machine\nno newline at the end" })
	c := s.dial(t) // reads the token through a noisy sftp channel
	var out, errs bytes.Buffer
	if err := c.Run(t.Context(), []string{"echo", "{}"}, nil, &out, &errs); err != nil || out.String() != "{}\n" || errs.Len() > 0 {
		t.Errorf("got %q, %q, %v", out.String(), errs.String(), err)
	}
}

func TestForcedCommandIsNamed(t *testing.T) {
	s := newTestServer(t)
	c := s.dial(t)
	s.onExec(func(_ string, ch ssh.Channel) {
		io.WriteString(ch, `Please login as the user "debian" rather than the user "root".`+"\n\n")
		exit(ch, 0)
	})
	var shell *ShellError
	err := c.Run(t.Context(), []string{"true"}, nil, nil, nil)
	if !errors.As(err, &shell) || shell.Use != "debian" {
		t.Errorf("got %v", err)
	}
}
