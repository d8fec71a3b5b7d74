// Command platter is the host: it plans studies, makes the machines that carry them out, and reports. This package
// turns flags into calls and errors into an exit status, one file a verb; the work is done by the packages below lab,
// images and results.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"platter/lab/runner"
)

func main() {
	os.Exit(mainStatus(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// mainStatus runs a command line and returns its exit status.
func mainStatus(args []string, s streams) int {
	left := &runner.Left{}
	ctx, stop := untilSignal(context.WithValue(context.Background(), leftKey{}, left), func(second os.Signal) {
		fmt.Fprint(s.err, stoppedAtOnce(left))
		os.Exit(exitStatus(&signalError{second}, nil))
	})
	defer stop()
	err := run(ctx, args, s)
	if err != nil {
		complain(s.err, err)
	}
	return exitStatus(err, context.Cause(ctx))
}

// leftKey finds in a context what the run in progress would leave behind.
type leftKey struct{}

func leftOf(ctx context.Context) *runner.Left {
	left, _ := ctx.Value(leftKey{}).(*runner.Left)
	return left
}

// stoppedAtOnce tells what a second signal kept from being removed. It asks nobody: whoever hangs may be why.
func stoppedAtOnce(left *runner.Left) string {
	steps := left.Steps()
	if len(steps) == 0 {
		return "platter: stopped at once; nothing is left behind\n"
	}
	return "platter: stopped at once; not done any more:\n         " + strings.Join(steps, "\n         ") +
		"\n         `platter clean` does that, `platter run --resume RUN` goes on with the run\n"
}

// untilSignal returns a context that the first SIGINT or SIGTERM ends, with a signalError as its cause: commands then
// clean up. The second one calls atOnce, which does not return.
func untilSignal(parent context.Context, atOnce func(os.Signal)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				if !first {
					atOnce(s)
				}
				cancel(&signalError{s})
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}
