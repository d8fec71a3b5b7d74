package domain

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"libvirt.org/go/libvirtxml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// machine is a valid machine with one image and one data disk.
func machine(change ...func(*Spec)) Spec {
	s := Spec{
		Name: "platter-t1", UUID: "8c0f4b52-6d6c-4f0e-9d0c-0123456789ab", CPUs: 2, MemoryBytes: 1 << 30, Accel: TCG,
		Emulator: "/usr/bin/qemu-system-x86_64", MachineType: "pc-q35-7.2", Arch: "x86_64", LibvirtVersion: MakeVersion(9, 0, 0),
		Kernel: "/images/vmlinuz", Initramfs: "/images/initramfs", Cmdline: "console=ttyS0 quiet",
		OEMStrings: []string{"io.systemd.credential.binary:platter.key=c3NoLWVkMjU1MTk="},
		Disks: []Disk{
			ImageDisk("root", "/images/root.squashfs"),
			DataDisk("data0", "/volumes/run-r1/data0.raw", 1<<30),
		},
		SSHPort: 40022, ConsolePath: "/volumes/run-r1/platter-t1.console",
		Tag: Tag{
			OwnerUID: 1000, OwnerName: "ann", Run: "r1", Trial: "storage=xfs/round=1",
			BootID: "4f8a7a1e-0000-4000-8000-000000000001", PID: 4711, PIDStart: 99,
			Created: time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC), Expires: time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC),
		},
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

// data changes the data disk of a machine.
func data(change func(*Disk)) func(*Spec) {
	return func(s *Spec) { change(&s.Disks[1]) }
}

func disks(n int, change func(*Disk)) func(*Spec) {
	return func(s *Spec) {
		s.Disks = nil
		for i := range n {
			d := DataDisk(fmt.Sprintf("data%d", i), fmt.Sprintf("/volumes/run-r1/data%d.raw", i), 16<<20)
			change(&d)
			s.Disks = append(s.Disks, d)
		}
	}
}

func plain(*Disk) {}

func onBus(b Bus) func(*Disk) {
	return func(d *Disk) { d.Bus, d.IOThread = b, b == Virtio || b == SCSI }
}

