package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"platter/lab"
	"platter/results"
)

// progress is what a run has told so far: one state, which three printers show (progress_bar.go, progress_lines.go,
// progress_json.go).
type progress struct {
	mu sync.Mutex

	total int // trials of the plan
	ended map[results.Status]int
	last  int // trials that have ended

	settled int // trials that an earlier process of the run settled

	trial   string // readable name of the current trial, "" between trials
	index   int    // of the current trial, from 1
	attempt int
	phase   string
	done    float64 // within the phase
	of      float64
	unit    string
	began   time.Time     // of the current trial
	spent   time.Duration // by the trials that have ended
	clock   func() time.Time
}

// printer shows a run. Tell is called from one goroutine at a time; Close ends the display and leaves the terminal clean.
type printer interface {
	Tell(e lab.RunEvent)
	Close()
}

// newPrinter shows a run on w for people: as a bar where w is a terminal, or else as plain lines.
// settled trials count as done from the start.
func newPrinter(w io.Writer, settled int) printer {
	state := newProgressState()
	state.settled = settled
	if isTerminal(w) {
		return harmlessPrinter{newBarPrinter(w, state)}
	}
	return harmlessPrinter{&linePrinter{w: w, state: state}}
}

// harmlessPrinter takes out of events what a guest could steer a terminal with, or feign lines of ours.
type harmlessPrinter struct{ printer }

// Tell passes the event on.
func (p harmlessPrinter) Tell(e lab.RunEvent) {
	for _, text := range []*string{&e.Trial, &e.Phase, &e.Unit, &e.Level, &e.Message} {
		*text = strings.ReplaceAll(printable(*text), "\n", " ")
	}
	p.printer.Tell(e)
}

func newProgressState() *progress {
	return &progress{ended: map[results.Status]int{}, clock: time.Now}
}

// isTerminal tells whether w is a terminal that can redraw a line.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// apply takes one event into the state.
func (p *progress) apply(e lab.RunEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Total > 0 {
		p.total = e.Total
	}
	switch e.Kind {
	case lab.ImagePhase:
		p.phase, p.done, p.of, p.unit = "image "+e.Phase, 0, 0, ""
	case lab.TrialStarted:
		p.trial, p.index, p.attempt, p.began = e.Trial, e.Index, e.Attempt, p.clock()
		p.phase, p.done, p.of, p.unit = "", 0, 0, ""
	case lab.PhaseStarted:
		p.phase, p.done, p.of, p.unit = e.Phase, 0, 0, ""
	case lab.PhaseDone:
		p.done, p.of, p.unit = e.Done, e.Of, e.Unit
		if e.Phase != "" {
			p.phase = e.Phase
		}
	case lab.TrialEnded:
		p.ended[e.Status]++
		p.last++
		if !p.began.IsZero() {
			p.spent += p.clock().Sub(p.began)
		}
		p.trial, p.phase, p.began = "", "", time.Time{}
	}
}

// left is the expected rest of the run: the mean of the trials that ended, times those still to come. ok is false until
// one has ended.
func (p *progress) left() (rest time.Duration, ok bool) {
	if p.last == 0 || p.total == 0 {
		return 0, false
	}
	mean := p.spent / time.Duration(p.last)
	rest = mean * time.Duration(max(p.total-p.settled-p.last, 0))
	if !p.began.IsZero() {
		rest -= min(p.clock().Sub(p.began), mean)
	}
	return max(rest, 0), true
}

// fraction is how much of the run is done, from 0 to 1; the current trial counts by the time it usually takes.
func (p *progress) fraction() float64 {
	if p.total == 0 {
		return 0
	}
	done := float64(p.settled + p.last)
	if p.last > 0 && !p.began.IsZero() && p.spent > 0 {
		mean := p.spent.Seconds() / float64(p.last)
		done += min(p.clock().Sub(p.began).Seconds()/mean, 0.95)
	}
	return min(done/float64(p.total), 1)
}

// step says what is being done and how far it is: "run 150/1000 queries".
func (p *progress) step() string {
	switch {
	case p.of > 0:
		return fmt.Sprintf("%s %.0f/%.0f %s", p.phase, p.done, p.of, p.unit)
	case p.done > 0:
		return fmt.Sprintf("%s %.0f %s", p.phase, p.done, p.unit)
	default:
		return p.phase
	}
}

// rest says how much time is left, for people: minutes, and seconds only in the last one.
func (p *progress) rest() string {
	d, ok := p.left()
	switch {
	case !ok:
		return ""
	case d >= time.Minute:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s") + " left"
	default:
		return d.Round(time.Second).String() + " left"
	}
}
