package storage

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platter/guest"

	"github.com/google/go-cmp/cmp"
)

const gib = 1 << 30

// TestFilesystems is the checklist of a new filesystem.
func TestFilesystems(t *testing.T) {
	want := []string{"btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "gfs2", "jfs", "nilfs2", "reiserfs", "vfat", "xfs", "zfs"}
	var names []string
	for _, fs := range Filesystems() {
		names = append(names, fs.Name)
		t.Run(fs.Name, func(t *testing.T) {
			if fs.Type == "" || fs.Module == "" || len(fs.Tools) == 0 || len(fs.Packages) == 0 || fs.MinBytes <= 0 {
				t.Errorf("type %q, module %q, tools %v, packages %v, minimum %d: all must be set", fs.Type, fs.Module, fs.Tools, fs.Packages, fs.MinBytes)
			}
			if fs.Check == nil || fs.Mkfs == nil || fs.Mount == nil || fs.Unmount == nil || fs.ReadBack == nil ||
				fs.Effective == nil || fs.Busy == nil || fs.DropCaches == nil {
				t.Fatal("every function must be set")
			}
			for _, c := range fs.CannotDo {
				if !strings.HasPrefix(c, "it cannot ") && !strings.HasPrefix(c, "it ") {
					t.Errorf("%q does not read as a sentence about the filesystem", c)
				}
			}
			optionsHold(t, fs.Options, fullOptions[fs.Name])
			limitsHold(t, fs)
			mkfsIsPure(t, fs)
		})
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("filesystems (-want +got):\n%s", diff)
	}
}

// optionsHold proves of every option that it is explained, that its sample is accepted and that nonsense is not.
func optionsHold(t *testing.T, options []Option, samples map[string]string) {
	t.Helper()
	var names []string
	for _, o := range options {
		names = append(names, o.Name)
		if o.Help == "" {
			t.Errorf("option %s: no help", o.Name)
		}
		sample, ok := samples[o.Name]
		if !ok {
			t.Errorf("option %s: no sample in samples_test.go", o.Name)
			continue
		}
		if err := o.Check(sample); err != nil {
			t.Errorf("option %s: its sample is refused: %v", o.Name, err)
		}
		for _, bad := range []string{"", " ", "a b", "x;reboot", "-1", "$(id)", "1,--force", "\n"} {
			if o.Check(bad) == nil {
				t.Errorf("option %s: %q is accepted", o.Name, bad)
			}
		}
	}
	if len(samples) != len(names) {
		t.Errorf("samples %v for options %v", sortedKeys(samples), names)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("an option is declared twice: %v", names)
	}
}

// limitsHold tries the size and the label at and beyond their limits.
func limitsHold(t *testing.T, fs Filesystem) {
	t.Helper()
	s := guest.Storage{Filesystem: fs.Name, Layout: guest.Layout{Kind: "disk", Disk: "a"}}
	if errs := Check(s, disks(fs.MinBytes)); len(errs) > 0 {
		t.Errorf("at its minimum: %v", errors.Join(errs...))
	}
	if errs := Check(s, disks(fs.MinBytes-512)); len(errs) == 0 {
		t.Error("512 bytes under its minimum are accepted")
	}
	s.Label = strings.Repeat("L", fs.LabelMax)
	if errs := Check(s, disks(gib)); len(errs) > 0 {
		t.Errorf("longest label: %v", errors.Join(errs...))
	}
	s.Label += "L"
	if errs := Check(s, disks(gib)); len(errs) == 0 {
		t.Errorf("a label of %d bytes is accepted", len(s.Label))
	}
	s.Label = ""
	s.Options = map[string]string{"no_such_option": "1"}
	if errs := Check(s, disks(gib)); len(errs) == 0 || !strings.Contains(errs[0].Error(), "no_such_option") {
		t.Errorf("an unknown option: %v", errs)
	}
}

// mkfsIsPure asks twice, with every option, and looks that the inputs were left alone and that every
// command names the device last of all things it could act on.
func mkfsIsPure(t *testing.T, fs Filesystem) {
	t.Helper()
	s := full(fs)
	if errs := Check(s, disks(4*gib)); len(errs) > 0 {
		t.Fatalf("every option at once: %v", errors.Join(errs...))
	}
	before := full(fs)
	target := Target{Devices: []string{"/dev/vdz"}, SizeBytes: 4 * gib}
	first, second := fs.Mkfs(s, target), fs.Mkfs(s, target)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two calls differ:\n%s", diff)
	}
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("the storage was changed:\n%s", diff)
	}
	if fs.Spans != "zfs" {
		if last := first[len(first)-1]; last[len(last)-1] != "/dev/vdz" {
			t.Errorf("%v does not end with the device", last)
		}
	}
	for _, argv := range append(first, fs.Mount(s, target, Place{Dir: "/mnt", UID: "7", GID: "8"})...) {
		if slices.Contains(argv, "") {
			t.Errorf("an empty argument in %q", argv)
		}
		for _, a := range argv {
			if strings.Contains(strings.ToLower(a), "uuid") {
				t.Errorf("%q: devices are named by their nodes", argv)
			}
		}
	}
}

