package blockdev

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Codes of reasons against handing over a controller.
const (
	NoIOMMU     = "no_iommu"     // the host cannot keep a device's memory accesses apart
	SharedGroup = "shared_group" // other devices cannot be told from this one by the IOMMU
	Siblings    = "siblings"     // the controller carries other disks too
)

// pciClasses are what devices are, in words, by the beginning of their class.
var pciClasses = []struct{ class, words string }{
	{"0x0108", "NVMe drive"}, {"0x0106", "SATA controller"}, {"0x01", "storage controller"}, {"0x02", "network card"}, {"0x03", "graphics card"},
	{"0x04", "sound card"}, {"0x0c03", "USB controller"}, {"0x0c05", "SMBus controller"}, {"0x0604", "PCI bridge"}, {"0x06", "bridge"}, {"0x0b", "processor"},
}

func pciWords(class string) string {
	for _, c := range pciClasses {
		if strings.HasPrefix(class, c.class) {
			return c.words
		}
	}
	return "device"
}

// Controller says everything against handing the controller of a disk to a machine, beside what speaks against the disk
// itself. given are the serials that were given up, or hashes of them: a controller is handed over with all that hangs on it.
func (inv Inventory) Controller(h Host, d Disk, given []string) []Reason {
	t, address := tree{h.FS}, d.Passport.PCIAddress
	if address == "" {
		return []Reason{{NoIdentity, "hangs on no PCI controller"}}
	}
	if len(t.names("sys/kernel/iommu_groups")) == 0 {
		return []Reason{{NoIOMMU, "cannot be handed over as PCI device: this host uses no IOMMU (/sys/kernel/iommu_groups is empty); switch on VT-d or AMD-Vi in its firmware and boot with intel_iommu=on, or use attach: block"}}
	}
	group := path.Base(t.link("sys/bus/pci/devices/" + address + "/iommu_group"))
	if _, err := strconv.Atoi(group); err != nil {
		return []Reason{{NoIOMMU, fmt.Sprintf("cannot be handed over as PCI device: %s is in no IOMMU group; use attach: block", address)}}
	}
	var reasons []Reason
	members := t.names("sys/kernel/iommu_groups/" + group + "/devices")
	for _, other := range members {
		if other != address {
			reasons = append(reasons, t.companion(group, other)...)
		}
	}
	for _, sibling := range inv.Disks {
		on := sibling.Passport.PCIAddress
		if sibling.Passport.Serial == d.Passport.Serial || on != address && !slices.Contains(members, on) {
			continue
		}
		switch {
		case !sibling.Free():
			reasons = append(reasons, Reason{Siblings, fmt.Sprintf("shares its controller or IOMMU group with %s, which is %s", sibling.Node, sibling.Verdict())})
		case !slices.ContainsFunc(given, func(word string) bool { return named(sibling.Passport, word) }):
			reasons = append(reasons, Reason{Siblings, fmt.Sprintf("shares its controller or IOMMU group with %s (serial %s), which nobody gave up", sibling.Node, orUnknown(sibling.Passport.Serial))})
		}
	}
	return reasons
}

// companion says what is against another device of the group: it must be a bridge, or in no driver's hands.
func (t tree) companion(group, address string) []Reason {
	dir := "sys/bus/pci/devices/" + address
	class, driver := t.text(dir+"/class"), path.Base(t.link(dir+"/driver"))
	if strings.HasPrefix(class, "0x06") || driver == "." || driver == "vfio-pci" || driver == "pci-stub" {
		return nil
	}
	return []Reason{{SharedGroup, fmt.Sprintf("cannot be handed over as PCI device: IOMMU group %s also holds the %s %s (driver %s)", group, pciWords(class), address, driver)}}
}

// orUnknown is a text or the word for none.
func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// Driver is the host driver that a PCI function is bound to, "" for none.
func (h Host) Driver(address string) string {
	driver := path.Base(tree{h.FS}.link("sys/bus/pci/devices/" + address + "/driver"))
	if driver == "." {
		return ""
	}
	return driver
}

// USBDevice is bus and number of the USB device that a disk hangs on.
func (h Host) USBDevice(d Disk) (bus, device uint, err error) {
	t := tree{h.FS}
	at := path.Join("sys/block", t.link("sys/block/"+d.Name))
	for ; at != "sys" && at != "." && at != "/"; at = path.Dir(at) {
		b, errB := strconv.ParseUint(t.text(at+"/busnum"), 10, 32)
		n, errN := strconv.ParseUint(t.text(at+"/devnum"), 10, 32)
		if errB == nil && errN == nil {
			return uint(b), uint(n), nil
		}
	}
	return 0, 0, fmt.Errorf("disk %s: %s hangs on no USB device", d.Passport.Serial, d.Node)
}
