package blockdev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded makes a fake host of a listing in the form of a real one's sysfs: lines of "path = content" and "path -> target".
func recorded(t *testing.T, name string) *fake {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if file, content, ok := strings.Cut(line, " = "); ok {
			f.file(file, content+"\n")
		} else if file, target, ok := strings.Cut(line, " -> "); ok {
			f.symlink(file, target)
		}
	}
	return f
}

// TestController judges whether a disk's controller may be handed over, on sysfs trees as kernels show them.
func TestController(t *testing.T) {
	for _, c := range []struct {
		tree, disk string
		given      []string
		change     func(*fake)
		want       []string // one for each reason; none: it may
	}{
		{tree: "desktop.sysfs", disk: "nvme0n1"},
		{tree: "desktop.sysfs", disk: "nvme1n1", want: []string{"IOMMU group 14 also holds the network card 0000:04:00.0 (driver r8169)"}},
		{tree: "desktop.sysfs", disk: "nvme1n1", change: func(f *fake) { delete(f.files, "sys/bus/pci/devices/0000:04:00.0/driver") }},
		{tree: "desktop.sysfs", disk: "nvme1n1", change: func(f *fake) { f.symlink("sys/bus/pci/devices/0000:04:00.0/driver", "../../drivers/vfio-pci") }},
		{tree: "desktop.sysfs", disk: "sda", want: []string{"shares its controller or IOMMU group with /dev/sdb (serial SATA-B), which nobody gave up"}},
		{tree: "desktop.sysfs", disk: "sda", given: []string{"SATA-B"}},
		{tree: "desktop.sysfs", disk: "sda", given: []string{"SATA-B"}, change: func(f *fake) { f.mount("1", "8:16", "/", "/dev/sdb") },
			want: []string{"shares its controller or IOMMU group with /dev/sdb, which is refused: holds the root filesystem"}},
		{tree: "cloud.sysfs", disk: "nvme0n1", want: []string{"this host uses no IOMMU (/sys/kernel/iommu_groups is empty); switch on VT-d"}},
	} {
		f := recorded(t, c.tree)
		if c.change != nil {
			c.change(f)
		}
		inv, err := Read(f.host())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range inv.Disks {
			if d.Name != c.disk {
				continue
			}
			if d.Passport.Serial == "" {
				t.Fatalf("%s: %s has no serial in the recording", c.tree, c.disk)
			}
			reasons := inv.Controller(f.host(), d, c.given)
			if len(reasons) != len(c.want) {
				t.Errorf("%s of %s: %v, want %q", c.disk, c.tree, reasons, c.want)
				continue
			}
			for i, want := range c.want {
				if !strings.Contains(reasons[i].Text, want) {
					t.Errorf("%s of %s: %q, want %q", c.disk, c.tree, reasons[i].Text, want)
				}
			}
		}
	}
}

// TestUSBDevice finds bus and number of a USB disk by the way to it.
func TestUSBDevice(t *testing.T) {
	f := recorded(t, "desktop.sysfs")
	inv, err := Read(f.host())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range inv.Disks {
		bus, device, err := f.host().USBDevice(d)
		if d.Name == "sdc" {
			if err != nil || bus != 2 || device != 14 || d.Passport.Transport != "usb" || d.Passport.Serial != "STICK1" {
				t.Errorf("%s is on bus %d, device %d, %v; %+v", d.Name, bus, device, err, d.Passport)
			}
		} else if err == nil {
			t.Errorf("%s, which is %s, is USB device %d of bus %d", d.Name, d.Passport.Transport, device, bus)
		}
	}
	if got := f.host().Driver("0000:04:00.0"); got != "r8169" {
		t.Errorf("driver %q", got)
	}
}
