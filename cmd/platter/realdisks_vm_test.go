package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platter/lab/blockdev"
	"platter/results"
	"platter/results/store"
)

// loopDisk makes a loop device over an empty file and claims it with the command, as automation does.
func loopDisk(t *testing.T, claims string) (serial string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 512<<20); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", file).CombinedOutput()
	if err != nil {
		t.Fatalf("losetup: %v: %s", err, out)
	}
	node := strings.TrimSpace(string(out))
	t.Cleanup(func() { exec.Command("losetup", "--detach", node).Run() })
	inv, err := blockdev.Read(blockdev.Local())
	if err != nil {
		t.Fatal(err)
	}
	d, err := inv.Resolve(node)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, "disks", "claim", node, "--serial", d.Passport.Serial, "--claims", claims)
	if status := c.wait(); status != 0 {
		t.Fatalf("claim %s: exit status %d: %s", node, status, c.stderr.String())
	}
	return d.Passport.Serial
}

// TestRealDisks runs the shipped ssd-vs-hdd on two claimed loop devices. A second platter that wants them is told who has
// them; after kill -9 the first run is resumed, finds its own lease dead, and ends. What it leaves names no disk.
func TestRealDisks(t *testing.T) {
	needVM(t)
	host := openTestHost(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	claims := filepath.Join(t.TempDir(), "claims.json")
	flash, turning := loopDisk(t, claims), loopDisk(t, claims)
	dir := t.TempDir()
	study := []string{"run", "ssd-vs-hdd@smoke", "--claims", claims, "--set", "disks.flash={claim: " + flash + "}", "--set", "disks.disk-a={claim: " + turning + "}",
		"--set", "factors.storage.hdd={filesystem: ext4, on: disk-a}", "--set", "rounds=1", "--set", "claims=[]",
		"--set", "factors.config={uncached: {innodb_buffer_pool_size: 6M, innodb_flush_method: O_DIRECT}}", "--set", "quiesce=0s", "--set", "probes=[]",
		"--set", "factors.workload.original.oltp_table_size=500", "--set", "factors.workload.original.max_requests=20"}
	first := start(t, append(study, "--json", "--results", dir)...)
	first.awaitPhase("boot")
	second := start(t, append(study, "--json", "--results", t.TempDir())...)
	want := fmt.Sprintf("platter (process %d, run ", first.cmd.Process.Pid)
	if status := second.wait(); status != 2 || !strings.Contains(second.stderr.String(), want) {
		t.Errorf("a second platter: exit status %d, want 2 and %q: %s", status, want, second.stderr.String())
	}
	t.Logf("the second platter: %s", second.stderr.String())
	first.cmd.Process.Kill()
	first.cmd.Wait()

	runs, problems, err := store.List(dir)
	if err != nil || len(problems) > 0 || len(runs) != 1 {
		t.Fatalf("%d runs, %v, %v", len(runs), problems, err)
	}
	resumed := start(t, "run", "--resume", runs[0].ID(), "--claims", claims, "--results", dir)
	var report strings.Builder
	for resumed.events.Scan() {
		report.WriteString(resumed.events.Text() + "\n")
	}
	if status := resumed.wait(); status != 0 {
		t.Fatalf("the resumed run: exit status %d\n%s\n%s", status, report.String(), resumed.stderr.String())
	}
	dead := fmt.Sprintf("process %d, run %s) is dead", first.cmd.Process.Pid, runs[0].ID())
	if !strings.Contains(resumed.stderr.String(), dead) {
		t.Errorf("the resumed run does not say that the lease of %s:\n%s", dead, resumed.stderr.String())
	}
	t.Logf("report:\n%s", report.String())
	for _, word := range []string{"passthrough", results.HashIdentity(flash), results.HashIdentity(turning)} {
		if !strings.Contains(report.String(), word) {
			t.Errorf("the report does not say %s", word)
		}
	}
	nothingLeft(t, host, resumed.cmd.Process.Pid, dir)
	checkRealRun(t, runs[0].Path(), flash, turning)
}

// checkRealRun looks at what a run on loop devices left: valid results with hashed passports, and no file with a serial.
func checkRealRun(t *testing.T, dir string, serials ...string) {
	t.Helper()
	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if found := run.Verify(); len(found) > 0 {
		t.Errorf("verify: %v", found)
	}
	seen := map[string]bool{}
	for r, err := range run.Results() {
		if err != nil || triedAgain(t, r) || r.Status == results.StatusInterrupted {
			continue
		}
		if r.Status != results.StatusOK || len(r.Disks) != 1 || r.Disks[0].Passport == nil {
			text, _ := json.Marshal(r.Disks)
			t.Errorf("%s: %s: %s; disks %s", r.Trial, r.Status, r.Reason, text)
			continue
		}
		seen[r.Disks[0].Passport.Serial] = true
		for _, p := range r.Probes {
			if p.Name == "smart" {
				t.Errorf("a loop device says of its condition %+v", p)
			}
		}
	}
	for _, serial := range serials {
		if !seen[results.HashIdentity(serial)] {
			t.Errorf("no result of disk %s, hashed %s; there are %v", serial, results.HashIdentity(serial), seen)
		}
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		for _, serial := range serials {
			if bytes.Contains(data, []byte(serial)) {
				t.Errorf("%s holds the serial %s", path, serial)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
