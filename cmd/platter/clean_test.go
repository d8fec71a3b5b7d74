package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
)

func TestWanted(t *testing.T) {
	old, young := time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
	tagged := func(run string, since time.Time) orphan { return orphan{kind: "run", run: run, since: since} }
	temp := func(since time.Time) orphan { return orphan{kind: "temp", since: since} }
	for _, c := range []struct {
		name      string
		run       string
		olderThan time.Duration
		left      orphan
		want      bool
	}{
		{"all", "", 0, tagged("a", young), true},
		{"the run", "a", 0, tagged("a", young), true},
		{"another run", "b", 0, tagged("a", young), false},
		{"old enough", "", 24 * time.Hour, tagged("a", old), true},
		{"too young", "", 24 * time.Hour, tagged("a", young), false},
		{"old, of another run", "b", 24 * time.Hour, tagged("a", old), false},
		{"an old temporary file", "", 24 * time.Hour, temp(old), true},
		{"a young temporary file", "", 24 * time.Hour, temp(young), false},
		{"a temporary file of unknown age", "", 24 * time.Hour, temp(time.Time{}), true},
		{"a temporary file, asked for a run", "a", 0, temp(old), false},
	} {
		set := flag.NewFlagSet("", flag.ContinueOnError)
		set.String("run", c.run, "")
		set.Duration("older-than", c.olderThan, "")
		if got := wanted(cli.NewContext(nil, set, nil), c.left); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCleanWithoutHypervisor: a daemon that cannot be reached is an error, and keeps nothing else from being removed.
func TestCleanWithoutHypervisor(t *testing.T) {
	temp, results := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("LIBVIRT_AUTOSTART", "0")
	old := time.Now().Add(-2 * time.Hour)
	dead := func(dir string) string {
		path := filepath.Join(dir, ".platter-unpack-1")
		if err := errors.Join(os.MkdirAll(filepath.Join(path, "half"), 0o755), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lease := deadLease(t, temp)
	paths := []string{dead(temp), dead(results), lease}
	there := func() (n int) {
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 { // a lease that has ended is empty
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		args []string
		says string
		left int
	}{
		{[]string{"--older-than", "3h"}, "", 3},
		{[]string{"--dry-run"}, "a packed run was being read in " + results, 3},
		{[]string{"--run", "r1"}, "lease   of disk S1    (ann's platter (process 7, run r1) has ended)\nremoved 1\n", 2},
		{nil, "removed 2", 0},
	} {
		var out bytes.Buffer
		args := append([]string{"clean", "--results", results, "--claims", temp + "/none", "--connect", "qemu:///system?socket=" + temp + "/none"}, c.args...)
		err := run(t.Context(), args, streams{nil, &out, &out})
		if !as[*lab.InfraError](err) || exitStatus(err, nil) != 8 || !strings.Contains(err.Error(), "machines and volumes were not looked for") {
			t.Errorf("%v: %v", c.args, err)
		}
		if !strings.Contains(out.String(), c.says) || strings.Contains(out.String(), "nothing is left") || there() != c.left {
			t.Errorf("%v: %d are left, it said %q", c.args, there(), out.String())
		}
	}
}

// deadLease makes the directory of leases one with a single lease, whose owner is gone.
func deadLease(t *testing.T, dir string) (path string) {
	t.Helper()
	was := leaseDir
	leaseDir = filepath.Join(dir, "leases")
	t.Cleanup(func() { leaseDir = was })
	sum := sha256.Sum256([]byte("S1"))
	path = filepath.Join(leaseDir, hex.EncodeToString(sum[:8])+".json")
	text := `{"schema":"platter.lease/1","serial":"S1","owner":{"user":"ann","pid":7,"pid_start":1,"boot_id":"b","run":"r1"},"since":"` + time.Now().UTC().Format(time.RFC3339) + `"}`
	if err := errors.Join(os.Mkdir(leaseDir, 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}
