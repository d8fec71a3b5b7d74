package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"platter/guest"
	"platter/guest/storage"
	"platter/lab"
	"platter/lab/planner"
	"platter/results"
)

// labDisks are the disks of the storage test's machine, one on each bus. The first holds three partitions that are each
// large enough for every filesystem; the others are as small as the pickiest one allows.
var labDisks = []lab.Disk{
	labDisk("a", "virtio", 1104),
	labDisk("b", "scsi", 352),
	labDisk("c", "sata", 352),
	labDisk("d", "nvme", 352),
	fourK(labDisk("k", "virtio", 352)),
}

// fourK makes a disk one of 4096-byte sectors (4Kn).
func fourK(d lab.Disk) lab.Disk {
	d.LogicalBlockBytes, d.PhysicalBlockBytes = 4096, 4096
	return d
}

func labDisk(name, bus string, mib int64) lab.Disk {
	return lab.Disk{Name: name, Serial: "lab-" + name, SizeBytes: mib << 20, Bus: bus, Cache: "auto", IO: "auto", Format: "raw",
		Preallocation: "off", Discard: "unmap", DetectZeroes: "off", IOThread: bus == "virtio"}
}

// askedOf are options that each filesystem is made with, all of which can be read back. One without a row here is made
// with its defaults.
var askedOf = map[string]map[string]string{
	"ext2":     {"blocksize": "1024", "inode_size": "128"},
	"ext3":     {"blocksize": "4k", "journal_size": "16"},
	"ext4":     {"blocksize": "4k", "inode_size": "512", "reserved_ratio": "2", "journal_size": "32", "stride": "16", "stripe_width": "48"},
	"xfs":      {"data.agcount": "3", "inode.size": "1024", "metadata.reflink": "0", "naming.size": "8192", "sector.size": "4096"},
	"btrfs":    {"nodesize": "32k", "checksum": "xxhash"},
	"zfs":      {"recordsize": "16k", "compression": "off", "atime": "off", "checksum": "sha256"},
	"gfs2":     {"journals": "3", "journal_size": "8", "block_size": "4096"},
	"vfat":     {"fat_size": "32", "sectors_per_cluster": "8", "fats": "1", "reserved_sectors": "64"},
	"exfat":    {"cluster-size": "64k", "boundary-align": "4m"},
	"f2fs":     {"segments_per_section": "2", "sections_per_zone": "3"},
	"jfs":      {"case_insensitive": "1"},
	"nilfs2":   {"block-size": "2048", "blocks-per-segment": "1024", "reserved-segments-percentage": "7"},
	"reiserfs": {"format": "3.6", "hash": "tea", "journal-size": "1024", "transaction-max-size": "256"},
}

// formation is one form of a layout and the filesystems it is tried with.
type formation struct {
	layout      guest.Layout
	filesystems []string
}

func node(kind string, options map[string]string, of ...guest.Layout) guest.Layout {
	return guest.Layout{Kind: kind, Options: options, Of: of}
}

// on are whole disks, named by their letters.
func on(letters string) (of []guest.Layout) {
	for _, l := range letters {
		of = append(of, guest.Layout{Kind: "disk", Disk: string(l)})
	}
	return of
}

type asked = map[string]string

// formations has a row for every layout of the registry. On a whole disk every filesystem is tried, and some again on one
// of 4096-byte sectors (B29).
var formations = map[string][]formation{
	"disk": {
		{on("k")[0], []string{"xfs", "vfat", "f2fs"}},
	},
	"partition": {
		{node("partition", asked{"number": "1", "of": "1"}, on("k")...), []string{"ext4"}},
		{node("partition", asked{"number": "1", "of": "3"}, on("a")...), []string{"ext3"}},
		{node("partition", asked{"number": "2", "of": "3"}, on("a")...), []string{"xfs"}},
		{node("partition", asked{"number": "3", "of": "3"}, on("a")...), []string{"gfs2"}},
		{node("partition", asked{"number": "2", "sizes": "300m,420m"}, on("a")...), []string{"ext4", "btrfs"}},
	},
	"md": {
		{node("md", asked{"level": "0", "chunk": "64k"}, on("bc")...), []string{"ext2", "xfs"}},
		{node("md", asked{"level": "1"}, on("bd")...), []string{"ext4", "f2fs"}},
		{node("md", asked{"level": "5", "chunk": "64k", "layout": "left-symmetric"}, on("abcd")...), []string{"ext4", "xfs"}},
		{node("md", asked{"level": "6", "chunk": "32k", "write_zeroes": "1"}, on("abcd")...), []string{"jfs", "xfs"}},
		{node("md", asked{"level": "10", "chunk": "64k", "layout": "n2"}, on("abcd")...), []string{"ext4", "nilfs2"}},
	},
	"lvm": {
		{node("lvm", asked{"type": "linear"}, on("bc")...), []string{"ext4", "reiserfs"}},
		{node("lvm", asked{"type": "striped", "stripe_size": "64k"}, on("bcd")...), []string{"ext4", "xfs"}},
		{node("lvm", asked{"type": "thin", "chunk": "64k"}, on("a")...), []string{"ext4", "xfs"}},
		{node("lvm", asked{"type": "linear"}, node("crypt", nil, node("md", asked{"level": "1"}, on("bc")...))), []string{"xfs"}},
	},
	"crypt": {
		{node("crypt", asked{"type": "luks2", "cipher": "aes-xts-plain64", "key_size": "512", "sector_size": "4096"}, on("b")...), []string{"ext4", "vfat"}},
	},
	"log_writes": {
		{node("log_writes", nil, on("ba")...), []string{"ext4", "xfs"}},
	},
	"btrfs": {
		{node("btrfs", asked{"level": "single"}, on("bc")...), []string{"btrfs"}},
		{node("btrfs", asked{"level": "raid1"}, on("bcd")...), []string{"btrfs"}},
	},
	"zfs": {
		{node("zfs", asked{"level": "single", "ashift": "9"}, on("b")...), []string{"zfs"}},
		{node("zfs", asked{"level": "mirror", "ashift": "12"}, on("bc")...), []string{"zfs"}},
		{node("zfs", asked{"level": "raidz1", "ashift": "12"}, on("bcd")...), []string{"zfs"}},
	},
}

