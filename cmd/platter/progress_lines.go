package main

import (
	"fmt"
	"io"
	"time"

	"platter/lab"
	"platter/results"
)

// linePrinter writes a line for each thing that begins or ends, for logs and pipes: nothing is ever redrawn, and
// progress within a phase is left out.
type linePrinter struct {
	w     io.Writer
	state *progress
}

// Tell writes the line of an event, if it has one.
func (p *linePrinter) Tell(e lab.RunEvent) {
	p.state.apply(e)
	if line := describeEvent(e, p.state); line != "" {
		fmt.Fprintln(p.w, line)
	}
}

// Close has nothing to end.
func (p *linePrinter) Close() {}

// describeEvent is the line of an event; "" for those a log does not need.
func describeEvent(e lab.RunEvent, state *progress) string {
	switch e.Kind {
	case lab.RunStarted:
		return fmt.Sprintf("run %s: %s, results in %s", e.Run, count(e.Total, "trial"), e.Folder)
	case lab.ImagePhase:
		return fmt.Sprintf("image %s: %s", e.Phase, e.Message)
	case lab.TrialStarted:
		again := ""
		if e.Attempt > 1 {
			again = fmt.Sprintf(", attempt %d", e.Attempt)
		}
		return fmt.Sprintf("[%d/%d] %s%s", e.Index, e.Total, e.Trial, again)
	case lab.PhaseStarted:
		return fmt.Sprintf("[%d/%d]   %s", e.Index, e.Total, e.Phase)
	case lab.LogLine:
		return fmt.Sprintf("%s: %s", e.Level, e.Message)
	case lab.TrialEnded:
		return endOfTrial(e, state)
	case lab.RunEnded:
		return fmt.Sprintf("run %s: %s%s, results in %s", e.Run, e.Status, because(e.Message), e.Folder)
	}
	return ""
}

func endOfTrial(e lab.RunEvent, state *progress) string {
	line := fmt.Sprintf("[%d/%d] %s", e.Index, e.Total, e.Status)
	if e.Seconds != nil {
		line += " after " + (time.Duration(*e.Seconds * float64(time.Second))).Round(100*time.Millisecond).String()
	}
	if e.Status != results.StatusOK {
		line += because(e.Message)
	}
	if rest := state.rest(); rest != "" && state.settled+state.last < state.total {
		line += ", " + rest
	}
	return line
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
