package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"platter/lab"
	"platter/results"
)

// barScale is the bar's resolution: parts of the whole run.
const barScale = 10_000

// barPrinter draws one bar for the whole run with the current trial, its step and the time left beside it, and writes
// what lasts (ends of trials, warnings) as lines above.
type barPrinter struct {
	state *progress
	pool  *mpb.Progress
	bar   *mpb.Bar
}

func newBarPrinter(w io.Writer, state *progress, options ...mpb.ContainerOption) *barPrinter {
	p := &barPrinter{state: state}
	p.pool = mpb.New(append([]mpb.ContainerOption{mpb.WithOutput(w)}, options...)...)
	p.bar = p.pool.AddBar(barScale, mpb.BarRemoveOnComplete(), mpb.BarWidth(24),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.counter() })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.detail() })))
	return p
}

// counter is what stands before the bar: trials done.
func (p *barPrinter) counter() string {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.total == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d ", p.state.settled+p.state.last, p.state.total)
}

// detail is what stands behind the bar: trial, step and time left.
func (p *barPrinter) detail() string {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	var parts []string
	for _, part := range []string{p.state.trial, p.state.step(), p.state.rest()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return " " + strings.Join(parts, " | ")
}

// Tell takes an event into the bar, or writes its line above it.
func (p *barPrinter) Tell(e lab.RunEvent) {
	p.state.apply(e)
	p.state.mu.Lock()
	fraction := p.state.fraction()
	p.state.mu.Unlock()
	// A full bar would end the display while the run still cleans up.
	p.bar.SetCurrent(min(int64(fraction*barScale), barScale-1))
	switch {
	case e.Kind == lab.RunStarted, e.Kind == lab.RunEnded, e.Kind == lab.ImagePhase,
		e.Kind == lab.TrialEnded,
		e.Kind == lab.LogLine && (e.Level == "warn" || e.Level == "error"):
		if e.Kind == lab.TrialEnded && e.Status == results.StatusOK {
			return // the counter shows it
		}
		p.state.mu.Lock()
		line := describeEvent(e, p.state)
		p.state.mu.Unlock()
		_, _ = fmt.Fprintln(p.pool, line)
	}
}

// Close takes the bar away.
func (p *barPrinter) Close() {
	p.bar.Abort(true)
	p.pool.Wait()
}
