package storage

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"platter/guest"

	"github.com/google/go-cmp/cmp"
)

// sampleLayouts show each layout in its kinds; together with fullLayoutOptions they cover every option.
var sampleLayouts = []guest.Layout{
	on("disk", nil),
	{Kind: "partition", Disk: "a"},
	on("partition", map[string]string{"number": "2", "of": "3"}, "a"),
	on("partition", map[string]string{"number": "2", "sizes": "1g, 512m"}, "a"),
	on("md", map[string]string{"level": "0", "chunk": "64k"}, "a", "b"),
	on("md", map[string]string{"level": "1"}, "a", "b"),
	on("md", map[string]string{"level": "5", "chunk": "64k", "layout": "left-symmetric", "bitmap": "internal"}, "a", "b", "c", "d"),
	on("md", map[string]string{"level": "6", "write_zeroes": "1"}, "a", "b", "c", "d"),
	on("md", map[string]string{"level": "10", "layout": "n2"}, "a", "b", "c", "d"),
	on("lvm", nil, "a", "b"),
	on("lvm", map[string]string{"type": "striped", "stripe_size": "64k"}, "a", "b"),
	on("lvm", map[string]string{"type": "thin", "chunk": "64k"}, "a"),
	on("crypt", map[string]string{"type": "luks2", "cipher": "aes-xts-plain64", "key_size": "256", "sector_size": "4096",
		"allow_discards": "1", "no_read_workqueue": "1", "no_write_workqueue": "1"}, "a"),
	on("btrfs", map[string]string{"level": "raid1"}, "a", "b"),
	on("btrfs", map[string]string{"level": "single", "metadata": "raid1"}, "a", "b"),
	on("zfs", map[string]string{"level": "single"}, "a"),
	on("zfs", map[string]string{"level": "mirror", "ashift": "12", "autotrim": "off", "autoexpand": "off"}, "a", "b"),
	on("zfs", map[string]string{"level": "raidz1"}, "a", "b", "c"),
	on("log_writes", map[string]string{"keep": "all"}, "a", "b"),
	{Kind: "lvm", Of: []guest.Layout{
		on("md", map[string]string{"level": "1"}, "a", "b"),
		on("crypt", nil, "c"),
	}},
}

func init() { sampleLayouts[0].Disk = "a" }

// TestLayouts is the checklist of a new layout.
func TestLayouts(t *testing.T) {
	want := []string{"btrfs", "crypt", "disk", "log_writes", "lvm", "md", "partition", "zfs"}
	var names []string
	for _, l := range Layouts() {
		names = append(names, l.Name)
		t.Run(l.Name, func(t *testing.T) {
			if l.Check == nil || l.Build == nil || l.Teardown == nil || l.Describe == nil || l.ReadBack == nil || l.Busy == nil {
				t.Fatal("every function must be set")
			}
			samples := map[string]string{}
			for _, s := range sampleLayouts {
				if s.Kind == l.Name {
					for k, v := range s.Options {
						samples[k] = v
					}
				}
			}
			optionsHold(t, l.Options, samples)
			if l.Name == "disk" {
				return
			}
			tooMany := guest.Layout{Kind: l.Name}
			for range l.MaxOf + 1 {
				tooMany.Of = append(tooMany.Of, guest.Layout{Kind: "disk", Disk: "a"})
			}
			for _, node := range []guest.Layout{{Kind: l.Name}, tooMany} {
				if _, errs := Assemble(node, disks(gib), placeholder); !strings.Contains(errors.Join(errs...).Error(), "it is made of") {
					t.Errorf("%d children: %v", len(node.Of), errs)
				}
			}
		})
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("layouts (-want +got):\n%s", diff)
	}
}

// Whatever a layout makes is undone from the top down, and only by commands that name what it made.
func TestAssembleAndTeardown(t *testing.T) {
	for _, l := range sampleLayouts {
		a, errs := Assemble(l, disks(4*gib), func(d string) string { return "/dev/vd" + d })
		if len(errs) > 0 {
			t.Errorf("%s: %v", Describe(l), errors.Join(errs...))
			continue
		}
		if a.Text != Describe(l) {
			t.Errorf("assembled as %s, described as %s", a.Text, Describe(l))
		}
		if a.Target.SizeBytes <= 0 || a.Target.SizeBytes > 4*4*gib {
			t.Errorf("%s: a size of %d", a.Text, a.Target.SizeBytes)
		}
		for _, p := range a.Parts {
			for _, step := range p.Steps {
				if slices.Contains(step.Argv, "") {
					t.Errorf("%s: an empty argument in %q", a.Text, step.Argv)
				}
			}
		}
	}
	nested, _ := Assemble(sampleLayouts[len(sampleLayouts)-1], disks(4*gib), func(d string) string { return "/dev/vd" + d })
	var got []string
	for _, argv := range nested.Teardown() {
		got = append(got, argv[0]+" "+argv[len(argv)-1])
	}
	if diff := cmp.Diff([]string{"lvm platter5", "cryptsetup platter-crypt4", "mdadm /dev/md2"}, got); diff != "" {
		t.Errorf("teardown (-want +got):\n%s", diff)
	}
}

