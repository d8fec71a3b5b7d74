package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// environment is all a command gets: a fixed locale, the system directories, no terminal, and
// device-mapper told to make its nodes itself, since no udev may be there to do it.
var environment = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C", "LANGUAGE=", "TZ=UTC", "HOME=/", "TERM=dumb", "DM_DISABLE_UDEV=1",
}

// defaultDeadline bounds a command whose caller set none.
const defaultDeadline = 2 * time.Minute

// maxOutput bounds what is kept of a command's output.
const maxOutput = 4 << 20

// Exec runs external commands, one way for all: no terminal, no shell, standard input closed, a
// deadline, and the whole process group killed when it passes. It is safe for concurrent use.
type Exec struct {
	Log *slog.Logger

	mu       sync.Mutex
	record   bool
	commands [][]string
}

// CommandError says how a command failed, with the one line of its output that tells why.
type CommandError struct {
	Argv     []string
	Status   int    // exit status; -1 when a signal ended it
	Signal   string // name of that signal
	TimedOut bool
	Line     string
	Output   string // tail of standard error, then of standard output
}

// Error is one line.
func (e *CommandError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Status)
	switch {
	case e.TimedOut:
		how = "deadline passed, killed"
	case e.Signal != "":
		how = "killed by " + e.Signal
	}
	if e.Line == "" {
		return fmt.Sprintf("%s: %s", e.Argv[0], how)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Argv[0], e.Line, how)
}

// Record runs fn and returns the commands Run was given meanwhile.
func (e *Exec) Record(fn func() error) ([][]string, error) {
	e.mu.Lock()
	e.record, e.commands = true, nil
	e.mu.Unlock()
	err := fn()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record = false
	return e.commands, err
}

// Run runs argv and returns its standard output. Without a deadline in ctx it gets two minutes.
func (e *Exec) Run(ctx context.Context, argv ...string) ([]byte, error) {
	if len(argv) == 0 || slices.Contains(argv, "") && argv[0] == "" {
		return nil, errors.New("run: no command")
	}
	e.mu.Lock()
	if e.record {
		e.commands = append(e.commands, slices.Clone(argv))
	}
	e.mu.Unlock()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultDeadline)
		defer cancel()
	}
	path, err := lookPath(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env = environment
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	stdout, stderr := &tail{}, &tail{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	start := time.Now()
	err = cmd.Run()
	e.Log.Debug("ran", "argv", argv, "seconds", time.Since(start).Seconds(), "error", err)
	if err == nil {
		return stdout.Bytes(), nil
	}
	return stdout.Bytes(), commandError(ctx, argv, err, stdout, stderr)
}

func commandError(ctx context.Context, argv []string, err error, stdout, stderr *tail) error {
	if ctx.Err() == context.Canceled {
		return fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	}
	ce := &CommandError{Argv: argv, Status: -1, TimedOut: ctx.Err() == context.DeadlineExceeded}
	var exit *exec.ExitError
	if !errors.As(err, &exit) && !ce.TimedOut {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	if exit != nil {
		ce.Status = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			ce.Signal = ws.Signal().String()
		}
	}
	ce.Line = tellingLine(stderr.String())
	if ce.Line == "" {
		ce.Line = tellingLine(stdout.String())
	}
	ce.Output = strings.TrimSpace(lastBytes(stderr.String(), 8<<10) + "\n" + lastBytes(stdout.String(), 4<<10))
	return ce
}

// lookPath finds a program in the directories of environment, whatever our own PATH is.
func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range strings.Split(strings.TrimPrefix(environment[0], "PATH="), ":") {
		if info, err := os.Stat(dir + "/" + name); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return dir + "/" + name, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

// tail keeps the last maxOutput bytes.
type tail struct{ bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	if over := t.Len() + len(p) - maxOutput; over > 0 {
		t.Next(min(over, t.Len()))
		p2 := p[max(0, len(p)-maxOutput):]
		t.Buffer.Write(p2)
		return len(p), nil
	}
	return t.Buffer.Write(p)
}

func lastBytes(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}
