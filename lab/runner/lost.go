package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/remote"
)

// lostLimit bounds the questions asked about a trial that was lost.
const lostLimit = 15 * time.Second

// lastWords are console lines that tell how a guest ended, the surest first, with what they mean.
var lastWords = []struct {
	pattern *regexp.Regexp
	what    string
}{
	{regexp.MustCompile(`Kernel panic - not syncing.*`), "the guest's kernel panicked"},
	{regexp.MustCompile(`(BUG: |Oops: |Unable to handle kernel).*`), "the guest's kernel broke"},
	{regexp.MustCompile(`Out of memory: Killed process.*`), "the guest ran out of memory"},
	{regexp.MustCompile(`reboot: Restarting system.*`), "the guest rebooted"},
	{regexp.MustCompile(`reboot: (Power down|System halted).*`), "the guest shut itself down"},
}

// lost says in one sentence why the guest's stream ended without Done, with what the hypervisor and the console know. The
// console's end becomes the trial's evidence.
func (t *trial) lost(ctx context.Context, machine Machine, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostLimit)
	defer cancel()
	console, _ := machine.Console(ctx, consoleTail) // nothing to show then
	t.evidence = lastLines(string(console), evidenceLines)
	var stopped *stoppedError
	if !errors.As(err, &stopped) {
		if state, stateErr := machine.Alive(ctx); stateErr == nil && !state.Running {
			stopped = &stoppedError{state}
		}
	}
	where := " in " + t.where()
	for _, w := range lastWords {
		at := w.pattern.FindIndex(console)
		if at != nil && (stopped != nil || w.what == lastWords[0].what) {
			line := string(console[at[0]:at[1]])
			t.evidence = around(string(console), at[0])
			return &lab.InfraError{What: w.what + where, Err: fmt.Errorf("%s; %w", printable(line), orRunning(stopped))}
		}
	}
	var gone *remote.LostError
	switch {
	case stopped != nil && stopped.state.Reason == "ioerror":
		return &lab.InfraError{What: "the host could not write for the machine" + where, Err: stopped}
	case stopped != nil:
		return &lab.InfraError{What: "the machine stopped" + where, Err: stopped}
	case errors.As(err, &gone), errors.Is(err, remote.ErrGaveUp):
		return &lab.InfraError{What: "the connection to the guest was lost" + where, Err: fmt.Errorf("%w; %w", err, errRunning)}
	}
	return &lab.InfraError{What: "follow the guest" + where, Err: err}
}

var errRunning = errors.New("the machine is running")

func orRunning(stopped *stoppedError) error {
	if stopped == nil {
		return errRunning
	}
	return stopped
}

// stoppedError is a machine that does not run any more.
type stoppedError struct{ state hypervisor.State }

// Error says what the machine is instead, and for a failed disk of the host which and why.
func (e *stoppedError) Error() string {
	s := e.state
	text := fmt.Sprintf("the machine is %s (%s)", s.Name, s.Reason)
	if s.Reason != "ioerror" {
		return text
	}
	if s.Disk != "" {
		text += fmt.Sprintf(": %s on disk %s", s.IOError, s.Disk)
	}
	if s.IOError == "enospc" || s.IOError == "" {
		text += "; make room where the volumes lie, or use smaller disks or preallocation: full"
	}
	return text
}

// where names what the guest was doing last.
func (t *trial) where() string {
	switch {
	case t.current == nil:
		return "its start"
	case t.current.Index < 0:
		return "phase " + printable(t.current.Name)
	}
	return "step " + printable(t.current.Name)
}

// evidenceLines is how much of a console a result keeps; all of it lies beside the result.
const evidenceLines = 30

// around is what stands on a console from a few lines before a place on: a panic is followed by a long trace.
func around(console string, at int) string {
	before := strings.Split(console[:at], "\n")
	lines := append(before[max(0, len(before)-4):len(before)-1], strings.Split(before[len(before)-1]+console[at:], "\n")...)
	return lastLines(strings.Join(lines[:min(len(lines), evidenceLines)], "\n"), evidenceLines)
}

// lastLines is the end of a console, without the codes that would move a terminal's cursor.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// printable drops control characters and bounds the length: consoles and events are foreign text.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// sentence is an error on one line.
func sentence(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
