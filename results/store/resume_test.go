package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platter/results"
)

// interrupted makes a run with one settled, one invalid and one broken-off attempt, and ends it as a signal would.
func interrupted(t *testing.T) string {
	t.Helper()
	run := create(t, t.TempDir())
	finish(t, run, "000-ext4/1", 1)
	dir, err := run.Trial("001-xfs/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	invalid := result("001-xfs/1")
	invalid.Status, invalid.Reason = results.StatusInvalid, "clock step"
	if err := dir.Finish(invalid); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Trial("001-xfs/1", 2); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(Interrupted, "signal: interrupt"); err != nil {
		t.Fatal(err)
	}
	return run.Path()
}

func TestResume(t *testing.T) {
	path := interrupted(t)
	run, err := Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	progress := run.Progress()
	if want := (Progress{Settled: true, NextAttempt: 2}); progress["000-ext4/1"] != want {
		t.Errorf("000-ext4/1: %+v, want %+v", progress["000-ext4/1"], want)
	}
	if want := (Progress{Settled: false, NextAttempt: 3}); progress["001-xfs/1"] != want {
		t.Errorf("001-xfs/1: %+v, want %+v", progress["001-xfs/1"], want)
	}
	if len(progress) != 2 || run.Meta().State() != Running {
		t.Errorf("progress %v, state %s", progress, run.Meta().State())
	}
	finish(t, run, "001-xfs/1", 3)
	if err := run.Close(Done, ""); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if problems := again.Verify(); len(problems) != 0 {
		t.Errorf("problems after the resumed run ended: %v", problems)
	}
	var events []string
	entries, _ := again.Journal()
	for _, e := range entries {
		events = append(events, e.Event)
	}
	if got := strings.Join(events, " "); got != "run_started run_ended run_resumed run_ended" {
		t.Errorf("journal %q", got)
	}
}

// TestResumeAfterCrash: a process killed while it wrote leaves a half line and a folder that says running.
func TestResumeAfterCrash(t *testing.T) {
	path := interrupted(t)
	journal := filepath.Join(path, JournalFile)
	f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time":"2026-01-31T02:1`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	crashed, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	crashed.meta.Status, crashed.meta.PID, crashed.meta.PIDStartTicks = Running, dead.Process.Pid, 1
	if err := writeJSON(filepath.Join(path, RunFile), crashed.meta); err != nil {
		t.Fatal(err)
	}
	run, err := Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if entries, problems := run.Journal(); len(problems) != 0 || entries[len(entries)-1].Event != "run_resumed" {
		t.Errorf("journal %v, problems %v", entries, problems)
	}
	if err := run.Close(Failed, "test"); err != nil {
		t.Error(err)
	}
}

func TestResumeRefuses(t *testing.T) {
	var busy *BusyError
	living := create(t, t.TempDir())
	if _, err := Resume(living.Path()); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("a run that goes on: %v", err)
	}
	path := interrupted(t)
	first, err := Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	first.meta.Status = Interrupted // as a second process would have read it just before
	if err := writeJSON(filepath.Join(path, RunFile), first.meta); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(path); !errors.As(err, &busy) {
		t.Errorf("two at once: %v", err)
	}
	var not *NotARunError
	if _, err := Resume(t.TempDir()); !errors.As(err, &not) {
		t.Errorf("an empty folder: %v", err)
	}
}
