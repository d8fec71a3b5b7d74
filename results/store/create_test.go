package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"platter/results/schema"
)

func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "platter-results")
	run := create(t, dir)
	if want := "20260131T021500Z-ext4-vs-xfs-7f3a9c"; run.ID() != want || filepath.Base(run.Path()) != want {
		t.Errorf("id %s at %s, want %s (UTC, though the clock said 03:15 CET)", run.ID(), run.Path(), want)
	}
	for name, kind := range map[string]string{RunFile: "run", PlanFile: "plan", MetricsFile: "metrics"} {
		data, err := os.ReadFile(filepath.Join(run.Path(), name))
		if err != nil {
			t.Error(err)
		} else if err := schema.Validate(kind, data); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{ReadmeFile, HostFile, JournalFile, "study/ext4-vs-xfs.yaml", "schema/result.schema.json"} {
		if info, err := os.Stat(filepath.Join(run.Path(), name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := run.Meta().State(); got != Running {
		t.Errorf("State() = %s while this process writes, want running", got)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, spoil := range map[string]func(*CreateSpec){
		"digest":     func(s *CreateSpec) { s.PlanDigest = "abc" },
		"plan":       func(s *CreateSpec) { s.Plan = []byte(`{}`) },
		"study file": func(s *CreateSpec) { s.StudyFiles = map[string][]byte{"../x": nil} },
	} {
		s := spec()
		spoil(&s)
		if _, err := Create(dir, s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("a refused run left %v", left)
	}
}

// TestTenAtOnce starts ten runs of one study in one second: ten folders, none shared.
func TestTenAtOnce(t *testing.T) {
	dir := t.TempDir()
	paths := make([]string, 10)
	var wait sync.WaitGroup
	for i := range paths {
		wait.Go(func() {
			run, err := Create(dir, spec())
			if err != nil {
				t.Error(err)
				return
			}
			paths[i] = run.Path()
			if dir, err := run.Trial("000-ext4/1", 1); err != nil {
				t.Error(err)
			} else if err := dir.Finish(result("000-ext4/1")); err != nil {
				t.Error(err)
			}
			if err := run.Close(Done, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	slices.Sort(paths)
	if distinct := slices.Compact(slices.Clone(paths)); len(distinct) != 10 {
		t.Fatalf("%d folders for ten runs: %v", len(distinct), paths)
	}
	for _, path := range paths {
		run, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if run.ID() != filepath.Base(path) {
			t.Errorf("%s says it is %s", path, run.ID())
		}
		if ids, problems := collect(run); len(ids) != 1 || len(problems) != 0 {
			t.Errorf("%s: results %v, problems %v", path, ids, problems)
		}
	}
	runs, problems, err := List(dir)
	if err != nil || len(runs) != 10 || len(problems) != 0 {
		t.Errorf("List: %d runs, %v, %v", len(runs), problems, err)
	}
}

func TestStudyNameIsMadeSafe(t *testing.T) {
	for study, want := range map[string]string{
		"../../etc": "etc", "Größe & Co": "gr-e-co", "": "study", "...": "study", strings.Repeat("x", 300): strings.Repeat("x", 64),
	} {
		got := runID(spec().Now, study, digest)
		if got != "20260131T021500Z-"+want+"-7f3a9c" {
			t.Errorf("study %q: folder %s, want …-%s-…", study, got, want)
		}
		if !runIDPattern.MatchString(got) {
			t.Errorf("%s is no run id", got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := create(t, dir)
	if err := os.WriteFile(filepath.Join(newer.Path(), RunFile), []byte(`{"schema":"platter.run/9"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "not a run folder", filepath.Join(dir, "no"): "not a run folder", newer.Path(): `schema is "platter.run/9"`} {
		var not *NotARunError
		if _, err := Open(path); !errors.As(err, &not) || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): %v, want *NotARunError with %q", path, err, want)
		}
	}
	runs, problems, err := List(dir)
	if err != nil || len(runs) != 0 || len(problems) != 1 {
		t.Errorf("List = %v, %v, %v; want the broken folder as a problem", runs, problems, err)
	}
}

// TestDeadRun: a folder whose process was killed says so, though run.json still reads running.
func TestDeadRun(t *testing.T) {
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	m := Meta{Status: Running, PID: sleep.Process.Pid, PIDStartTicks: startTicks(sleep.Process.Pid), BootID: bootID()}
	if m.PIDStartTicks == 0 || m.State() != Running {
		t.Errorf("a living process: ticks %d, state %s", m.PIDStartTicks, m.State())
	}
	reused := m
	reused.PIDStartTicks--
	if reused.State() != Dead {
		t.Errorf("a reused pid: %s, want dead", reused.State())
	}
	if err := sleep.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleep.Wait() // killed: the error says so
	if m.State() != Dead {
		t.Errorf("after the kill: %s, want dead", m.State())
	}
	m.BootID, m.Hostname = "other", "elsewhere.example"
	if m.State() != Elsewhere {
		t.Errorf("another host: %s, want elsewhere", m.State())
	}
}
