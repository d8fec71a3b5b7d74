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

// TestDiskFull fills a real filesystem. The result that does not fit leaves no trace, the earlier one is intact, and the
// error says what is wrong.
func TestDiskFull(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: mounts a small ext4 on a loop device, as root")
	}
	dir := smallFilesystem(t)
	run := create(t, dir)
	finish(t, run, "000-ext4/1", 1)
	second, err := run.Trial("001-xfs/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(dir, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	f.Close()

	big := result("001-xfs/1")
	big.Settings = []results.Setting{{Subject: "server", Name: strings.Repeat("x", 64<<10)}}
	var full *NoSpaceError
	if err := second.Finish(big); !errors.As(err, &full) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Finish on a full disk: %v, want *NoSpaceError", err)
	}
	if _, err := Create(dir, spec()); !errors.As(err, &full) {
		t.Errorf("Create on a full disk: %v, want *NoSpaceError", err)
	}
	if left, _ := filepath.Glob(second.Path() + "/*"); len(left) != 0 {
		t.Errorf("the failed write left %v", left)
	}
	if ids, _ := collect(run); len(ids) != 1 || ids[0] != "000-ext4/1" {
		t.Errorf("results %v, want the earlier one", ids)
	}
	if runs, _, err := List(dir); err != nil || len(runs) != 1 {
		t.Errorf("List: %d runs, %v; the run that could not be made must be gone", len(runs), err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if err := second.Finish(big); err != nil {
		t.Errorf("Finish after space was freed: %v", err)
	}
	if err := run.Close(Done, ""); err != nil {
		t.Error(err)
	}
}

// smallFilesystem mounts 8 MiB of ext4 and returns where.
func smallFilesystem(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mnt")
	for _, command := range [][]string{
		{"truncate", "-s", "8M", image}, {"mkfs.ext4", "-q", "-m", "0", image}, {"mkdir", mount}, {"mount", "-o", "loop", image, mount},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", command, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", mount).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return mount
}
