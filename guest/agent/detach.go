package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Detach starts this program again as its own session, so that it outlives the connection, with its
// output in dir/agent.log, and returns once that process has announced itself in agent.pid.
func Detach(ctx context.Context, jobFile, dir string) error {
	var err error
	if jobFile, err = filepath.Abs(jobFile); err != nil {
		return fmt.Errorf("find the job: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find the agent's directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the agent's directory: %w", err)
	}
	if p, err := readPid(dir); err == nil {
		return fmt.Errorf("an agent (process %d) was already started in %s; give each job a directory of its own", p.pid, dir)
	}
	log, err := os.OpenFile(filepath.Join(dir, "agent.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open agent.log: %w", err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, "run", "--job", jobFile, "--dir", dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	announced := func() bool {
		p, err := readPid(dir)
		return err == nil && p.pid == cmd.Process.Pid
	}
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	for !announced() {
		select {
		case err := <-died:
			if announced() { // it had little to do, and its conversation tells
				return nil
			}
			return fmt.Errorf("the agent ended before it began: %w; see agent.log", orNormal(err))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

var errNormalExit = errors.New("exit status 0")

func orNormal(err error) error {
	if err == nil {
		return errNormalExit
	}
	return err
}

// stopLimit is how long an orderly stop may take: the server flushes, the filesystem is unmounted.
const stopLimit = cleanUpLimit + 30*time.Second

// Stop asks the agent of dir to stop in order and waits until it has; without a running agent it is done at once.
func Stop(ctx context.Context, dir string) error {
	p, err := readPid(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the agent (process %d): %w", p.pid, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stopLimit, fmt.Errorf("the agent (process %d) did not stop within %s", p.pid, stopLimit))
	defer cancel()
	for p.alive() {
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}
