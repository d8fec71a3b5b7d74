package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBadFilesAreSkipped has one good result and every kind of bad one. The good one is read, each bad one is named.
func TestBadFilesAreSkipped(t *testing.T) {
	root := t.TempDir()
	run := create(t, root)
	good := finish(t, run, "000-ext4/1", 1)
	text, err := os.ReadFile(filepath.Join(good.Path(), ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	as := func(id string) string { return strings.ReplaceAll(string(text), "000-ext4/1", id) }
	want := map[string]ProblemKind{}
	bad := func(cell string, kind ProblemKind, write func(path string) error) {
		dir := filepath.Join(run.Path(), TrialsDir, cell, "1-1")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := write(filepath.Join(dir, ResultFile)); err != nil {
			t.Fatal(err)
		}
		want[filepath.Join(TrialsDir, cell, "1-1", ResultFile)] = kind
	}
	file := func(content string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(content), 0o644) }
	}
	bad("001-empty", Empty, file(""))
	bad("002-half", Broken, file(as("002-half/1")[:len(text)/2]))
	bad("003-newer", Foreign, file(strings.Replace(as("003-newer/1"), "platter.result/1", "platter.result/2", 1)))
	bad("004-directory", Directory, func(path string) error { return os.Mkdir(path, 0o755) })
	bad("005-unreadable", Unreadable, func(path string) error { return os.WriteFile(path, []byte(as("005-unreadable/1")), 0) })
	bad("006-bom", Broken, file("\ufeff"+as("006-bom/1")))
	bad("007-copied", Foreign, file(string(text)))
	bad("008-link", Directory, func(path string) error { return os.Symlink(filepath.Join(good.Path(), ResultFile), path) })
	bad("009-fifo", Directory, func(path string) error { return syscall.Mkfifo(path, 0o644) })
	bad("010-nan", Broken, file(strings.Replace(as("010-nan/1"), `"boot_seconds": 0.5`, `"boot_seconds": NaN`, 1)))
	bad("011-sum", Invalid, file(strings.Replace(as("011-sum/1"), `"boot_seconds": 0.5`, `"boot_seconds": -5`, 1)))
	bad("012-types", Broken, file(`{"schema": "platter.result/1", "round": "many"}`))
	bad("013-huge", TooLarge, func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("{"), 0o644), os.Truncate(path, resultLimitBytes+1))
	})
	if _, err := run.Trial("014-killed/1", 1); err != nil {
		t.Fatal(err)
	}
	want[filepath.Join(TrialsDir, "014-killed", "1-1")] = Incomplete

	ids, problems := collectAsNobody(t, root, run)
	if len(ids) != 1 || ids[0] != "000-ext4/1" {
		t.Errorf("results %v, want the good one", ids)
	}
	for path, kind := range want {
		if problems[path] != kind {
			t.Errorf("%s: %q, want %q", path, problems[path], kind)
		}
		delete(problems, path)
	}
	if len(problems) != 0 {
		t.Errorf("problems nobody made: %v", problems)
	}
}

// collectAsNobody collects with the file permissions of a plain user, also when the test runs as root: then the test's
// own binary is run again as nobody.
func collectAsNobody(t *testing.T, root string, run *Run) (ids []string, problems map[string]ProblemKind) {
	if os.Geteuid() != 0 {
		return collect(run)
	}
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(root, "store.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	child := exec.Command(binary, "-test.run", "^TestCollectChild$")
	child.Env = append(os.Environ(), collectEnv+"="+run.Path())
	child.Dir = root
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
	var got struct {
		IDs      []string
		Problems map[string]ProblemKind
	}
	answer, _, _ := strings.Cut(string(out), "\n")
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
	return got.IDs, got.Problems
}

const collectEnv = "PLATTER_TEST_COLLECT"

// TestCollectChild is the other half of collectAsNobody: it reads the run it is given and prints what it found. On its
// own it reads the archived run.
func TestCollectChild(t *testing.T) {
	path := cmp.Or(os.Getenv(collectEnv), archived)
	run, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ids, problems := collect(run)
	if len(ids) == 0 {
		t.Fatal("no result was read")
	}
	if os.Getenv(collectEnv) == "" {
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"IDs": ids, "Problems": problems}); err != nil {
		t.Fatal(err)
	}
}

func TestJournal(t *testing.T) {
	run := create(t, t.TempDir())
	if err := run.Log(JournalEntry{Event: "trial_started", Trial: "000-ext4/1", Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(run.Path(), JournalFile)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("nonsense\n{\"event\":\"cut by a cra"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	entries, problems := run.Journal()
	if len(entries) != 2 || entries[0].Event != "run_started" || entries[1].Trial != "000-ext4/1" || entries[1].Time.IsZero() {
		t.Errorf("entries %+v", entries)
	}
	if len(problems) != 1 || problems[0].Path != JournalFile+":3" {
		t.Errorf("problems %v, want line 3 and not the cut last line", problems)
	}
}
