package main

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"platter/results"
	"platter/results/store"
)

// TestInterrupt: Ctrl-C or SIGTERM in any phase removes everything in bounded time, and keeps the folder, marked.
func TestInterrupt(t *testing.T) {
	needVM(t)
	host := openTestHost(t)
	for phase, signal := range map[string]syscall.Signal{
		"volumes": syscall.SIGINT, "boot": syscall.SIGTERM, "upload": syscall.SIGINT, "server init": syscall.SIGTERM, "run": syscall.SIGINT,
	} {
		t.Run(phase, func(t *testing.T) {
			dir := t.TempDir()
			c := start(t, "run", "testdata/tiny.yaml", "--json", "--results", dir)
			c.awaitPhase(phase)
			began := time.Now()
			c.cmd.Process.Signal(signal)
			if status := c.wait(); status != 128+int(signal) {
				t.Errorf("exit status %d, want %d: %s", status, 128+int(signal), c.stderr.String())
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("stopping took %s", took)
			}
			nothingLeft(t, host, c.cmd.Process.Pid, dir)
			runs, _, err := store.List(dir)
			if err != nil || len(runs) != 1 {
				t.Fatalf("%d run folders, %v", len(runs), err)
			}
			if got := runs[0].Meta().Status; got != store.Interrupted {
				t.Errorf("the folder says %s", got)
			}
			for r := range runs[0].Results() {
				if r.Status != results.StatusInterrupted || len(r.Metrics) > 0 {
					t.Errorf("%s: %s with %d metrics", r.Trial, r.Status, len(r.Metrics))
				}
			}
		})
	}
}

// TestSecondSignal: a second signal ends a run at once, in the middle of its clean-up; what it says it leaves is there,
// and `platter clean` removes it.
func TestSecondSignal(t *testing.T) {
	needVM(t)
	host := openTestHost(t)
	dir := t.TempDir()
	c := start(t, "run", "testdata/tiny.yaml", "--json", "--results", dir)
	c.awaitPhase("server init")
	began := time.Now()
	c.cmd.Process.Signal(syscall.SIGINT)
	time.Sleep(20 * time.Millisecond) // the agent takes longer to stop
	c.cmd.Process.Signal(syscall.SIGTERM)
	if status := c.wait(); status != 143 {
		t.Errorf("exit status %d, want 143: %s", status, c.stderr.String())
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to stop at once", took)
	}
	for _, want := range []string{"stopped at once; not done any more:", "destroy the machine of ", "remove the volume of disk data of ", "remove the run's volumes", "`platter clean`"} {
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("it does not say %q: %s", want, c.stderr.String())
		}
	}
	runs, _, err := store.List(dir)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d run folders, %v", len(runs), err)
	}
	for _, want := range []string{"run ", "nothing is left"} { // the machine may be gone: it dies with its owner's connection
		clean := start(t, "clean", "--run", runs[0].ID())
		out, _ := io.ReadAll(readLines(clean.events))
		if status := clean.wait(); status != 0 || !bytes.Contains(out, []byte(want)) {
			t.Errorf("clean: status %d, %q lacks %q: %s", status, out, want, clean.stderr.String())
		}
	}
	nothingLeft(t, host, c.cmd.Process.Pid, dir)
}

// TestKill: after kill -9 in the middle of a trial, `platter clean` removes everything of the dead run and nothing else.
func TestKill(t *testing.T) {
	needVM(t)
	host := openTestHost(t)
	other := makeForeign(t, host)
	dir := t.TempDir()
	c := start(t, "run", "testdata/tiny.yaml", "--json", "--results", dir)
	c.awaitPhase("server init")
	c.cmd.Process.Kill()
	c.cmd.Wait()

	clean := start(t, "clean")
	out, _ := io.ReadAll(readLines(clean.events))
	if status := clean.wait(); status != 0 {
		t.Errorf("clean: exit status %d: %s", status, clean.stderr.String())
	}
	if !bytes.Contains(out, []byte("run ")) {
		t.Errorf("clean does not say what it removed: %q", out)
	}
	nothingLeft(t, host, c.cmd.Process.Pid, dir)
	other.untouched(t)
	again := start(t, "clean")
	if out, _ := io.ReadAll(readLines(again.events)); again.wait() != 0 || !bytes.Contains(out, []byte("nothing")) {
		t.Errorf("a second clean found something: %q", out)
	}
}

func readLines(s *bufio.Scanner) io.Reader {
	var b bytes.Buffer
	for s.Scan() {
		b.WriteString(s.Text() + "\n")
	}
	return &b
}
