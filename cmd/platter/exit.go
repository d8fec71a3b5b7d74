package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/results/store"
)

// Ends that commands report beside the kinds of lab's errors. Wrap them to say more: fmt.Errorf("...: %w", errSubject).
var (
	errSubject       = errors.New("the subject failed") // a trial failed or is invalid
	errRegressed     = errors.New("regressed")          // worse than the tolerance, surely
	errInconclusive  = errors.New("inconclusive")       // the numbers do not decide
	errIncomplete    = errors.New("incomplete")         // trials are missing or lost
	errNotBooted     = errors.New("no machine booted")  // every trial was lost at boot
	errIntegrity     = errors.New("damaged")            // a file is not what it was
	errNotComparable = errors.New("not comparable")     // differs beyond the declared factor
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "stopped by " + e.signal.String() }

// exit is one row of the table of exit statuses.
type exit struct {
	status  int
	meaning string
	match   func(error) bool
}

func is(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

func stoppedBy(signal os.Signal) func(error) bool {
	return func(err error) bool {
		var stopped *signalError
		return errors.As(err, &stopped) && stopped.signal == signal
	}
}

func anyOf(matches ...func(error) bool) func(error) bool {
	return func(err error) bool {
		for _, m := range matches {
			if m(err) {
				return true
			}
		}
		return false
	}
}

// exits maps errors to exit statuses, the only place that does. Rows are tried in order, so the first that fits an error
// of several kinds wins; --help and README print them by number.
var exits = []exit{
	{130, "interrupted (Ctrl-C); what was measured is kept and marked", stoppedBy(os.Interrupt)},
	{143, "terminated (SIGTERM); what was measured is kept and marked", stoppedBy(syscall.SIGTERM)},
	{2, "the command line, the study or the host's means do not fit; nothing was created",
		anyOf(as[*usageError], as[*lab.InputError], as[*hypervisor.RemoteURIError], as[*store.NotARunError])},
	{5, "integrity: a stored file is damaged or foreign", anyOf(is(errIntegrity), as[*store.Problem])},
	{6, "not comparable: more differs than what was compared", is(errNotComparable)},
	{1, "a trial failed or is invalid, or a regression is confirmed: a finding about the subject", anyOf(is(errSubject, errRegressed), as[*lab.JobError])},
	{7, "no machine booted", anyOf(is(errNotBooted), as[*lab.BootError])},
	{4, "incomplete: trials are missing or were lost", is(errIncomplete)},
	{3, "inconclusive: the numbers do not decide", is(errInconclusive)},
	{8, "the lab failed: hypervisor, connection, image build, space or a bug", func(error) bool { return true }},
}

// success is the row of no error, which needs no match.
var success = exit{0, "done; for gates unchanged or improved", nil}

// exitStatus is the status of the error a command ended with. cause is the context's, so that a signal shows through
// whatever error it led to.
func exitStatus(err error, cause error) int {
	if err == nil {
		return success.status
	}
	if as[*signalError](cause) && (errors.Is(err, context.Canceled) || as[*signalError](err)) {
		err = cause
	}
	for _, row := range exits {
		if row.match(err) {
			return row.status
		}
	}
	return 8
}

// exitTable is the table as --help and README print it, by number.
func exitTable() string {
	var b strings.Builder
	for status := 0; status <= 255; status++ {
		for _, row := range append(exits, success) {
			if row.status == status {
				fmt.Fprintf(&b, "%5d  %s\n", row.status, row.meaning)
			}
		}
	}
	return b.String()
}

// complain prints an error for people: the program's name, then the error; further lines are indented. It may hold what a
// guest wrote.
func complain(w io.Writer, err error) {
	fmt.Fprintf(w, "platter: %s\n", strings.ReplaceAll(strings.TrimRight(printable(err.Error()), "\n"), "\n", "\n         "))
}
