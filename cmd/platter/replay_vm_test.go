package main

import (
	"path/filepath"
	"strings"
	"testing"

	"platter/results/report"
	"platter/results/store"
)

// TestReplay carries out a published study, one trial a filesystem and with the server that starts fastest, and looks for
// a value of ours beside every printed figure and for an answer to every claim.
func TestReplay(t *testing.T) {
	needVM(t)
	dir := t.TempDir()
	c := start(t, "run", "ext3-xfs-gfs@smoke", "--results", dir, "--json",
		"--set", "rounds=1", "--set", "factors.server=[mariadb-11.8]", "--set", "factors.workload.original.num_threads=4",
		"--set", "factors.workload.original.max_requests=200", "--set", "factors.workload.original.oltp_table_size=2000",
		"--set", "factors.workload.original.oltp_range_size=10")
	if status := c.wait(); status != 0 {
		t.Fatalf("status %d:\n%s", status, c.stderr.String())
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*-ext3-xfs-gfs-*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("%v, %v; want one run folder", folders, err)
	}
	run, err := store.Open(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := report.Build([]report.Folder{run}, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Published == nil || len(m.Published.Rows) == 0 {
		t.Fatal("nothing of the write-up is in the report")
	}
	for _, row := range m.Published.Rows {
		for _, cell := range row.Cells {
			if cell.Ours.Median == nil || cell.Printed == nil {
				t.Errorf("%s of %s: ours %v, printed %v", row.Title, cell.Level, cell.Ours.Median, cell.Printed)
			}
		}
	}
	if len(m.Claims) != 3 {
		t.Errorf("%d claims, want 3", len(m.Claims))
	}
	for _, claim := range m.Claims {
		if claim.Direction == "" || claim.Reason == "" || claim.Ratio == nil {
			t.Errorf("no verdict with its reason: %s", claim.Line())
		}
	}
	if era := strings.Join(m.Published.Era, "\n"); !strings.Contains(era, "gfs2 runs in place of gfs") || !strings.Contains(era, "ext4 driver") {
		t.Errorf("what differs today: %s", era)
	}
}
