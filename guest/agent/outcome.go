package agent

import (
	"errors"
	"fmt"
	"strings"

	"platter/guest"
	"platter/guest/server"
	"platter/guest/workload"
	"platter/results"
)

// SkipError says that the machine cannot do what the job asks; nothing was written.
type SkipError struct{ Reason string }

// Error is the reason.
func (e *SkipError) Error() string { return e.Reason }

// outcome turns the end of the phases into Done.
func (t *trial) outcome(err error) guest.Done {
	done := guest.Done{Status: results.StatusOK}
	var skip *SkipError
	var lost *LostError
	var invalid *workload.InvalidError
	switch {
	case err == nil:
		t.invalid = append(t.invalid, t.began.faults(t.sys.clocks())...)
		if len(t.invalid) > 0 {
			done.Status, done.Reason = results.StatusInvalid, strings.Join(t.invalid, "; ")
		}
	case errors.Is(err, ErrStopped):
		done.Status, done.Reason = results.StatusInterrupted, fmt.Sprintf("stopped in phase %s", t.phase)
	case errors.As(err, &skip):
		done.Status, done.Reason = results.StatusSkipped, skip.Reason
	case errors.As(err, &invalid):
		done.Status, done.Reason = results.StatusInvalid, err.Error()
	case errors.As(err, &lost):
		done.Status, done.Reason = results.StatusLost, err.Error()
	default:
		done.Status, done.Reason = results.StatusFailed, err.Error()
	}
	if err != nil {
		t.explain(err, &done)
	}
	done.Reason = clip(done.Reason, guest.MaxMessageBytes)
	done.Evidence = clip(done.Evidence, guest.MaxMessageBytes)
	done.GuestSeconds = t.enc.Seconds()
	return done
}

// explain adds the telling lines of whoever died: the kernel's kill before the server's log before a
// command's output.
func (t *trial) explain(err error, done *guest.Done) {
	var exit *server.ExitError
	var command *CommandError
	var evidence []string
	for _, line := range t.kernelLines() {
		if victim := killedByKernel(line); victim != "" {
			done.Reason = fmt.Sprintf("out of memory: the kernel killed %s; %s", victim, done.Reason)
			evidence = append(evidence, line)
		}
	}
	if errors.As(err, &exit) {
		evidence = append(evidence, exit.LogTail)
	}
	if errors.As(err, &command) {
		evidence = append(evidence, strings.Join(command.Argv, " "), command.Output)
	}
	done.Evidence = lastBytes(strings.Join(evidence, "\n"), guest.MaxMessageBytes)
}