// The size of an array is known only when it is made, so what lies on it is not waited for with a size.
func TestSizesThatAreEstimatedAreNotAwaited(t *testing.T) {
	for _, test := range []struct {
		below guest.Layout
		want  int64
	}{
		{guest.Layout{Kind: "disk", Disk: "a"}, gib - cryptHeader},
		{on("partition", map[string]string{"of": "2"}, "a"), 511<<20 - cryptHeader},
		{on("md", map[string]string{"level": "1"}, "a", "b"), 0},
		{on("lvm", nil, "a"), 0},
	} {
		a, errs := Assemble(guest.Layout{Kind: "crypt", Of: []guest.Layout{test.below}}, disks(gib), placeholder)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if got := a.Parts[len(a.Parts)-1].Steps[1].Await[0].SizeBytes; got != test.want {
			t.Errorf("%s: waits for %d bytes, want %d", a.Text, got, test.want)
		}
	}
}

func TestLayoutFaults(t *testing.T) {
	for name, test := range map[string]struct {
		layout guest.Layout
		fs     string
		want   string
	}{
		"raid 5 of two":         {on("md", map[string]string{"level": "5"}, "a", "b"), "xfs", "level 5 takes at least 3 devices, not 2"},
		"md without level":      {on("md", nil, "a", "b"), "xfs", "level is missing"},
		"md of level 4":         {on("md", map[string]string{"level": "4"}, "a", "b"), "xfs", `"4" is none of`},
		"zeros under a stripe":  {on("md", map[string]string{"level": "0", "write_zeroes": "1"}, "a", "b"), "xfs", "level 0 has nothing to synchronise"},
		"chunk on a mirror":     {on("md", map[string]string{"level": "1", "chunk": "64k"}, "a", "b"), "xfs", "level 1 has no chunk"},
		"third of two":          {on("partition", map[string]string{"number": "3", "of": "2"}, "a"), "xfs", "number 3 of 2"},
		"partitions too large":  {on("partition", map[string]string{"sizes": "3g,2g"}, "a"), "xfs", "the disk has 4294967296"},
		"of and sizes":          {on("partition", map[string]string{"sizes": "1g", "of": "2"}, "a"), "xfs", "exclude each other"},
		"partitions too small":  {on("partition", map[string]string{"of": "128"}, "a"), "xfs", "under its minimum"},
		"mirror of one":         {on("zfs", map[string]string{"level": "mirror"}, "a"), "zfs", "level mirror takes at least 2"},
		"zfs single of two":     {on("zfs", nil, "a", "b"), "zfs", "say stripe, mirror or raidz1"},
		"xfs on a zfs layout":   {on("zfs", map[string]string{"level": "mirror"}, "a", "b"), "xfs", "layout zfs holds a zfs only"},
		"btrfs raid1 of one":    {on("btrfs", map[string]string{"level": "raid1"}, "a"), "btrfs", "takes at least 2"},
		"striped over one":      {on("lvm", map[string]string{"type": "striped"}, "a"), "xfs", "type striped takes at least 2"},
		"stripe size of linear": {on("lvm", map[string]string{"stripe_size": "64k"}, "a", "b"), "xfs", "is for type striped"},
		"unknown layout":        {on("raid", nil, "a"), "xfs", `unknown layout "raid"`},
		"disk with children":    {guest.Layout{Kind: "disk", Disk: "a", Of: []guest.Layout{{Disk: "b"}}}, "xfs", "it is a leaf"},
		"no disk":               {guest.Layout{Kind: "disk"}, "xfs", `unknown disk ""`},
		"disk and of":           {guest.Layout{Kind: "md", Disk: "a", Options: map[string]string{"level": "1"}, Of: []guest.Layout{{Disk: "b"}, {Disk: "c"}}}, "xfs", "both disk and of"},
	} {
		t.Run(name, func(t *testing.T) {
			s := guest.Storage{Filesystem: test.fs, Layout: test.layout}
			if err := errors.Join(Check(s, disks(4*gib))...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("faults: %v, want %q", err, test.want)
			}
			if Commands(s, disks(4*gib), nil) != nil {
				t.Error("commands of a refused storage")
			}
		})
	}
}

// Equal partitions lie on the same sectors whichever of them is asked for.
func TestPartitionsAreTheSameWhicheverIsUsed(t *testing.T) {
	var tables []string
	for _, number := range []string{"1", "2", "3"} {
		a, errs := Assemble(on("partition", map[string]string{"number": number, "of": "3"}, "a"), disks(4*gib), func(string) string { return "/dev/nvme0n1" })
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if a.Target.Device() != "/dev/nvme0n1p"+number || a.Target.SizeBytes != 1364<<20 {
			t.Errorf("partition %s is %s of %d bytes", number, a.Target.Device(), a.Target.SizeBytes)
		}
		tables = append(tables, strings.Join(a.Parts[1].Steps[0].Argv, " "))
	}
	if tables[0] != tables[1] || tables[1] != tables[2] {
		t.Errorf("the tables differ:\n%s", strings.Join(tables, "\n"))
	}
}

func TestDelayedDisk(t *testing.T) {
	ds := disks(gib)
	ds[0].ReadDelaySeconds, ds[0].WriteDelaySeconds = 0.0085, 0.009
	got := Commands(guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "a"}}, ds, nil)
	want := []string{"dmsetup", "create", "platter-delay-a", "--table", "0 2097152 delay <a> 0 9 <a> 0 9"}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a, _ := Assemble(guest.Layout{Disk: "a"}, ds, func(string) string { return "/dev/vda" })
	if diff := cmp.Diff([][]string{{"dmsetup", "remove", "platter-delay-a"}}, a.Teardown()); diff != "" {
		t.Errorf("teardown (-want +got):\n%s", diff)
	}
	if last := got[1]; last[len(last)-1] != "/dev/mapper/platter-delay-a" {
		t.Errorf("the filesystem is made on %v", last)
	}
}
