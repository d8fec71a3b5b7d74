package storage

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"platter/guest"
)

// recorded answers commands with what the tools of Debian 13 printed on a real machine.
type recorded map[string]string

func (r recorded) Run(_ context.Context, argv ...string) ([]byte, error) {
	line := strings.Join(argv, " ")
	for part, file := range r {
		if strings.Contains(line, part) {
			return os.ReadFile("testdata/readback/" + file)
		}
	}
	return nil, fmt.Errorf("%s: nobody recorded this", line)
}

// What was asked when the recordings were made comes back as effective, option by option.
func TestReadBackAnswersWhatWasAsked(t *testing.T) {
	for _, test := range []struct {
		fs    string
		exec  recorded
		asked map[string]string
		fact  string // a fact in the filesystem's own words
		value string
	}{
		{"ext4", recorded{"dumpe2fs": "ext4.txt"}, map[string]string{"label": "lab1", "blocksize": "4k", "inode_size": "512",
			"reserved_ratio": "2", "journal_size": "32", "stride": "16", "stripe_width": "48"}, "Filesystem OS type", "Linux"},
		{"xfs", recorded{"xfs_info": "xfs.txt", "xfs_admin": "xfs_label.txt"}, map[string]string{"label": "lab1", "block.size": "4096",
			"metadata.crc": "1", "metadata.reflink": "0", "data.agcount": "8", "inode.size": "1024", "log.size": "64m",
			"naming.size": "8192", "sector.size": "4096"}, "data.bsize", "4096"},
		{"btrfs", recorded{"dump-super": "btrfs.txt", "filesystem df": "btrfs_df.txt"}, map[string]string{"label": "lab1", "nodesize": "32k",
			"checksum": "xxhash"}, "profile.metadata", "dup"},
		{"f2fs", recorded{"dump.f2fs": "f2fs.txt"}, map[string]string{"label": "lab1", "segments_per_section": "2", "sections_per_zone": "3"}, "total FS sectors", "2097152 (1024 MB)"},
		{"jfs", recorded{"jfs_tune": "jfs.txt"}, map[string]string{"label": "lab1", "case_insensitive": "1"}, "Aggregate block size", "4096 bytes"},
		{"nilfs2", recorded{"nilfs-tune": "nilfs2.txt"}, map[string]string{"label": "lab1", "block-size": "2048", "blocks-per-segment": "1024",
			"reserved-segments-percentage": "7"}, "Filesystem OS type", "Linux"},
		{"reiserfs", recorded{"debugreiserfs": "reiserfs.txt"}, map[string]string{"label": "lab1", "format": "3.6", "hash": "tea",
			"journal-size": "1024", "transaction-max-size": "256"}, "Blocksize", "4096"},
		{"exfat", recorded{"dump.exfat": "exfat.txt"}, map[string]string{"label": "lab1", "cluster-size": "64k", "boundary-align": "4m"}, "Bytes per Sector", "512"},
		{"gfs2", recorded{"tunegfs2": "gfs2.txt", "gfs2_edit": "gfs2_journals.txt"}, map[string]string{"journals": "3", "journal_size": "16",
			"block_size": "2048"}, "Lock protocol", "lock_nolock"},
	} {
		t.Run(test.fs, func(t *testing.T) {
			fs, err := FilesystemByName(test.fs)
			if err != nil {
				t.Fatal(err)
			}
			device := "/dev/vdc"
			if test.fs == "f2fs" {
				device = "testdata/readback/f2fs.bin" // its label is read from the device itself
			}
			facts, err := fs.ReadBack(t.Context(), test.exec, guest.Storage{}, Target{Devices: []string{device}}, Place{Dir: "/mnt"})
			if err != nil {
				t.Fatal(err)
			}
			if facts[test.fact] != test.value {
				t.Errorf("fact %q is %q, want %q in %v", test.fact, facts[test.fact], test.value, facts)
			}
			effective := fs.Effective(facts)
			for option, want := range test.asked {
				if got, ok := effective[option]; !ok || !Same(want, got) {
					t.Errorf("%s was asked as %s and read back as %q", option, want, got)
				}
			}
		})
	}
}

func TestReadBackFailsWithTheTool(t *testing.T) {
	for _, fs := range Filesystems() {
		if _, err := fs.ReadBack(t.Context(), recorded{}, guest.Storage{}, Target{Devices: []string{"/no/such/device"}}, Place{Dir: "/mnt"}); err == nil {
			t.Errorf("%s: no error although its tool failed", fs.Name)
		}
	}
}

