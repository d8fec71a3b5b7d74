package domain

import (
	"errors"
	"strings"
	"testing"
)

var long = strings.Repeat("x", 21)

// validateCases want "field: start of the problem", in order; none is valid.
var validateCases = []struct {
	name string
	spec Spec
	want []string
}{
	{"good", machine(), nil},
	{"zero", Spec{}, []string{
		"name: ", "uuid: ", "cpus: 0", "memory_bytes: 0", "accel: ", "emulator: ", "arch: ", "machine_type: ", "kernel: ", "console_path: ", "ssh_port: 0",
		"tag.run: ", "tag.boot_id: ", "tag.pid: ", "tag.created: ",
	}},
	{"alias machine", machine(func(s *Spec) { s.MachineType = "q35" }), []string{"machine_type: \"q35\": want a versioned"}},
	{"uneven memory", machine(func(s *Spec) { s.MemoryBytes = 1<<30 + 1 }), []string{"memory_bytes: 1073741825 is not a whole"}},
	{"newline in cmdline", machine(func(s *Spec) { s.Cmdline = "quiet\ninit=/bin/sh" }), []string{"cmdline: "}},
	{"binary OEM string", machine(func(s *Spec) { s.OEMStrings = []string{"a", "", "\x00"} }), []string{"oem_strings[1]: is empty", "oem_strings[2]: holds"}},

	// B01: a serial is cut to 20 bytes, two may become one.
	{"serial too long", machine(data(func(d *Disk) { d.Serial = long })), []string{"disks[1].serial: \"" + long + "\" has 21 bytes"}},
	{"serial with space", machine(data(func(d *Disk) { d.Serial = "data 0" })), []string{"disks[1].serial: \"data 0\": want only"}},
	{"serial with slash", machine(data(func(d *Disk) { d.Serial = "data/0" })), []string{"disks[1].serial: "}},
	{"no serial", machine(data(func(d *Disk) { d.Serial = "" })), []string{"disks[1].serial: is empty"}},
	{"serial twice", machine(data(func(d *Disk) { d.Serial = "root" })), []string{"disks[1].serial: \"root\" is also the serial of disks[0]"}},

	{"relative path", machine(data(func(d *Disk) { d.Path = "data.raw" })), []string{"disks[1].path: "}},
	{"newline in path", machine(data(func(d *Disk) { d.Path = "/a\nb" })), []string{"disks[1].path: "}},
	{"unknown words", machine(data(func(d *Disk) {
		d.Kind, d.Format, d.Bus, d.Cache, d.IO, d.Discard, d.DetectZeroes, d.IOThread = "lvm", "vmdk", "usb", "auto", "aio", "trim", "yes", false
	})), []string{
		"disks[1].kind: \"lvm\": want file, block, lun, nvme", "disks[1].format: ", "disks[1].bus: ", "disks[1].cache: \"auto\": want none", "disks[1].io: ", "disks[1].discard: ", "disks[1].detect_zeroes: ",
	}},
	{"native without direct", machine(data(func(d *Disk) { d.Cache = CacheWriteback })), []string{"disks[1].io: native needs cache none or directsync, not \"writeback\""}},
	{"native unsafe", machine(data(func(d *Disk) { d.Cache = CacheUnsafe })), []string{"disks[1].io: native needs"}},
	{"detect without discard", machine(data(func(d *Disk) { d.Discard, d.DetectZeroes = DiscardIgnore, DetectZeroesUnmap })), []string{"disks[1].detect_zeroes: "}},

	// B25: the size is no multiple of the sector.
	{"odd size", machine(data(func(d *Disk) { d.SizeBytes = 123456789 })), []string{"disks[1].size_bytes: 123456789 is not a multiple of the logical block of 512; next is 123457024"}},
	{"512 too much for 4Kn", machine(data(func(d *Disk) { d.SizeBytes, d.LogicalBlock = 1<<30+512, 4096 })), []string{"disks[1].size_bytes: 1073742336 is not a multiple of the logical block of 4096; next is 1073745920"}},
	{"logical block", machine(data(func(d *Disk) { d.LogicalBlock = 520 })), []string{"disks[1].logical_block: 520", "disks[1].size_bytes: "}},
	{"physical below logical", machine(data(func(d *Disk) { d.LogicalBlock, d.PhysicalBlock = 4096, 512 })), []string{"disks[1].physical_block: 512 is less"}},
	{"physical odd", machine(data(func(d *Disk) { d.PhysicalBlock = 3000 })), []string{"disks[1].physical_block: 3000"}},
	{"4Kn SATA", machine(data(func(d *Disk) { d.Bus, d.IOThread, d.LogicalBlock = SATA, false, 4096 })), []string{"disks[1].logical_block: 4096: QEMU's SATA disks"}},

	{"rotation on virtio", machine(data(func(d *Disk) { d.RotationRate = 7200 })), []string{"disks[1].rotation_rate: bus virtio"}},
	{"rotation odd", machine(data(func(d *Disk) { d.Bus, d.RotationRate = SCSI, 600 })), []string{"disks[1].rotation_rate: 600"}},
	{"wwn", machine(data(func(d *Disk) { d.WWN = "0x12" })), []string{"disks[1].wwn: libvirt gives none to bus virtio", "disks[1].wwn: \"0x12\": want 16"}},
	{"queues on sata", machine(data(func(d *Disk) { d.Bus, d.Queues = SATA, 2 })), []string{"disks[1].queues: ", "disks[1].iothread: "}},
	{"read-only sata", machine(data(func(d *Disk) { d.Bus, d.IOThread, d.ReadOnly = SATA, false, true })), []string{"disks[1].read_only: "}},
	{"read-only nvme", machine(data(func(d *Disk) { d.Bus, d.IOThread, d.ReadOnly = NVMe, false, true })), []string{"disks[1].read_only: "}},
	{"nvme block on old libvirt", machine(data(func(d *Disk) { d.Bus, d.IOThread, d.Kind = NVMe, false, Block })), []string{"disks[1].bus: nvme over a block device needs libvirt 11.5.0, this host has 9.0.0"}},
	{"nvme block on new libvirt", machine(func(s *Spec) { s.LibvirtVersion = MakeVersion(12, 0, 0) }, data(func(d *Disk) { d.Bus, d.IOThread, d.Kind = NVMe, false, Block })), nil},
	{"lun", machine(data(func(d *Disk) {
		d.Kind, d.Format, d.PhysicalBlock, d.Limits = LUN, QCOW2, 4096, Limits{TotalIOPS: 1}
	})), []string{"disks[1].bus: a lun needs bus scsi", "disks[1].format: ", "disks[1].kind: a lun shows", "disks[1].limits: a lun bypasses"}},

	{"nvme drive", machine(data(func(d *Disk) { d.Kind, d.PCI, d.Bus, d.IOThread, d.Format = NVMeNamespace, "3:0.0", SATA, false, QCOW2 })), []string{
		"disks[1].pci: \"3:0.0\" is no PCI", "disks[1].namespace: 0", "disks[1].path: a drive", "disks[1].bus: a drive", "disks[1].format: a drive"}},
	{"hostdevs", machine(func(s *Spec) {
		s.Hostdevs = []Hostdev{{Name: "a b", PCI: "0000:01:00.0"}, {Name: "b", PCI: "0000:01:00.0", USBBus: 1}, {Name: "c"}, {Name: "d", PCI: "sdb"}}
	}), []string{"hostdevs[0].name: ", "hostdevs[1].pci: stands beside", "hostdevs[1].pci: 0000:01:00.0 is also hostdevs[0]", "hostdevs[2].pci: neither", "hostdevs[3].pci: \"sdb\" is no"}},

	{"limits", machine(data(func(d *Disk) {
		d.Limits = Limits{TotalBytesPerSecond: 5, ReadBytesPerSecond: 5, BurstWriteBytesPerSecond: 7, TotalIOPS: -1, ReadIOPS: 9, BurstReadIOPS: 3, IOSizeBytes: -4}
	})), []string{
		"disks[1].limits.burst_write_bytes_per_second: needs write_bytes_per_second", "disks[1].limits.total_iops: -1", "disks[1].limits.burst_read_iops: 3 is less",
		"disks[1].limits.total_bytes_per_second: cannot stand beside", "disks[1].limits.io_size_bytes: -4",
	}},
	{"burst length alone", machine(data(func(d *Disk) { d.Limits = Limits{TotalBytesPerSecond: 5, BurstSeconds: 3, IOSizeBytes: 512} })),
		[]string{"disks[1].limits.burst_seconds: needs", "disks[1].limits.io_size_bytes: needs"}},

	// B27: too many disks for the machine.
	{"70 disks", machine(disks(70, plain)), nil},
	{"as many as fit", machine(disks(MaxPCIFunctions, plain)), nil},
	{"one more", machine(disks(MaxPCIFunctions+1, plain)), []string{"disks: 209 disks need 209 PCI functions, a machine has room for 208"}},
	{"many shared scsi", machine(disks(255, func(d *Disk) { d.Bus, d.IOThread = SCSI, false })), nil},
	{"too many shared scsi", machine(disks(256, func(d *Disk) { d.Bus, d.IOThread = SCSI, false })), []string{"disks: 256 disks share one SCSI controller"}},
}

