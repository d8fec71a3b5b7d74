package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSshdRunAndUpload(t *testing.T) {
	s := startSshd(t, sshdOptions{})
	c := s.dial(t)
	out, err := c.Output(t.Context(), "sh", "-c", `echo "$1|$PATH"`, "sh", "it's a b")
	if err != nil || string(out) != "it's a b|"+guestPath+"\n" {
		t.Errorf("%q, %v", out, err)
	}
	var exitErr *ExitError
	if err := c.Run(t.Context(), []string{"sh", "-c", "kill -SEGV $$"}, nil, nil, nil); !errors.As(err, &exitErr) || exitErr.Signal != "SEGV" {
		t.Errorf("signal: %v", err)
	}
	name := filepath.Join(t.TempDir(), "agent")
	took := timedUpload(t, c, name, 15<<20)
	t.Logf("15 MiB in %s: %.0f MiB/s", took, 15/took.Seconds())
	begin := time.Now()
	var back bytes.Buffer
	if n, err := c.Fetch(t.Context(), name, 15<<20, &back); err != nil || n != 15<<20 {
		t.Errorf("fetched %d, %v", n, err)
	}
	t.Logf("fetched in %s", time.Since(begin))
}

// TestSshdKillsCancelledCommand: the guest must not go on with work whose
// caller has left.
func TestSshdKillsCancelledCommand(t *testing.T) {
	c := startSshd(t, sshdOptions{}).dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err := c.Run(ctx, []string{"sh", "-c", "sleep 31.4159; true"}, nil, nil, nil)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > grace {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	var exitErr *ExitError
	if err := c.Run(t.Context(), []string{"pgrep", "-f", "^sleep 31.4159"}, nil, nil, nil); !errors.As(err, &exitErr) || exitErr.Status != 1 {
		t.Errorf("the command still runs: %v", err)
	}
}

// TestSshdDiesInTheMiddle kills the server's process of this connection, which
// is how a killed or restarted sshd looks.
func TestSshdDiesInTheMiddle(t *testing.T) {
	c := startSshd(t, sshdOptions{}).dial(t)
	var lost *LostError
	err := c.Run(t.Context(), []string{"sh", "-c", "kill -9 $PPID; sleep 5"}, nil, nil, nil)
	if !errors.As(err, &lost) {
		t.Errorf("got %v", err)
	}
}

// TestSshdNoisyShell uses a login shell whose start file prints, with both
// kinds of sftp server: only the external one passes the shell.
func TestSshdNoisyShell(t *testing.T) {
	needsVM(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("echo Welcome; echo warning >&2; printf end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, subsystem := range []string{"internal-sftp", "/usr/lib/openssh/sftp-server"} {
		var noise bytes.Buffer
		s := startSshd(t, sshdOptions{subsystem: subsystem, home: home})
		s.target.Log = slog.New(slog.NewTextHandler(&noise, nil))
		c := s.dial(t)
		name := filepath.Join(t.TempDir(), "agent")
		timedUpload(t, c, name, 1<<20)
		out, err := c.Output(t.Context(), "echo", "{}")
		if err != nil || string(out) != "{}\n" {
			t.Errorf("%s: %q, %v", subsystem, out, err)
		}
		if !strings.Contains(noise.String(), "Welcome") {
			t.Errorf("%s: the start file was not read, so nothing was tested: %s", subsystem, noise.String())
		}
	}
}

// TestSshdRunningBinary replaces a file that is being executed.
func TestSshdRunningBinary(t *testing.T) {
	c := startSshd(t, sshdOptions{}).dial(t)
	name := filepath.Join(t.TempDir(), "agent")
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	put := func() {
		if err := c.Upload(t.Context(), name, int64(len(sleep)), 0o755, bytes.NewReader(sleep)); err != nil {
			t.Fatal(err)
		}
	}
	put()
	old := exec.Command(name, "60")
	if err := old.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { old.Process.Kill(); old.Wait() }()
	put()
	if _, err := c.Probe(t.Context(), name, "--version"); err != nil {
		t.Error(err)
	}
}

// mounted mounts a filesystem for the test.
func mounted(t *testing.T, argv ...string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, append(append([]string{"mount"}, argv...), dir)...)
	t.Cleanup(func() { run(t, "umount", dir) })
	return dir
}

func TestSshdNoexec(t *testing.T) {
	needsVM(t)
	c := startSshd(t, sshdOptions{}).dial(t)
	dir := mounted(t, "-t", "tmpfs", "-o", "noexec", "tmpfs")
	name := filepath.Join(dir, "agent")
	put := func(name string, data []byte) {
		if err := c.Upload(t.Context(), name, int64(len(data)), 0o755, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	put(name, binary)
	_, err = c.Probe(t.Context(), name)
	if !errors.Is(err, ErrNoExec) || !strings.Contains(err.Error(), "upload to another directory") {
		t.Errorf("noexec: %v", err)
	}
	good := filepath.Join(t.TempDir(), "agent")
	put(good, binary)
	if _, err := c.Probe(t.Context(), good); err != nil {
		t.Errorf("another directory: %v", err)
	}
	binary[18], binary[19] = 0x16, 0 // e_machine: IBM S/390
	put(good, binary)
	if _, err = c.Probe(t.Context(), good); !errors.Is(err, ErrArchitecture) || !strings.Contains(err.Error(), "EM_S390") {
		t.Errorf("foreign binary: %v", err)
	}
}

func TestSshdNoSpace(t *testing.T) {
	c := startSshd(t, sshdOptions{}).dial(t)
	image := filepath.Join(t.TempDir(), "disk")
	run(t, "truncate", "-s", "8M", image)
	run(t, "mkfs.ext4", "-q", image)
	full := mounted(t, "-o", "loop", image)
	data := randomBytes(30 << 20)
	err := c.Upload(t.Context(), filepath.Join(full, "agent"), int64(len(data)), 0o755, bytes.NewReader(data))
	if !errors.Is(err, ErrNoSpace) {
		t.Errorf("full disk: %v", err)
	}
	t.Log(err)
	if left, _ := filepath.Glob(filepath.Join(full, "*agent*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	run(t, "mount", "-o", "remount,ro", full)
	if err := c.Upload(t.Context(), filepath.Join(full, "agent"), 1, 0o755, strings.NewReader("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only disk: %v", err)
	}
}

// TestSshdFollow reads a file that a detached process writes, while every
// connection is killed again and again.
func TestSshdFollow(t *testing.T) {
	s := startSshd(t, sshdOptions{})
	file := filepath.Join(t.TempDir(), "events")
	const script = `for i in $(seq 1 100); do echo "{\"event\":$i,\"text\":\"$(head -c 3000 /dev/zero | tr '\0' x)\"}"; sleep 0.02; done; echo done`
	writer := exec.Command("sh", "-c", "("+script+") > "+file)
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	session := NewSession(s.dial(t))
	defer session.Close()
	kills := 0
	got := &lineCheck{t: t}
	follower := func(offset int64) []string {
		kills++
		// tail never ends by itself; the last line ends it here.
		script := fmt.Sprintf("tail -c +%d -F --pid=%d -s 0.05 %s 2>/dev/null", offset+1, writer.Process.Pid, file)
		if kills < 5 {
			script = "(sleep 0.4; kill -9 $PPID) & " + script
		}
		return []string{"sh", "-c", script}
	}
	go writer.Wait()
	if err := session.Follow(t.Context(), follower, got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got.Bytes(), want) || !bytes.HasSuffix(want, []byte("done\n")) {
		t.Errorf("got %d bytes, want %d; %v", got.Len(), len(want), err)
	}
	if kills < 5 {
		t.Errorf("only %d attachments", kills)
	}
}
