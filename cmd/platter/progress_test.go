package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vbauerster/mpb/v8"

	"platter/lab"
	"platter/results"
)

// story is a short run: an image, a good trial, a failed one, and the end.
func story() []lab.RunEvent {
	seconds := 61.25
	return []lab.RunEvent{
		{Kind: lab.RunStarted, Run: "r1", Folder: "/r/r1", Total: 3},
		{Kind: lab.ImagePhase, Phase: "root", Message: "installing packages", Total: 3},
		{Kind: lab.TrialStarted, Trial: "a/round=1", Index: 1, Total: 3, Attempt: 1},
		{Kind: lab.PhaseStarted, Phase: "boot", Index: 1, Total: 3},
		{Kind: lab.PhaseStarted, Phase: "run", Index: 1, Total: 3},
		{Kind: lab.PhaseDone, Phase: "run", Index: 1, Total: 3, Done: 150, Of: 1000, Unit: "queries"},
		{Kind: lab.LogLine, Level: "warn", Message: "disk is slow", Total: 3},
		{Kind: lab.TrialEnded, Trial: "a/round=1", Index: 1, Total: 3, Status: results.StatusOK, Seconds: &seconds},
		{Kind: lab.TrialStarted, Trial: "b/round=1", Index: 2, Total: 3, Attempt: 2},
		{Kind: lab.TrialEnded, Trial: "b/round=1", Index: 2, Total: 3, Status: results.StatusFailed, Message: "server died"},
		{Kind: lab.RunEnded, Run: "r1", Folder: "/r/r1", Total: 3, Status: "done"},
	}
}

// steady is a state whose clock moves a minute at each look.
func steady() *progress {
	p := newProgressState()
	now := time.Unix(0, 0)
	p.clock = func() time.Time { now = now.Add(time.Minute); return now }
	return p
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	p := &linePrinter{w: &out, state: steady()}
	for _, e := range story() {
		p.Tell(e)
	}
	p.Close()
	want := `run r1: 3 trials, results in /r/r1
image root: installing packages
[1/3] a/round=1
[1/3]   boot
[1/3]   run
warn: disk is slow
[1/3] ok after 1m1.3s, 2m left
[2/3] b/round=1, attempt 2
[2/3] failed: server died, 1m left
run r1: done, results in /r/r1
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestJSONEvents(t *testing.T) {
	var out bytes.Buffer
	p := newJSONPrinter(&out)
	for _, e := range story() {
		p.Tell(e)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(story()) {
		t.Fatalf("%d lines for %d events", len(lines), len(story()))
	}
	for i, line := range lines {
		var e lab.RunEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind != story()[i].Kind {
			t.Errorf("line %d is %q: %v", i, line, err)
		}
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	p := newBarPrinter(&out, steady(), mpb.WithWidth(120), mpb.WithAutoRefresh(), mpb.WithRefreshRate(5*time.Millisecond))
	events := story()
	for _, e := range events[:6] {
		p.Tell(e)
	}
	time.Sleep(50 * time.Millisecond) // lets the bar be drawn
	for _, e := range events[6:9] {
		p.Tell(e)
	}
	time.Sleep(50 * time.Millisecond)
	for _, e := range events[9:] {
		p.Tell(e)
	}
	p.Close()
	for _, want := range []string{"0/3 ", "a/round=1 | run 150/1000 queries", "warn: disk is slow", "1/3 ", "left", "[2/3] failed: server died", "run r1: done"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the bar never shows %q:\n%q", want, out.String())
		}
	}
	if strings.Contains(out.String(), "[1/3] ok") {
		t.Error("a good trial's end is a line; the counter shows it already")
	}
}

func TestTimeLeft(t *testing.T) {
	p := newProgressState()
	now := time.Unix(0, 0)
	p.clock = func() time.Time { return now }
	p.apply(lab.RunEvent{Kind: lab.RunStarted, Total: 4})
	if _, ok := p.left(); ok {
		t.Error("time left is known before any trial has ended")
	}
	trial := func(d time.Duration) {
		p.apply(lab.RunEvent{Kind: lab.TrialStarted, Trial: "x"})
		now = now.Add(d)
		p.apply(lab.RunEvent{Kind: lab.TrialEnded, Status: results.StatusOK})
	}
	trial(80 * time.Second)
	trial(40 * time.Second)
	if d, _ := p.left(); d != 2*time.Minute {
		t.Errorf("%s left, want 2m", d)
	}
	p.apply(lab.RunEvent{Kind: lab.TrialStarted, Trial: "x"})
	now = now.Add(30 * time.Second)
	if d, _ := p.left(); d != 90*time.Second {
		t.Errorf("%s left within the third trial, want 1m30s", d)
	}
	if f := p.fraction(); f != (2+0.5)/4 {
		t.Errorf("fraction %v, want 0.625", f)
	}
	now = now.Add(time.Hour) // a trial that takes far longer than the others
	if d, _ := p.left(); d != time.Minute {
		t.Errorf("%s left, want that of the one trial to come", d)
	}
	if f := p.fraction(); f >= 0.75 {
		t.Errorf("fraction %v claims a trial that goes on", f)
	}
}

// TestGuestCannotSteerTheTerminal: control characters, bidi overrides and feigned lines of a guest are gone from progress
// and from errors.
func TestGuestCannotSteerTheTerminal(t *testing.T) {
	evil := "a\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u200b\xff\n[1/1] ok"
	var out bytes.Buffer
	p := newPrinter(&out, 0)
	p.Tell(lab.RunEvent{Kind: lab.LogLine, Level: "info", Message: evil, Total: 1})
	p.Tell(lab.RunEvent{Kind: lab.PhaseStarted, Phase: evil, Index: 1, Total: 1})
	p.Close()
	complain(&out, &lab.JobError{Reason: "it failed", Evidence: evil})
	for _, bad := range []string{"\x1b", "\x07", "\u202e", "\u200b", "\xff"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%q comes through", bad)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "[1/1] ok") {
			t.Errorf("a line of the guest looks like ours: %q", line)
		}
	}
	if !strings.Contains(out.String(), "owned") {
		t.Errorf("nothing of the guest is shown: %q", out.String())
	}
}