var goldenCases = []struct {
	name string
	spec Spec
}{
	{"machine-tcg", machine()},
	{"machine-kvm", machine(func(s *Spec) { s.Accel = KVM })},
	{"machine-aarch64", machine(func(s *Spec) {
		s.Arch, s.MachineType, s.Emulator, s.Cmdline = "aarch64", "virt-7.2", "/usr/bin/qemu-system-aarch64", "console=ttyAMA0"
	})},
	{"machine-bare", machine(func(s *Spec) { s.Disks, s.OEMStrings, s.Initramfs = nil, nil, "" })},
	{"disk-virtio-queues", machine(data(func(d *Disk) { d.Queues = 4 }))},
	{"disk-no-iothread", machine(data(func(d *Disk) { d.IOThread = false }))},
	{"disk-qcow2", machine(data(func(d *Disk) { d.Format = QCOW2 }))},
	{"disk-block", machine(data(func(d *Disk) { d.Kind, d.Path = Block, "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4" }))},
	{"disk-lun", machine(data(func(d *Disk) { d.Kind, d.Path, d.Bus = LUN, "/dev/disk/by-id/scsi-1", SCSI }))},
	{"disk-nvme-drive", machine(data(func(d *Disk) { d.Kind, d.Path, d.PCI, d.Namespace = NVMeNamespace, "", "0000:03:00.0", 1 }))},
	{"hostdev-pci", machine(func(s *Spec) {
		s.Hostdevs = []Hostdev{{Name: "S1", PCI: "0000:41:00.0"}, {Name: "S2", PCI: "0000:e1:1f.7"}}
	})},
	{"hostdev-usb", machine(func(s *Spec) { s.Hostdevs = []Hostdev{{Name: "stick", USBBus: 2, USBDevice: 14}} })},
	{"disk-writeback", machine(data(func(d *Disk) { d.Cache, d.IO = CacheWriteback, IOThreads }))},
	{"disk-writethrough", machine(data(func(d *Disk) { d.Cache, d.IO = CacheWritethrough, IOUring }))},
	{"disk-directsync", machine(data(func(d *Disk) { d.Cache, d.IO = CacheDirectsync, IONative }))},
	{"disk-unsafe", machine(data(func(d *Disk) { d.Cache, d.IO = CacheUnsafe, IOThreads }))},
	{"disk-discard-ignore", machine(data(func(d *Disk) { d.Discard, d.DetectZeroes = DiscardIgnore, DetectZeroesOn }))},
	{"disk-detect-zeroes-unmap", machine(data(func(d *Disk) { d.DetectZeroes = DetectZeroesUnmap }))},
	{"disk-4kn", machine(data(func(d *Disk) { d.LogicalBlock, d.PhysicalBlock = 4096, 4096 }))},
	{"disk-4k-logical", machine(data(func(d *Disk) { d.LogicalBlock = 4096 }))},
	{"disk-512e", machine(data(func(d *Disk) { d.LogicalBlock, d.PhysicalBlock = 512, 4096 }))},
	{"disk-limits", machine(data(func(d *Disk) {
		d.Limits = Limits{TotalBytesPerSecond: 100 << 20, BurstTotalBytesPerSecond: 200 << 20, ReadIOPS: 200, WriteIOPS: 100, BurstWriteIOPS: 400, BurstSeconds: 5, IOSizeBytes: 65536}
	}))},
	{"disk-scsi", machine(data(func(d *Disk) {
		d.Bus, d.Queues, d.RotationRate, d.WWN, d.Path = SCSI, 2, 7200, "5000c500a1b2c3d4", `/volumes/R&D, "q1" data/a,b & c's.raw`
	}))},
	{"disk-scsi-shared", machine(disks(3, func(d *Disk) { d.Bus, d.IOThread = SCSI, false }))},
	{"disk-sata", machine(data(func(d *Disk) { d.Bus, d.IOThread, d.RotationRate = SATA, false, 1 }))},
	{"disk-sata-7", machine(disks(7, onBus(SATA)))},
	{"disk-nvme-commandline", machine(data(func(d *Disk) {
		d.Bus, d.IOThread, d.LogicalBlock, d.Path = NVMe, false, 4096, `/volumes/R&D, "q1" data/a,b & c's.raw`
		d.Limits = Limits{TotalIOPS: 1000, BurstTotalIOPS: 2000, BurstSeconds: 3, IOSizeBytes: 4096}
	}))},
	{"disk-nvme-native", machine(data(func(d *Disk) { d.Bus, d.IOThread = NVMe, false }), func(s *Spec) { s.LibvirtVersion = MakeVersion(11, 5, 0) })},
	{"disks-24", machine(disks(24, plain))},
	{"disks-70", machine(disks(70, plain))},
	{"disks-mixed", machine(func(s *Spec) {
		for i, b := range []Bus{Virtio, SCSI, SATA, NVMe} {
			d := DataDisk(fmt.Sprintf("%s-%d", b, i), fmt.Sprintf("/volumes/%d.raw", i), 16<<20)
			onBus(b)(&d)
			s.Disks = append(s.Disks, d)
		}
	})},
}

func TestBuildGolden(t *testing.T) {
	for _, c := range goldenCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Build(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", c.name+".xml"), got+"\n")
			checkPaths(t, c.spec, got)
		})
	}
}

// checkPaths reads the XML back with an ordinary decoder and compares every
// path byte for byte.
func checkPaths(t *testing.T, s Spec, text string) {
	t.Helper()
	var d libvirtxml.Domain
	if err := d.Unmarshal(text); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, disk := range d.Devices.Disks {
		if disk.Source.File != nil {
			found[disk.Source.File.File] = true
		}
		if disk.Source.Block != nil {
			found[disk.Source.Block.Dev] = true
		}
	}
	args := ""
	for _, arg := range d.QEMUCommandline.Args {
		args += arg.Value + "\n"
	}
	for _, disk := range s.Disks {
		onArgs := strings.Contains(args, "file="+strings.ReplaceAll(disk.Path, ",", ",,")+",format=")
		if disk.Kind != NVMeNamespace && !found[disk.Path] && !onArgs {
			t.Errorf("path %q of disk %s is not in the XML", disk.Path, disk.Serial)
		}
	}
}

// TestBuildIsPure compares two builds of the same machine.
func TestBuildIsPure(t *testing.T) {
	first, err := Build(machine())
	if err != nil {
		t.Fatal(err)
	}
	second, err := Build(machine())
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("two builds differ:\n%s", cmp.Diff(first, second))
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run with -update to make it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
