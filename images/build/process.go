package build

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// graceTime is what a process group gets between SIGTERM and SIGKILL. It is
// long because mmdebstrap unmounts and removes what it made.
const graceTime = 20 * time.Second

// command prepares a process in its own group. When ctx ends, the whole group
// gets SIGTERM: mmdebstrap's children would otherwise survive it.
func command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = graceTime
	return cmd
}

// isolate ties a command to this process and hides its mounts from the host:
// when platter is killed mmdebstrap gets SIGTERM, and whatever kills mmdebstrap,
// its /proc, /sys and /dev go with it and never stand in the way of removing
// the scratch directory. The caller keeps its thread until the command ended,
// since the kernel sends the signal when the thread that started it goes.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	if os.Geteuid() == 0 {
		// For an ordinary user mmdebstrap makes its own namespace.
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
}

// becomeRoot lets an ordinary user's command see the user's own files as
// root's. mksquashfs gives the root directory of a tar stream the owner of its
// working directory, and has no option to change that.
func becomeRoot(cmd *exec.Cmd) {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		return
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
}

// wait waits for a started command, ends stragglers of its group, and puts the
// last lines of its messages into the error.
func wait(ctx context.Context, cmd *exec.Cmd, messages *tail) error {
	err := cmd.Wait()
	if err == nil {
		return nil
	}
	if kill := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); kill != nil && !errors.Is(kill, syscall.ESRCH) {
		err = fmt.Errorf("%w (its process group is left: %v)", err, kill)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s stopped: %w", cmd.Args[0], context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w%s", cmd.Args[0], err, messages)
}

// tail is an io.Writer that hands each line to a function and remembers the
// last ones for an error message.
type tail struct {
	each  func(line string)
	lines []string
	rest  string
}

const tailLines = 15

func (t *tail) Write(p []byte) (int, error) {
	t.rest += string(p)
	for {
		line, rest, found := strings.Cut(t.rest, "\n")
		if !found {
			return len(p), nil
		}
		t.rest = rest
		t.lines = append(t.lines, line)
		if len(t.lines) > tailLines {
			t.lines = t.lines[1:]
		}
		if t.each != nil {
			t.each(line)
		}
	}
}

func (t *tail) String() string {
	if len(t.lines) == 0 {
		return ""
	}
	return "; its last lines:\n\t" + strings.Join(t.lines, "\n\t")
}

// output runs a command and returns what it prints.
func output(ctx context.Context, args ...string) ([]byte, error) {
	messages := &tail{}
	cmd := command(ctx, args)
	cmd.Stderr = messages
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(bufio.NewReader(pipe))
	if err := wait(ctx, cmd, messages); err != nil {
		return nil, err
	}
	return data, err
}

// Clean removes a scratch directory. In a user namespace the files of a killed
// build belong to subordinate users, so there mmdebstrap's own helper has to
// remove them.
func (Builder) Clean(scratch string) error {
	err := os.RemoveAll(scratch)
	if err == nil || os.Geteuid() == 0 {
		return err
	}
	_, helperErr := output(context.Background(), "mmdebstrap", "--unshare-helper", "rm", "-rf", "--one-file-system", scratch)
	if err := os.RemoveAll(scratch); err != nil {
		return errors.Join(err, helperErr)
	}
	return nil
}
