package hypervisor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/lab/domain"
)

// consoleMachine is a machine of which only the console is there.
func consoleMachine(t *testing.T) *Machine {
	t.Helper()
	return &Machine{spec: domain.Spec{Name: "m", ConsolePath: filepath.Join(t.TempDir(), "console")}}
}

func (m *Machine) write(t *testing.T, suffix, text string) {
	t.Helper()
	f, err := os.OpenFile(m.spec.ConsolePath+suffix, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestConsoleTail(t *testing.T) {
	m := consoleMachine(t)
	if text, err := m.Console(t.Context(), 100); err != nil || len(text) != 0 {
		t.Errorf("before the first word: %q, %v", text, err)
	}
	m.write(t, "", "newest")
	m.write(t, ".0", "newer ")
	m.write(t, ".1", "old ")
	for limit, want := range map[int64]string{3: "est", 6: "newest", 9: "er newest", 100: "old newer newest"} {
		if text, err := m.Console(t.Context(), limit); err != nil || string(text) != want {
			t.Errorf("last %d bytes are %q, %v; want %q", limit, text, err, want)
		}
	}
}

// lockedBuffer can be written and read at once.
type lockedBuffer struct {
	ch  chan struct{}
	buf bytes.Buffer
}

func newLockedBuffer() *lockedBuffer { return &lockedBuffer{ch: make(chan struct{}, 1)} }

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.ch <- struct{}{}
	defer func() { <-b.ch }()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.ch <- struct{}{}
	defer func() { <-b.ch }()
	return b.buf.String()
}

// TestCopyConsoleFollows goes through a rotation by virtlogd.
func TestCopyConsoleFollows(t *testing.T) {
	m := consoleMachine(t)
	m.pid, m.pidStart = os.Getpid(), 0
	start, err := processStart(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	m.pidStart = start
	m.write(t, "", "one ")
	ctx, cancel := context.WithCancel(t.Context())
	out := newLockedBuffer()
	done := make(chan error, 1)
	go func() { done <- m.CopyConsole(ctx, out) }()
	await := func(want string) {
		t.Helper()
		for range 100 {
			if out.String() == want {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatalf("copied %q, want %q", out.String(), want)
	}
	await("one ")
	m.write(t, "", "two ")
	await("one two ")
	m.write(t, "", "three ")
	if err := os.Rename(m.spec.ConsolePath, m.spec.ConsolePath+".0"); err != nil {
		t.Fatal(err)
	}
	m.write(t, "", "four")
	await("one two three four")
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestCopyConsoleEnds(t *testing.T) {
	m := consoleMachine(t)
	m.write(t, "", "last words")
	var out bytes.Buffer
	if err := m.CopyConsole(t.Context(), &out); err != nil || out.String() != "last words" {
		t.Errorf("of a machine that is gone: %q, %v", out.String(), err)
	}
	if err := m.CopyConsole(t.Context(), failingWriter{}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("error is %v", err)
	}
}
