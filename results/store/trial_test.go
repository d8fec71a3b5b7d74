package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platter/results"
)

func TestTrialFiles(t *testing.T) {
	run := create(t, t.TempDir())
	dir, err := run.Trial("000-ext4/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(run.Path(), "trials/000-ext4/1-1"); dir.Path() != want {
		t.Errorf("Path() = %s, want %s", dir.Path(), want)
	}
	if err := dir.WriteFile(Domain, []byte("<domain/>")); err != nil {
		t.Error(err)
	}
	if _, err := dir.CopyFile(Samples, strings.NewReader("seconds,cpu\n1,2\n")); err != nil {
		t.Error(err)
	}
	events, err := dir.Events()
	if err != nil {
		t.Fatal(err)
	}
	for seq := range 3 {
		if err := events.Append(map[string]int{"seq": seq}); err != nil {
			t.Error(err)
		}
	}
	if err := events.Close(); err != nil {
		t.Error(err)
	}
	if err := dir.Finish(result("000-ext4/1")); err != nil {
		t.Fatal(err)
	}
	for r, err := range run.Results() {
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"effective/domain.xml", "events.jsonl", "samples.csv.zst"}; !slices.Equal(r.Files, want) {
			t.Errorf("Files = %v, want %v", r.Files, want)
		}
		if r.RunID != run.ID() || r.Schema != results.Schema {
			t.Errorf("result of run %q, schema %q", r.RunID, r.Schema)
		}
	}
	samples, err := run.Samples("000-ext4/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(samples); err != nil || string(text) != "seconds,cpu\n1,2\n" {
		t.Errorf("samples came back as %q, %v", text, err)
	}
	if err := samples.Close(); err != nil {
		t.Error(err)
	}
	if _, err := run.Samples("000-ext4/1", 2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("samples of an attempt that is not there: %v", err)
	}
	if _, err := run.Samples("../../x/1", 1); err == nil {
		t.Error("samples outside the run: accepted")
	}
}

func TestTrialRefuses(t *testing.T) {
	run := create(t, t.TempDir())
	for _, id := range []string{"", "a", "../../x/1", "000-a/../../b/1", "000-a/1/2", "0-a/1", "000-a\n/1", "000-/1"} {
		if _, err := run.Trial(id, 1); err == nil {
			t.Errorf("trial id %q: accepted", id)
		}
	}
	if _, err := run.Trial("000-a/1", 0); err == nil {
		t.Error("attempt 0: accepted")
	}
	dir, err := run.Trial("000-ext4/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Trial("000-ext4/1", 1); !errors.Is(err, os.ErrExist) {
		t.Errorf("the same attempt twice: %v", err)
	}
	for _, name := range []string{"../x", "logs/../../x", "/etc/passwd", "logs/", "result.json", "logs/.hidden", "logs/a/b", "effective/a\x1b"} {
		if err := dir.WriteFile(name, nil); err == nil {
			t.Errorf("file %q: accepted", name)
		}
	}
	for guest, want := range map[string]string{"server.log": ServerLog, "samples.csv": Samples, "../x": "", "console.log": ""} {
		if got, ok := GuestFileName(guest); got != want || ok != (want != "") {
			t.Errorf("GuestFileName(%q) = %q, %v; want %q", guest, got, ok, want)
		}
	}
}

func TestFinishRefuses(t *testing.T) {
	run := create(t, t.TempDir())
	dir, err := run.Trial("000-ext4/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	wrong := result("001-xfs/1")
	if err := dir.Finish(wrong); err == nil || !strings.Contains(err.Error(), "the result is of trial 001-xfs/1") {
		t.Errorf("another trial's result: %v", err)
	}
	unfit := result("000-ext4/1")
	*unfit.WallSeconds = 7
	if err := dir.Finish(unfit); err == nil || !strings.Contains(err.Error(), "overhead_seconds") {
		t.Errorf("wrong sum: %v", err)
	}
	unshaped := result("000-ext4/1")
	unshaped.Durability = "somewhat"
	if err := dir.Finish(unshaped); err == nil || !strings.Contains(err.Error(), "/durability") {
		t.Errorf("against the schema: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir.Path(), ResultFile)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a refused result is there: %v", err)
	}
	if err := dir.Finish(result("000-ext4/1")); err != nil {
		t.Fatalf("after refusals: %v", err)
	}
	if err := dir.Finish(result("000-ext4/1")); err == nil {
		t.Error("a second result: accepted")
	}
}

// TestLogIsCut: a guest that writes without end costs the limit and no more, and the writer never sees an error.
func TestLogIsCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "console.log")
	f, err := createFile(path, 10, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n, err := f.Write([]byte("12345678")); n != 8 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if err := f.Close(); err != nil || !f.Cut() {
		t.Errorf("Close = %v, Cut = %v", err, f.Cut())
	}
	text, _ := os.ReadFile(path)
	if want := "1234567812\n[platter: cut here, the limit is 10 bytes]\n"; string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestLinesLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	lines, err := openLines(path, 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := lines.Append("0123456789"); err != nil {
		t.Error(err)
	}
	if err := lines.Append("0123456789"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("past the limit: %v", err)
	}
	if err := lines.Append(func() {}); err == nil {
		t.Error("a value that is no JSON: accepted")
	}
	if err := lines.Close(); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); !bytes.Equal(text, []byte("\"0123456789\"\n")) {
		t.Errorf("file holds %q: a refused line must not be there in part", text)
	}
}
