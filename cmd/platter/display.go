package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results"
	"platter/results/store"
)

// display shows one run to people or programs.
type display struct {
	printer printer
	total   int
}

// newProgress chooses how a run is shown: JSON events on standard output, or progress on standard error, so that the
// report alone goes where output goes. settled is the number of trials that an earlier process of the run has settled.
func newProgress(c *cli.Context, p lab.Plan, settled int) display {
	d := display{total: len(p.Trials)}
	if c.Bool("json") {
		d.printer = newJSONPrinter(c.App.Writer)
	} else {
		d.printer = newPrinter(c.App.ErrWriter, settled)
	}
	return d
}

// start tells that the run folder is there.
func (d display) start(r *store.Run) {
	d.event(lab.RunEvent{Kind: lab.RunStarted, Time: time.Now(), Run: r.ID(), Folder: r.Path(), Total: d.total})
}

// note shows a line of platter's own; level as of a log.
func (d display) note(level, message string) {
	d.event(lab.RunEvent{Kind: lab.LogLine, Time: time.Now(), Total: d.total, Level: level, Message: message})
}

// event takes what the runner tells.
func (d display) event(e lab.RunEvent) { d.printer.Tell(e) }

// end tells how the run ended and takes the display away.
func (d display) end(r *store.Run, status store.Status, reason string) {
	d.event(lab.RunEvent{Kind: lab.RunEnded, Time: time.Now(), Run: r.ID(), Folder: r.Path(), Total: d.total,
		Status: results.Status(status), Message: reason})
	d.printer.Close()
}

// causeText says why a command's context ended.
func causeText(c *cli.Context) string {
	if err := context.Cause(c.Context); err != nil {
		return err.Error()
	}
	return ""
}
