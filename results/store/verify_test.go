package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// whole makes a run in which all is well, and closes it.
func whole(t *testing.T) *Run {
	t.Helper()
	run := create(t, t.TempDir())
	finish(t, run, "000-ext4/1", 1)
	finish(t, run, "001-xfs/1", 1)
	if err := run.Close(Done, ""); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestVerifyWholeRun(t *testing.T) {
	run := whole(t)
	if err := run.WriteReport("report.txt", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Error(err)
	}
	if problems := run.Verify(); len(problems) != 0 {
		t.Errorf("problems in a whole run: %v", problems)
	}
	check := exec.Command("sha256sum", "--check", "--quiet", SumsFile)
	check.Dir = run.Path()
	if out, err := check.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("sha256sum: %v: %s", err, out)
	}
}

func TestVerifyFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		path  string
		kind  ProblemKind
	}{
		{"a flipped bit", func(p string) error { return flip(p + "/trials/001-xfs/1-1/result.json") }, "trials/001-xfs/1-1/result.json", Changed},
		{"a flipped bit in the plan", func(p string) error { return flip(p + "/plan.json") }, "plan.json", Changed},
		{"a lost file", func(p string) error { return os.Remove(p + "/env/host.json") }, "env/host.json", Missing},
		{"a late file", func(p string) error { return os.WriteFile(p+"/env/x", nil, 0o644) }, "env/x", Unlisted},
		{"a lost result", func(p string) error { return os.Remove(p + "/trials/001-xfs/1-1/result.json") }, "trials/001-xfs/1", Incomplete},
		{"no sums", func(p string) error { return os.Remove(p + "/SHA256SUMS") }, "SHA256SUMS", Unreadable},
		{"sums cut", func(p string) error { return os.WriteFile(p+"/SHA256SUMS", []byte("abc\n"), 0o644) }, "SHA256SUMS", Broken},
	} {
		run := whole(t)
		if err := c.spoil(run.Path()); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, p := range run.Verify() {
			found = found || p.Path == c.path && p.Kind == c.kind
		}
		if !found {
			t.Errorf("%s: want %s %s, got %v", c.name, c.path, c.kind, run.Verify())
		}
	}
}

// flip changes one bit in the middle of a file.
func flip(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[len(data)/2] ^= 1
	return os.WriteFile(path, data, 0o644)
}

func TestVerifyInterrupted(t *testing.T) {
	run := create(t, t.TempDir())
	finish(t, run, "000-ext4/1", 1)
	if err := run.Close(Interrupted, "signal: interrupt"); err != nil {
		t.Fatal(err)
	}
	again, err := Open(run.Path())
	if err != nil {
		t.Fatal(err)
	}
	if m := again.Meta(); m.Status != Interrupted || m.EndedAt == nil || m.Reason != "signal: interrupt" {
		t.Errorf("run.json after the end: %+v", m)
	}
	problems := again.Verify()
	if len(problems) != 2 || problems[0].Path != RunFile || !strings.Contains(problems[1].Path, "001-xfs") {
		t.Errorf("problems %v, want the run's status and the missing trial", problems)
	}
}

func TestCloseEndsWriting(t *testing.T) {
	run := whole(t)
	if err := run.Close(Failed, "late"); err != nil || run.Meta().Status != Done {
		t.Errorf("a second Close: %v, status %s; want nothing to happen", err, run.Meta().Status)
	}
	if _, err := run.Trial("002-late/1", 1); !errors.Is(err, errReadOnly) {
		t.Errorf("Trial after Close: %v", err)
	}
	if err := run.WriteEnv("guest-1", 1); !errors.Is(err, errReadOnly) {
		t.Errorf("WriteEnv after Close: %v", err)
	}
	again, err := Open(run.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Log(JournalEntry{Event: "x"}); !errors.Is(err, errReadOnly) {
		t.Errorf("Log on a folder opened for reading: %v", err)
	}
	if err := create(t, t.TempDir()).Close(Running, ""); err == nil {
		t.Error("Close(running): accepted")
	}
	if left, _ := filepath.Glob(run.Path() + "/trials/*/*/.*"); len(left) != 0 {
		t.Errorf("temporary files stayed: %v", left)
	}
}

// TestUnendedHasAReason: a run without an end says why, also when its process was killed and could write no reason.
func TestUnendedHasAReason(t *testing.T) {
	for _, c := range []struct {
		meta Meta
		want string
	}{
		{Meta{Status: Running, PID: 1 << 30, BootID: bootID()}, "the run is dead: its process was killed before it could end the run"},
		{Meta{Status: Running, Hostname: "elsewhere.example", BootID: "x"}, "the run is elsewhere: host elsewhere.example carries it out"},
		{Meta{Status: Interrupted, Reason: "stopped by SIGINT"}, "the run is interrupted: stopped by SIGINT"},
		{Meta{Status: Failed}, "the run is failed: run.json gives no reason"},
	} {
		if got := c.meta.unended().Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	run := create(t, t.TempDir())
	problems := run.Verify()
	if !slices.ContainsFunc(problems, func(p *Problem) bool {
		return p.Path == RunFile && strings.Contains(p.Error(), fmt.Sprintf("process %d still carries it out", os.Getpid()))
	}) {
		t.Errorf("problems of a run that goes on: %v", problems)
	}
}