func TestParseFAT(t *testing.T) {
	b, err := os.ReadFile("testdata/readback/vfat.bin")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := parseFAT(b)
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[string]string{"label": "LAB1", "fat_size": "32", "sectors_per_cluster": "8", "fats": "1",
		"reserved_sectors": "64", "sector_size": "512", "sectors": "2097144"} {
		if facts[option] != want {
			t.Errorf("%s is %q, want %q", option, facts[option], want)
		}
	}
	for name, bad := range map[string][]byte{"empty": nil, "zeros": make([]byte, 512), "no sector size": append(make([]byte, 510), 0x55, 0xaa)} {
		if _, err := parseFAT(bad); err == nil {
			t.Errorf("%s: taken for a boot sector", name)
		}
	}
}

func TestParseF2FSLabelRefusesForeignBlocks(t *testing.T) {
	if label, err := parseF2FSLabel(make([]byte, f2fsVolumeName+2*f2fsNameUnits)); err == nil {
		t.Errorf("zeros gave the label %q", label)
	}
}

func TestLayoutReadBack(t *testing.T) {
	for _, test := range []struct {
		layout, device string
		exec           recorded
		want           map[string]string
	}{
		{"md", "/dev/md7", recorded{"mdadm": "md.txt"}, map[string]string{"level": "5", "chunk": "64K", "layout": "left-symmetric"}},
		{"lvm", "/dev/mapper/platter9-data", recorded{"platter9/data": "lvm.txt"}, map[string]string{"type": "striped", "stripe_size": "65536", "stripes": "2"}},
		{"lvm", "/dev/mapper/platter1-data", recorded{"platter1/data": "lvm_thin.txt", "platter1/pool": "lvm_pool.txt"}, map[string]string{"type": "thin", "chunk": "65536"}},
		{"crypt", "/dev/mapper/platter-crypt0", recorded{"status platter-crypt0": "crypt.txt"}, map[string]string{"type": "luks2",
			"cipher": "aes-xts-plain64", "key_size": "256", "sector_size": "4096", "allow_discards": "1", "no_read_workqueue": "1", "no_write_workqueue": "0"}},
		{"partition", "/dev/vdc2", recorded{"--info=2 /dev/vdc": "partition.txt", "--print /dev/vdc": "partition_print.txt"}, map[string]string{"number": "2", "of": "2", "First sector": "616448 (at 301.0 MiB)"}},
		{"partition", "/dev/nvme0n1p2", recorded{"--info=2 /dev/nvme0n1": "partition.txt", "--print /dev/nvme0n1": "partition_print.txt"}, map[string]string{"number": "2"}},
	} {
		l, err := LayoutByName(test.layout)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.ReadBack(t.Context(), test.exec, guest.Layout{}, Target{Devices: []string{test.device}})
		if err != nil {
			t.Errorf("%s: %v", test.layout, err)
		}
		for k, want := range test.want {
			if got[k] != want {
				t.Errorf("%s: %s is %q, want %q", test.layout, k, got[k], want)
			}
		}
	}
}

func TestPartitionSizesAreReadBack(t *testing.T) {
	text, err := os.ReadFile("testdata/readback/partition_print.txt")
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := parsePartitions(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{"300m,420m": "300m,420m", "300MiB, 430080k": "300MiB, 430080k", "300m,421m": "300m,440401920", "300m": "300m,440401920"} {
		if got := sizesAs(asked, sizes); got != want {
			t.Errorf("asked %q: read back as %q, want %q", asked, got, want)
		}
	}
	if _, err := parsePartitions("Creating new GPT entries in memory.\n"); err == nil {
		t.Error("a table without a sector size was read")
	}
}

func TestMDIsBusyWhileItRebuilds(t *testing.T) {
	target := Target{Devices: []string{"/dev/md7"}}
	busy, err := busyMD(t.Context(), recorded{"mdadm": "md_rebuild.txt"}, guest.Layout{}, target)
	if err != nil || busy != "md rebuild status 0% complete" {
		t.Errorf("while it rebuilds: %q, %v", busy, err)
	}
	busy, err = busyMD(t.Context(), recorded{"mdadm": "md.txt"}, guest.Layout{}, target)
	if err != nil || busy != "" {
		t.Errorf("afterwards: %q, %v", busy, err)
	}
}

func TestSame(t *testing.T) {
	for _, test := range []struct {
		asked, effective string
		want             bool
	}{
		{"4k", "4096", true}, {"64KiB", "64K", true}, {"1", "on", true}, {"off", "0", true}, {"lz4", "lz4", true},
		{"4k", "4", false}, {"lz4", "off", false}, {"on", "off", false}, {"", "on", false},
	} {
		if got := Same(test.asked, test.effective); got != test.want {
			t.Errorf("Same(%q, %q) is %v", test.asked, test.effective, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"512": 512, "4k": 4096, "4K": 4096, "64KiB": 65536, "1M": 1 << 20, "2g": 2 << 30, "1tb": 1 << 40} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "k", "-1", "1.5k", "1 k", "9999999999t", "99999999999999999999", "4x"} {
		if n, err := ParseSize(bad); err == nil {
			t.Errorf("ParseSize(%q) = %d", bad, n)
		}
	}
}
