package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platter/results/store"
)

// TestReportOfAFolder goes all the way: a run folder on disk, one of its files broken, to a report that says so.
func TestReportOfAFolder(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "20260131T021500Z-ext4-vs-xfs-7f3a9c")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join("..", "store", "testdata", "20260131T021500Z-ext4-vs-xfs-7f3a9c"))); err != nil {
		t.Fatal(err)
	}
	run, err := store.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Build([]Folder{run}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Partial() || m.Counts.OK != 4 {
		t.Fatalf("counts %+v, problems %v", m.Counts, m.Problems)
	}
	if err := os.Truncate(filepath.Join(copied, "trials", "003-ext4", "2-1", "result.json"), 100); err != nil {
		t.Fatal(err)
	}
	if m, err = Build([]Folder{run}, Options{}); err != nil {
		t.Fatal(err)
	}
	if m.Counts.OK != 3 || m.Counts.Missing != 1 || !m.Partial() {
		t.Errorf("with a half file: counts %+v, problems %v", m.Counts, m.Problems)
	}
	var page bytes.Buffer
	if err := Write(&page, "text", m, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PARTIAL", "trials/003-ext4/2-1/result.json: broken", "1 of 2", copied} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the report:\n%s", want, page.String())
		}
	}
}