func TestCommandsGolden(t *testing.T) {
	var text strings.Builder
	write := func(title string, s guest.Storage) {
		commands := Commands(s, disks(4*gib), nil)
		if commands == nil {
			t.Errorf("%s: %v", title, errors.Join(Check(s, disks(4*gib))...))
		}
		text.WriteString("# " + title + "\n")
		for _, argv := range commands {
			text.WriteString(strings.Join(argv, " ") + "\n")
		}
	}
	for _, fs := range Filesystems() {
		write(fs.Name, guest.Storage{Filesystem: fs.Name, Layout: guest.Layout{Disk: "a"}})
		write(fs.Name+", every option", full(fs))
		write(fs.Name+", mount options", guest.Storage{Filesystem: fs.Name, Layout: guest.Layout{Kind: "disk", Disk: "a"}, Mount: []string{"noatime", "nodiratime"}})
	}
	for _, l := range sampleLayouts {
		fs := "xfs"
		if spanned(l.Kind) {
			fs = l.Kind
		}
		write(Describe(l), guest.Storage{Filesystem: fs, Layout: l})
	}
	golden(t, "testdata/commands.golden", text.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; rewrite with -update):\n%s", name, diff)
	}
}

// Below the minimum size and with labels too long, the table of case B45.
func TestSizesAndLabelsAreRefusedBeforeAnythingIsMade(t *testing.T) {
	for _, test := range []struct {
		fs    string
		mib   int64
		label int
		want  string // part of the fault, "" for none
	}{
		{"xfs", 64, 0, "under its minimum of 314572800 (300.0 MiB)"}, {"xfs", 299, 0, "under its minimum"}, {"xfs", 300, 0, ""},
		{"btrfs", 64, 0, "under its minimum of 114294784"}, {"btrfs", 108, 0, "under its minimum"}, {"btrfs", 109, 0, ""},
		{"ext4", 64, 0, ""}, {"ext4", 7, 0, "under its minimum"}, {"nilfs2", 128, 0, "under its minimum"}, {"nilfs2", 129, 0, ""},
		{"xfs", 300, 12, ""}, {"xfs", 300, 13, "at most 12"}, {"ext4", 64, 16, ""}, {"ext4", 64, 17, "at most 16"},
		{"vfat", 64, 11, ""}, {"vfat", 64, 12, "at most 11"}, {"gfs2", 64, 1, "it has no label"},
	} {
		s := guest.Storage{Filesystem: test.fs, Label: strings.Repeat("x", test.label), Layout: guest.Layout{Kind: "disk", Disk: "a"}}
		err := errors.Join(Check(s, disks(test.mib<<20))...)
		if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s on %d MiB with a label of %d: %v, want %q", test.fs, test.mib, test.label, err, test.want)
		}
	}
}

func TestCheckFindsAllFaultsAtOnce(t *testing.T) {
	s := guest.Storage{
		Filesystem: "xfs", Label: "thirteenchars", Mount: []string{"noatime,exec", "a b"},
		Options: map[string]string{"data.agcuont": "4", "block.size": "5000", "metadata.crc": "yes"},
		Layout:  on("md", map[string]string{"level": "5", "chunk": "3k"}, "a", "a", "z"),
	}
	ds := disks(gib)
	ds[1].Serial = "a-serial-that-is-too-long-for-virtio"
	ds[2].Serial = ds[3].Serial
	text := errors.Join(Check(s, ds)...).Error()
	for _, want := range []string{
		`unknown option "data.agcuont" (did you mean "data.agcount"?)`, "5000 is not a power of two", `"yes" is none of 0, 1`, "at most 12",
		`mount option "noatime,exec"`, `mount option "a b"`, `disk "a" is used twice`, `unknown disk "z"`, "3k is not a power of two",
		`serial "a-serial-that-is-too-long-for-virtio"`, "have the same serial",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no fault with %q in:\n%s", want, text)
		}
	}
}

func TestLogicalBlocksOf4KiB(t *testing.T) {
	for _, test := range []struct{ fs, option, bad, good string }{
		{"xfs", "sector.size", "512", "4096"}, {"xfs", "block.size", "1k", "4k"}, {"ext4", "blocksize", "1024", "4096"},
		{"vfat", "sector_size", "512", "4096"}, {"gfs2", "block_size", "2048", "4096"},
	} {
		ds := disks(gib)
		ds[0].LogicalBlockBytes = 4096
		s := guest.Storage{Filesystem: test.fs, Options: map[string]string{test.option: test.bad}, Layout: guest.Layout{Disk: "a"}}
		if err := errors.Join(Check(s, ds)...); err == nil || !strings.Contains(err.Error(), "logical block of 4096") {
			t.Errorf("%s %s=%s on 4096-byte blocks: %v", test.fs, test.option, test.bad, err)
		}
		s.Options[test.option] = test.good
		if err := errors.Join(Check(s, ds)...); err != nil {
			t.Errorf("%s %s=%s on 4096-byte blocks: %v", test.fs, test.option, test.good, err)
		}
	}
	ds := disks(gib + 512)
	ds[0].LogicalBlockBytes = 4096
	if err := errors.Join(Check(guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "a"}}, ds)...); err == nil || !strings.Contains(err.Error(), "1073742336") {
		t.Errorf("a disk that ends within a block: %v", err)
	}
}
