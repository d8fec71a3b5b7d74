package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRunGivesCommandsAFixedWorld(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("PATH", "/nowhere")
	t.Setenv("SECRET", "x")
	ex := &Exec{Log: quiet()}
	out, err := ex.Run(t.Context(), script(t, `read line || echo "stdin closed"; echo "$LC_ALL [$SECRET] $PATH"; pwd; mke2fs -V 2>/dev/null; true`))
	if err != nil {
		t.Fatal(err)
	}
	want := "stdin closed\nC [] /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n/\n"
	if string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if _, err := ex.Run(t.Context(), "true"); err != nil {
		t.Errorf("a program of the system was not found: %v", err)
	}
}

func TestRunKillsTheWholeGroupAtItsDeadline(t *testing.T) {
	ex := &Exec{Log: quiet()}
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	begin := time.Now()
	_, err := ex.Run(ctx, script(t, "sleep 60 & echo $! > "+pidFile+"; echo 'waiting for the disk' >&2; wait"))
	var ce *CommandError
	if !errors.As(err, &ce) || !ce.TimedOut || !strings.Contains(err.Error(), "waiting for the disk") {
		t.Fatalf("error %v", err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	for end := time.Now().Add(2 * time.Second); startTicks(pid) != ""; {
		if time.Now().After(end) {
			t.Fatal("the command's child still runs")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestRunSaysHowACommandEnded(t *testing.T) {
	ex := &Exec{Log: quiet()}
	for name, test := range map[string]struct{ text, want string }{
		"status": {"echo 'mkfs.x: size 1 of data subvolume is too small' >&2; exit 3", "too small (exit status 3)"},
		"signal": {"kill -SEGV $$", "killed by segmentation fault"},
		"silent": {"exit 7", "exit status 7"},
		"stdout": {"echo 'unable to resize inode'; exit 1", "unable to resize inode (exit status 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ex.Run(t.Context(), script(t, test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
	if _, err := ex.Run(t.Context(), "no-such-program"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a missing program: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrStopped)
	if _, err := ex.Run(ctx, "true"); !errors.Is(err, ErrStopped) {
		t.Errorf("after a stop: %v", err)
	}
}

func TestRecordKeepsTheCommandsOfOnePart(t *testing.T) {
	ex := &Exec{Log: quiet()}
	ex.Run(t.Context(), "true", "before")
	commands, err := ex.Record(func() error { _, err := ex.Run(t.Context(), "true", "in", "it"); return err })
	ex.Run(t.Context(), "true", "after")
	if diff := cmp.Diff([][]string{{"true", "in", "it"}}, commands); diff != "" || err != nil {
		t.Errorf("error %v, commands (-want +got):\n%s", err, diff)
	}
}

// The outputs are those of the real tools on Debian 12.
func TestTellingLine(t *testing.T) {
	for name, test := range map[string]struct{ output, want string }{
		"xfs too small": {"size 76544 of data subvolume is too small, minimum 76800 blocks\nUsage: mkfs.xfs\n/* blocksize */\t\t[-b size=num]\n",
			"size 76544 of data subvolume is too small, minimum 76800 blocks"},
		"xfs label": {"Invalid value thirteenchars for -L option. Label too long.\nUsage: mkfs.xfs\n", "Invalid value thirteenchars for -L option. Label too long."},
		"btrfs":     {"ERROR: '/tmp/x' is too small to make a usable filesystem\nERROR: minimum size for btrfs filesystem is 114294784\n", "ERROR: '/tmp/x' is too small to make a usable filesystem"},
		"ext4":      {"mke2fs 1.47.0 (5-Feb-2023)\nThe file /nowhere does not exist and no size was specified.\n", "The file /nowhere does not exist and no size was specified."},
		"reiserfs option": {"/usr/sbin/mkfs.reiserfs: unrecognized option '--quiet'\nUsage: mkfs.reiserfs [options]  device\n\nOptions:\n\n  -f | --force specified at least once to make reiserfs on whole disk, not block device\n",
			"/usr/sbin/mkfs.reiserfs: unrecognized option '--quiet'"},
		"two lines": {"mke2fs 1.47.0 (5-Feb-2023)\n\nThe total requested journal size is 39936000 blocks; it must be\nbetween 1024 and 10240000 blocks.  Aborting.\n",
			"The total requested journal size is 39936000 blocks; it must be between 1024 and 10240000 blocks.  Aborting."},
		"control":   {"\x1berror: bad\x07\n", "error: bad"},
		"nothing":   {"\n \n", ""},
		"no reason": {"first\nsecond\n", "first"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tellingLine(test.output); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestRunEachGoesOnAfterAFailure(t *testing.T) {
	tr := &trial{ex: &Exec{Log: quiet()}}
	mark := filepath.Join(t.TempDir(), "mark")
	err := tr.runEach(t.Context(), time.Minute, [][]string{{"false"}, {"touch", mark}, {"no-such-program"}})
	if _, statErr := os.Stat(mark); statErr != nil {
		t.Errorf("the second command did not run: %v", statErr)
	}
	if err == nil || !strings.Contains(err.Error(), "false") || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("error %v, want both failures", err)
	}
}