// storageTrials are the trials of every filesystem on a whole disk, then of every layout. A layout without a formation
// gives an error, so that a new one is not forgotten.
func storageTrials() ([]lab.Trial, error) {
	var trials []lab.Trial
	add := func(filesystem string, layout guest.Layout) {
		trials = append(trials, storageTrial(len(trials), filesystem, layout))
	}
	for _, fs := range storage.Filesystems() {
		add(fs.Name, on("a")[0])
	}
	for _, l := range storage.Layouts() {
		forms := formations[l.Name]
		if len(forms) == 0 {
			return nil, fmt.Errorf("layout %s is not tried: add it to formations", l.Name)
		}
		for _, f := range forms {
			for _, filesystem := range f.filesystems {
				add(filesystem, f.layout)
			}
		}
	}
	return trials, nil
}

// TestStorageTrials: every filesystem and every layout of the registry is among the trials of TestEveryStorage, and none
// would be refused.
func TestStorageTrials(t *testing.T) {
	trials, err := storageTrials()
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		if errs := storage.Check(trial.Job.Storage, trial.Job.Disks); len(errs) > 0 {
			t.Errorf("%s: %v", trial.Name, errors.Join(errs...))
		}
		if len(trial.Commands) == 0 {
			t.Errorf("%s: no commands", trial.Name)
		}
	}
}

// storageTrial is a trial of one storage without a server: it is made, filled and read back.
func storageTrial(index int, filesystem string, layout guest.Layout) lab.Trial {
	s := guest.Storage{Filesystem: filesystem, Options: askedOf[filesystem], Mount: []string{"noatime"}, Layout: layout}
	if fs, err := storage.FilesystemByName(filesystem); err == nil && fs.LabelMax > 0 {
		s.Label = "LAB1"
	}
	text := storage.Describe(layout)
	cell := fmt.Sprintf("storage=%s,layout=%s", filesystem, strings.NewReplacer("(", "_", ")", "", "; ", "_", " ", "_").Replace(text))
	factors := map[string]string{"storage": filesystem, "layout": text}
	id, _ := results.CellID(factors)
	t := lab.Trial{
		ID: fmt.Sprintf("%03d-%s/1", index+1, cell), Name: "storage/" + cell, Index: index, Round: 1, CellID: id,
		Factors: factors,
		Machine: lab.Machine{CPUs: 2, MemoryBytes: 1 << 30, Accel: "auto"}, Disks: labDisks,
	}
	t.Root, t.Addons = planner.Registry{}.Images(s)
	t.Job = guest.Job{Trial: t.ID, Storage: s, Steps: []guest.Step{{Do: "fill"}}, Quiesce: guest.Quiesce{LimitSeconds: 180}, Seed: uint64(index) + 1}
	for _, d := range labDisks {
		if uses(layout, d.Name) {
			t.Job.Disks = append(t.Job.Disks, guest.Disk{Name: d.Name, Serial: d.Serial, SizeBytes: d.SizeBytes, LogicalBlockBytes: d.LogicalBlockBytes, Wipe: true})
		}
	}
	t.Commands = storage.Commands(s, t.Job.Disks, nil)
	return t
}

func uses(l guest.Layout, disk string) bool {
	for _, child := range l.Of {
		if uses(child, disk) {
			return true
		}
	}
	return l.Disk == disk
}
