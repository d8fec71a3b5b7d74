package blockdev

import (
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestVerdicts: each way in which a disk can be in use or unfit is refused in words that name it, and nothing else is.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		make func(f *fake)
		code string
		text string
	}{
		"free":               {func(f *fake) {}, "", "free"},
		"free with contents": {func(f *fake) { f.signatures["/dev/sda"] = []Signature{{Type: "ext4", Label: "photos"}} }, "", `free; a claim gives up its ext4 "photos" on sda`},
		"mounted":            {func(f *fake) { f.mount("1", f.number("sda"), "/srv", "/dev/sda") }, Mounted, "is mounted on /srv"},
		"partition mounted":  {func(f *fake) { f.mount("1", f.number(f.part("sda", 1)), "/srv", "/dev/sda1") }, Mounted, "partition 1 is mounted on /srv"},
		"root":               {func(f *fake) { f.mount("1", f.number(f.part("sda", 2)), "/", "/dev/root") }, RootDisk, "partition 2 holds the root filesystem"},
		"boot":               {func(f *fake) { f.mount("1", f.number("sda"), "/boot", "/dev/sda") }, RootDisk, "holds /boot"},
		"by source":          {func(f *fake) { f.mount("1", "0:77", "/tank", "/dev/sda") }, Mounted, "is mounted on /tank"},
		"hidden namespace":   {func(f *fake) { f.process("7", "mnt:[7]", "box"); f.mount("7", f.number("sda"), "/in", "/dev/x") }, Mounted, "is mounted on /in"},
		"btrfs member":       {func(f *fake) { f.file("sys/fs/btrfs/aa-bb/devices/sda/x", "") }, Mounted, "is a member of the mounted btrfs aa-bb"},
		"swap":               {func(f *fake) { f.file("proc/swaps", "Filename\n/dev/sda partition 1 0 -2\n") }, Swap, "is swap space in use"},
		"resume by number":   {func(f *fake) { f.file("sys/power/resume", f.number("sda")+"\n") }, Swap, "is where the host resumes from"},
		"resume by node":     {func(f *fake) { f.file("proc/cmdline", "ro resume=/dev/sda quiet") }, Swap, "is where the host resumes from"},
		"resume by uuid": {func(f *fake) {
			f.file("proc/cmdline", "resume=UUID=ab")
			f.signatures["/dev/sda"] = []Signature{{Type: "swap", UUID: "ab"}}
		}, Swap, "resumes from"},
		"md":                 {func(f *fake) { f.over("md0", "", "", "sda") }, MD, "is a member of md0"},
		"lvm":                {func(f *fake) { f.over("dm-0", "LVM-abc", "vg-home", "sda") }, LVM, "is a physical volume of LVM, and vg-home is active on it"},
		"crypt":              {func(f *fake) { f.over("dm-0", "CRYPT-LUKS2-abc", "secret", "sda") }, Crypt, "is encrypted, and opened as secret"},
		"multipath":          {func(f *fake) { f.over("dm-0", "mpath-3600", "mpatha", "sda") }, Multipath, "is a path of the multipath device mpatha"},
		"dm":                 {func(f *fake) { f.over("dm-3", "", "", "sda") }, DM, "is a target of the device-mapper device dm-3"},
		"bcache":             {func(f *fake) { f.over("bcache0", "", "", "sda") }, Bcache, "belongs to bcache0"},
		"drbd":               {func(f *fake) { f.over("drbd0", "", "", "sda") }, Stacked, "is held by drbd0"},
		"loop over the disk": {func(f *fake) { f.loop("loop9", "/dev/sda", 1); f.files["dev/sda"] = f.node("sda") }, Stacked, "is held by loop9"},
		"open":               {func(f *fake) { f.open("42", "5", "sda") }, Open, "is open in hog (process 42)"},
		"open in a machine": {func(f *fake) {
			f.open("42", "5", "sda")
			f.file("proc/42/cmdline", "/usr/bin/qemu\x00-name\x00guest=web,debug=y\x00")
		}, Open, "is open in the machine web (qemu, process 42)"},
		"busy, unseen":     {func(f *fake) { f.busy["/dev/sda"] = syscall.EBUSY }, Busy, "is in use, the kernel says"},
		"read-only":        {func(f *fake) { f.file(f.dirOf("sda")+"/ro", "1\n") }, ReadOnly, "is read-only"},
		"removable":        {func(f *fake) { f.file(f.dirOf("sda")+"/removable", "1\n") }, Removable, "is a removable medium"},
		"unreadable":       {func(f *fake) { f.unreadable["/dev/sda"] = true }, Unreadable, "cannot be looked at"},
		"not to be opened": {func(f *fake) { f.busy["/dev/sda"] = syscall.EACCES }, Unreadable, "cannot be opened by this user"},
		"no serial":        {func(f *fake) { delete(f.files, f.dirOf("sda")+"/device/vpd_pg80") }, NoIdentity, "has no serial"},
		"serial twice":     {func(f *fake) { f.disk("sdb", "S1") }, Ambiguous, "has the serial S1, and so has sdb"},
		"three layers up": {func(f *fake) {
			f.over("md0", "", "", f.part("sda", 1))
			f.over("dm-0", "CRYPT-1", "c", "md0")
			f.mount("1", f.number("dm-0"), "/x", "/dev/dm-0")
		}, "crypt mounted", "dm-0 (c), which lies on it, is mounted on /x"},
		"our own open":        {func(f *fake) { f.open("99", "5", "sda") }, "", "free"},
		"another disk's user": {func(f *fake) { f.disk("sdb", "S2"); f.mount("1", f.number("sdb"), "/srv", "/dev/sdb") }, "", "free"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.disk("sda", "S1")
			c.make(f)
			d := f.read(t)["sda"]
			if !strings.Contains(d.Verdict(), c.text) {
				t.Errorf("verdict %q does not say %q", d.Verdict(), c.text)
			}
			for _, code := range strings.Fields(c.code) {
				if !strings.Contains(codes(d), code) {
					t.Errorf("codes %q lack %s", codes(d), code)
				}
			}
			if c.code == "" && !d.Free() {
				t.Errorf("refused: %s", d.Verdict())
			}
		})
	}
}