func TestValidate(t *testing.T) {
	for _, c := range validateCases {
		t.Run(c.name, func(t *testing.T) {
			err := c.spec.Validate()
			var faults Faults
			if err != nil && !errors.As(err, &faults) {
				t.Fatalf("error is a %T, want Faults", err)
			}
			if len(faults) != len(c.want) {
				t.Fatalf("%d faults, want %d: %v", len(faults), len(c.want), err)
			}
			for i, want := range c.want {
				got := faults[i].Field + ": " + faults[i].Problem
				if !strings.HasPrefix(got, want) {
					t.Errorf("fault %d is %q, want %q...", i, got, want)
				}
			}
			if _, err := Build(c.spec); (err != nil) != (len(c.want) > 0) {
				t.Errorf("Build's error is %v", err)
			}
		})
	}
}

func TestLetters(t *testing.T) {
	for n, want := range map[uint]string{0: "a", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 69: "br", 701: "zz", 702: "aaa"} {
		if got := letters(n); got != want {
			t.Errorf("letters(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestPlacesAreUnique makes sure that no two devices of a full machine share a
// PCI function, a drive address or a name.
func TestPlacesAreUnique(t *testing.T) {
	s := machine(disks(120, plain))
	for i := range s.Disks {
		onBus([]Bus{Virtio, SCSI, SATA, NVMe}[i%4])(&s.Disks[i])
	}
	p, err := place(s)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	claim := func(key, who string) {
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s both have %s", other, who, key)
		}
		seen[key] = who
	}
	claim("pci 0x1.0", "rng")
	claim("pci 0x10.0", "net")
	for _, c := range p.controllers {
		claim(pciKey(*c.Address.PCI.Slot, *c.Address.PCI.Function), c.Type)
	}
	for i, d := range p.disks {
		claim("dev "+d.dev, s.Disks[i].Serial)
		if d.pci != nil {
			claim(pciKey(*d.pci.Slot, *d.pci.Function), s.Disks[i].Serial)
		}
	}
	targets, err := Targets(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := targets[3]; got != (Target{Serial: "data3", Dev: "nvme0n1", CommandLine: true}) {
		t.Errorf("target of the first NVMe disk is %+v", got)
	}
}
