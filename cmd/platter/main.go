// Command platter is the host: it plans studies, makes the machines that carry them out, and reports. This package
// turns flags into calls and errors into an exit status, one file a verb; the work is done by the packages below lab,
// images and results.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(mainStatus(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// mainStatus runs a command line and returns its exit status.
func mainStatus(args []string, s streams) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	err := run(ctx, args, s)
	if err != nil {
		complain(s.err, err)
	}
	return exitStatus(err, context.Cause(ctx))
}

// untilSignal returns a context that the first SIGINT or SIGTERM ends, with a signalError as its cause: commands then
// clean up. A second signal finds the default action and ends the process at once.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(&signalError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}