// TestLoopIdentity: a loop device is named by its file, and refused when its file is no longer that file.
func TestLoopIdentity(t *testing.T) {
	f := newFake()
	f.loop("loop0", "/img/a", 11)
	f.loop("loop1", "/img/b", 12)
	was := f.read(t)
	if a, b := was["loop0"], was["loop1"]; !a.Free() || !b.Free() || a.Passport.Serial == b.Passport.Serial || !strings.HasPrefix(a.Passport.Serial, "loop-") {
		t.Fatalf("%s %s, %s %s", a.Passport, a.Verdict(), b.Passport, b.Verdict())
	}
	f.files["img/a"] = &fstest.MapFile{Sys: &syscall.Stat_t{Dev: 7, Ino: 13}}
	delete(f.files, "img/b")
	delete(f.backing, "/dev/loop1")
	is := f.read(t)
	if got := is["loop0"]; !strings.Contains(got.Verdict(), "its backing file was replaced: /img/a is another file now") || codes(got) != BackingGone {
		t.Error(got.Verdict())
	}
	if got := is["loop1"]; got.Free() {
		t.Error("a loop device without a file that can be told is free")
	}
	f.backing["/dev/loop1"] = Backing{Device: 7, Inode: 12}
	if got := f.read(t)["loop1"]; !strings.Contains(got.Verdict(), "its backing file /img/b is gone") {
		t.Error(got.Verdict())
	}
}

// TestPassport reads everything a disk says of itself.
func TestPassport(t *testing.T) {
	f := newFake()
	dir := f.disk("sda", "S1")
	f.file(dir+"/device/wwid", "naa.5000c500a1b2c3d4\n")
	f.file(dir+"/device/rev", "CC43\n")
	f.file("sys/bus/pci/devices/0000:00:17.0/numa_node", "1\n")
	f.symlink("sys/bus/pci/devices/0000:00:17.0/iommu_group", "../../../../kernel/iommu_groups/14")
	f.symlink("dev/disk/by-id/wwn-0x5000c500a1b2c3d4", "../../sda")
	d := f.read(t)["sda"]
	p := d.Passport
	if p.Serial != "S1" || p.WWN != "naa.5000c500a1b2c3d4" || p.Model != "WD sda" || p.Firmware != "CC43" || p.SizeBytes != 1<<30 ||
		p.LogicalBlockBytes != 512 || p.PhysicalBlockBytes != 4096 || !*p.Rotational || p.Transport != "sata" || *p.NUMANode != 1 ||
		*p.IOMMUGroup != 14 || p.PCIAddress != "0000:00:17.0" || len(d.Links) != 1 {
		t.Errorf("%#v, links %v", p, d.Links)
	}
	hidden := p.Hashed()
	if strings.Contains(hidden.Serial, "S1") || hidden.Serial == "" || hidden.Serial == hidden.WWN || strings.Contains(hidden.WWN, "5000c") {
		t.Errorf("hashed passport shows %+v", hidden)
	}
	if diff := p.Differences(p); diff != nil {
		t.Errorf("differs from itself: %v", diff)
	}
	q := p
	q.SizeBytes, q.Model = 5, "X"
	if diff := strings.Join(p.Differences(q), "; "); diff != "size in bytes was 1073741824 and is 5; model was WD sda and is X" {
		t.Error(diff)
	}
}
