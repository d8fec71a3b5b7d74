package storage

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"platter/guest"
)

// host runs this machine's own programs.
type host struct{}

func (host) Run(ctx context.Context, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH=/usr/sbin:/sbin:/usr/bin:/bin")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s%s", strings.Join(argv, " "), err, stderr.String(), out)
	}
	return out, nil
}

// soft are filesystems whose mkfs takes less than our minimum: ours is where they become usable.
var soft = map[string]string{
	"ext2": "mke2fs makes toys of 60 KiB", "ext3": "it leaves the journal out below 8 MiB", "ext4": "it leaves the journal out below 8 MiB",
	"vfat": "mkfs.vfat makes toys of 50 KiB",
}

// The declared minimum is where the real program begins to work, and a MiB less is where it fails.
func TestRealMkfsAtItsMinimum(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: runs this machine's mkfs programs on files")
	}
	for _, fs := range Filesystems() {
		if fs.Name == "zfs" {
			continue // a pool needs the module; it is made on a real machine
		}
		t.Run(fs.Name, func(t *testing.T) {
			s := guest.Storage{Filesystem: fs.Name, Label: strings.Repeat("L", min(fs.LabelMax, 255))}
			if out, err := realMkfs(t, fs, s, fs.MinBytes); err != nil {
				t.Errorf("at its minimum of %d bytes with the longest label: %v\n%s", fs.MinBytes, err, out)
			}
			if fs.Name == "f2fs" {
				return // f2fs-tools of Debian 12 take 52 MiB, which is ours; those of Debian 13 take 44 MiB
			}
			s.Label = ""
			_, err := realMkfs(t, fs, s, fs.MinBytes-1<<20)
			if why, ok := soft[fs.Name]; (err == nil) != ok && fs.MinBytes > 2<<20 {
				t.Errorf("1 MiB under its minimum: %v (%s)", err, why)
			}
		})
	}
}

// Every option of the table is one the real program takes.
func TestRealMkfsTakesEveryOption(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: runs this machine's mkfs programs on files")
	}
	for _, fs := range Filesystems() {
		if fs.Name == "zfs" {
			continue
		}
		t.Run(fs.Name, func(t *testing.T) {
			if out, err := realMkfs(t, fs, full(fs), 2*gib); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A label one byte over the limit is cut or refused by the real program, which is why Check refuses it.
func TestRealLabelLimits(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: runs this machine's mkfs programs on files")
	}
	for _, name := range []string{"xfs", "btrfs", "vfat"} {
		fs, _ := FilesystemByName(name)
		if out, err := realMkfs(t, fs, guest.Storage{Filesystem: name, Label: strings.Repeat("L", fs.LabelMax+1)}, gib); err == nil {
			t.Errorf("%s took a label of %d bytes\n%s", name, fs.LabelMax+1, out)
		}
	}
	fs, _ := FilesystemByName("ext4")
	s := guest.Storage{Filesystem: "ext4", Label: strings.Repeat("L", 16) + "X"}
	name := filepath.Join(t.TempDir(), "disk")
	makeFile(t, name, 64<<20)
	if out, err := (host{}).Run(t.Context(), fs.Mkfs(s, Target{Devices: []string{name}})[0]...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	facts, err := fs.ReadBack(t.Context(), host{}, s, Target{Devices: []string{name}}, Place{})
	if err != nil || fs.Effective(facts)["label"] != strings.Repeat("L", 16) {
		t.Errorf("ext4 label read back as %q, %v", fs.Effective(facts)["label"], err)
	}
}

func realMkfs(t *testing.T, fs Filesystem, s guest.Storage, size int64) (string, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "disk")
	makeFile(t, name, size)
	for _, argv := range fs.Mkfs(s, Target{Devices: []string{name}, SizeBytes: size}) {
		if out, err := (host{}).Run(t.Context(), argv...); err != nil {
			return string(out), err
		}
	}
	return "", nil
}

func makeFile(t *testing.T, name string, size int64) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
}
