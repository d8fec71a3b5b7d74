package hypervisor

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// images of all kinds that QEMU may be given, 64 MiB each but the last.
var firstBlocks = map[string]func(f *os.File) error{
	"a hole":   func(f *os.File) error { return f.Truncate(64 << 20) },
	"reserved": func(f *os.File) error { return unix.Fallocate(int(f.Fd()), 0, 0, 64<<20) },
	"discarded": func(f *os.File) error {
		if _, err := f.Write(bytes.Repeat([]byte("data"), 16<<20)); err != nil {
			return err
		}
		return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 1<<20)
	},
	"written": func(f *os.File) error {
		_, err := f.Write(bytes.Repeat([]byte("data"), 16<<20))
		return err
	},
	"half": func(f *os.File) error {
		if _, err := f.WriteAt([]byte("label"), 512); err != nil {
			return err
		}
		return f.Truncate(1536)
	},
}

func makeImage(t *testing.T, dir string, write func(*os.File) error) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "image")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// TestSettledBlock: the content stays, and where a file system refuses one byte of what was written, it does so for every
// image afterwards.
func TestSettledBlock(t *testing.T) {
	dir := t.TempDir()
	written := makeImage(t, dir, func(f *os.File) error {
		_, err := f.Write(make([]byte, 8192))
		return err
	})
	refuses := !readsOneByte(written)
	for name, write := range firstBlocks {
		t.Run(name, func(t *testing.T) {
			path := makeImage(t, dir, write)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := settleFirstBlock(path); err != nil {
				t.Fatal(err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the content changed, %v", err)
			}
			if refuses && readsOneByte(path) {
				t.Error("one byte can still be read directly: QEMU will take 4096 for the unit of requests")
			}
		})
	}
}

// TestSettledVolumes: only the run's own writable raw volumes are touched.
func TestSettledVolumes(t *testing.T) {
	h := unitHost(t, "")
	tag := domain.Tag{Run: "settle"}
	if _, err := h.ensureRun(tag); err != nil {
		t.Fatal(err)
	}
	sparse := func(f *os.File) error { return f.Truncate(1 << 20) }
	disk := func(dir string, change func(*domain.Disk)) domain.Disk {
		d := domain.DataDisk("disk", makeImage(t, dir, sparse), 1<<20)
		change(&d)
		return d
	}
	disks := []domain.Disk{
		disk(h.RunDir(tag.Run), func(*domain.Disk) {}),
		disk(h.RunDir(tag.Run), func(d *domain.Disk) { d.ReadOnly = true }),
		disk(h.RunDir(tag.Run), func(d *domain.Disk) { d.Format = domain.QCOW2 }),
		disk(t.TempDir(), func(*domain.Disk) {}),
	}
	mine := readsOneByte(disks[0].Path)
	if err := h.settleVolumes(domain.Spec{Tag: tag, Disks: disks}); err != nil {
		t.Fatal(err)
	}
	for i, d := range disks {
		var st unix.Stat_t
		if err := unix.Stat(d.Path, &st); err != nil {
			t.Fatal(err)
		}
		if want := i == 0 && mine; (st.Blocks > 0) != want {
			t.Errorf("disk %d takes %d sectors of the host, written: want %v", i, st.Blocks, want)
		}
	}
}

// TestMergedWrites gives QEMU's block layer what it makes of a guest's requests when it merges as many as it may: 1024
// segments that do not begin at 4096 bytes.
func TestMergedWrites(t *testing.T) {
	needVM(t)
	dir := storageRoot(t)
	for name, write := range firstBlocks {
		if name == "half" {
			continue // too small
		}
		t.Run(name, func(t *testing.T) {
			path := makeImage(t, dir, write)
			defer os.Remove(path)
			if err := settleFirstBlock(path); err != nil {
				t.Fatal(err)
			}
			for _, offset := range []int{512, 1024, 1<<20 + 1024} {
				line := fmt.Sprint("writev ", offset, strings.Repeat(" 1024", 1024))
				out, err := exec.CommandContext(t.Context(), "qemu-io", "-f", "raw", "-t", "none", "-n", "-c", line, path).CombinedOutput()
				if err != nil || !strings.Contains(string(out), "wrote 1048576/1048576") {
					t.Errorf("at %d of %s: %v, %s", offset, filepath.Base(path), err, out)
				}
			}
		})
	}
}
