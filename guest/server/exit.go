package server

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// ExitError tells how a server, or a program of its image, ended when it should not have.
type ExitError struct {
	Program string // path inside the root
	Status  int    // exit status; -1 when a signal ended it
	Signal  string // name of the signal, "" when none
	Reason  string // the telling line of its log or output
	LogTail string // last lines of its log
}

// Error names the program, how it ended, and quotes the line that says why.
func (e *ExitError) Error() string {
	how := fmt.Sprintf("ended with status %d", e.Status)
	switch {
	case e.Signal == "SIGKILL":
		how = "was killed (SIGKILL: out of memory, or someone's kill; see the kernel log)"
	case e.Signal != "":
		how = "was ended by " + e.Signal
	case e.Status == 127:
		how = "could not be loaded (status 127)"
	}
	if e.Reason == "" {
		return fmt.Sprintf("%s %s and printed nothing", e.Program, how)
	}
	return fmt.Sprintf("%s %s: %s", e.Program, how, e.Reason)
}

// signalNames are those that end servers; others are shown by number.
var signalNames = map[syscall.Signal]string{
	syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM", syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT",
	syscall.SIGBUS: "SIGBUS", syscall.SIGILL: "SIGILL", syscall.SIGFPE: "SIGFPE", syscall.SIGXFSZ: "SIGXFSZ", syscall.SIGHUP: "SIGHUP",
}

// exitError turns the error of a finished command into an ExitError; a command that could not be started keeps its error.
func exitError(cmd *exec.Cmd, err error, log string) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return exitOf(cmd, log)
}

func exitOf(cmd *exec.Cmd, log string) *ExitError {
	e := &ExitError{Program: cmd.Path, Status: cmd.ProcessState.ExitCode(), Reason: tellingLine(log), LogTail: lastLines(log)}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = signalNames[ws.Signal()]
		if e.Signal == "" {
			e.Signal = fmt.Sprintf("signal %d", int(ws.Signal()))
		}
	}
	return e
}

func lastLines(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return strings.Join(lines, "\n")
}
