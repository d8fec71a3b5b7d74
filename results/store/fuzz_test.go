package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"platter/results"
)

// hostileResults are what may lie where a result should.
func hostileResults(t testing.TB) [][]byte {
	t.Helper()
	good, err := os.ReadFile(filepath.Join(archived, "trials", "000-ext4", "1-1", ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	out := [][]byte{good}
	for _, text := range []string{"", "{", "null", "[]", `{"schema":"platter.result/2"}`, `{"schema":"platter.result/1","metrics":[{"value":1e999}]}`} {
		out = append(out, []byte(text))
	}
	return out
}

// copyArchived copies the archived run and returns where the result of its first trial lies.
func copyArchived(t testing.TB) (run *Run, path string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(archived))
	if err := os.CopyFS(dir, os.DirFS(archived)); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run, filepath.Join(dir, "trials", "000-ext4", "1-1", ResultFile)
}

// TestHostileResults: whatever one result holds, the others are read, and verifying and resuming go on.
func TestHostileResults(t *testing.T) {
	run, path := copyArchived(t)
	for i, data := range hostileResults(t) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range run.Results() {
			var p *Problem
			switch {
			case err != nil && !errors.As(err, &p):
				t.Errorf("%v is no problem of a file", err)
			case err == nil:
				n++
			}
		}
		if want := 4 - min(i, 1); n != want {
			t.Errorf("%q: %d results, want %d", data, n, want)
		}
		if problems := run.Verify(); (len(problems) == 0) != (i == 0) {
			t.Errorf("%q: verify says %v", data, problems)
		}
		run.Progress()
	}
}

// FuzzReadResult puts hostile bytes where a result should be. They are refused as a problem of that file or give a
// result that is valid and can be written again.
func FuzzReadResult(f *testing.F) {
	for _, data := range hostileResults(f) {
		f.Add(data)
	}
	run, path := copyArchived(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, problem := run.readResult(filepath.Join("trials", "000-ext4", "1-1"))
		if problem != nil {
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("an invalid result was let through: %v", err)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("a result cannot be written again: %v", err)
		}
	})
}

// FuzzJournal reads hostile journals: whole lines that are JSON count, all else is named.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"time":"2026-01-31T02:15:00Z","event":"run_started","pid":1}` + "\n"))
	f.Add([]byte("\n\n{\n\xff"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, JournalFile), data, 0o644); err != nil {
			t.Fatal(err)
		}
		entries, problems := (&Run{path: dir}).Journal()
		if lines := len(wholeLines(data)); len(data) > 0 && len(problems) == 0 && len(entries) != lines {
			t.Fatalf("%d entries of %d lines, and no problem", len(entries), lines)
		}
	})
}

// FuzzHistogram decodes hostile distributions: an error or a histogram, never a panic.
func FuzzHistogram(f *testing.F) {
	f.Add("HISTFAAAACJ42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEBAJPJAyM=")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := decodeHistogram(text)
		if err == nil && h == nil {
			t.Fatal("neither a histogram nor an error")
		}
		value := 1.0
		_ = recompute(results.Result{Histograms: []results.Histogram{{Operation: "x", Encoded: text, Count: 1}},
			Metrics: []results.Metric{{Name: "latency_p95_seconds", Labels: map[string]string{"operation": "x"}, Value: &value}}})
	})
}
