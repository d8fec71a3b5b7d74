package domain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"libvirt.org/go/libvirtxml"
)

// NVMeNamespace is the kind of a disk whose drive QEMU itself drives, with all its block-layer options. The drive must
// be on vfio-pci before the machine starts.
const NVMeNamespace Kind = "nvme"

// PCIAddress is the address of a function of the host, for example 0000:03:00.0.
type PCIAddress string

var pciOK = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// Hostdev is a device of the host that the machine gets whole: a PCI function, or a USB device by bus and number. All are
// managed='no': libvirt would take the device from its driver without asking whether it is in use.
type Hostdev struct {
	Name      string // becomes its alias
	PCI       PCIAddress
	USBBus    uint // of a USB device, with USBDevice
	USBDevice uint
}

// usb tells a USB device from a PCI function.
func (d Hostdev) usb() bool { return d.PCI == "" }

func (s Spec) validateHostdevs(f *Faults) {
	seen := map[PCIAddress]int{}
	for i, d := range s.Hostdevs {
		field := fmt.Sprintf("hostdevs[%d].", i)
		f.addIf(!serialOK.MatchString(d.Name), field+"name", "%q: want only A-Za-z0-9_-", d.Name)
		if d.usb() {
			f.addIf(d.USBBus == 0 || d.USBDevice == 0, field+"pci", "neither a PCI address nor a USB bus and device is given")
			continue
		}
		f.addIf(!pciOK.MatchString(string(d.PCI)), field+"pci", "%q is no PCI address such as 0000:03:00.0", string(d.PCI))
		f.addIf(d.USBBus != 0 || d.USBDevice != 0, field+"pci", "stands beside a USB device; give one of the two")
		if first, twice := seen[d.PCI]; twice {
			f.add(field+"pci", "%s is also hostdevs[%d]", d.PCI, first)
		}
		seen[d.PCI] = i
	}
}

// nvmeFaults are what is wrong with a disk of kind NVMeNamespace.
func (d Disk) nvmeFaults(f *Faults) {
	f.addIf(!pciOK.MatchString(string(d.PCI)), "pci", "%q is no PCI address such as 0000:03:00.0", string(d.PCI))
	f.addIf(d.Namespace < 1, "namespace", "%d: want at least 1", d.Namespace)
	f.addIf(d.Path != "", "path", "a drive that QEMU drives has no node; leave it out")
	f.addIf(d.Bus != Virtio && d.Bus != SCSI, "bus", "a drive that QEMU drives goes on bus virtio or scsi, not %s", d.Bus)
	f.addIf(d.Format != Raw, "format", "a drive that QEMU drives is raw, not %s", d.Format)
}

func (d Disk) nvmeSource() *libvirtxml.DomainDiskSource {
	return &libvirtxml.DomainDiskSource{NVME: &libvirtxml.DomainDiskSourceNVME{PCI: &libvirtxml.DomainDiskSourceNVMEPCI{
		Managed: "no", Namespace: uint64(d.Namespace), Address: d.PCI.xml(),
	}}}
}

// xml takes an address apart; it has been validated.
func (a PCIAddress) xml() *libvirtxml.DomainAddressPCI {
	parts := strings.FieldsFunc(string(a), func(r rune) bool { return r == ':' || r == '.' })
	var n [4]*uint
	for i, part := range parts {
		v, err := strconv.ParseUint(part, 16, 32)
		if err != nil {
			panic(err) // pciOK let only hexadecimal digits pass
		}
		n[i] = ptr(uint(v))
	}
	return &libvirtxml.DomainAddressPCI{Domain: n[0], Bus: n[1], Slot: n[2], Function: n[3]}
}

// placeHostdevs gives PCI functions a place, and USB devices a controller to hang on.
func (p *placer) placeHostdevs() {
	for _, d := range p.spec.Hostdevs {
		var at *libvirtxml.DomainAddress
		if !d.usb() {
			at = &libvirtxml.DomainAddress{PCI: p.function()}
		} else if !p.out.usb {
			p.out.usb = true
			p.controller(libvirtxml.DomainController{Type: "usb", Index: ptr(uint(0)), Model: "qemu-xhci"}, p.function())
		}
		p.out.hostdevs = append(p.out.hostdevs, at)
	}
}

// hostdevs writes the devices at their places.
func (s Spec) hostdevs(places placement) []libvirtxml.DomainHostdev {
	var out []libvirtxml.DomainHostdev
	for i, d := range s.Hostdevs {
		h := libvirtxml.DomainHostdev{Managed: "no", Alias: &libvirtxml.DomainAlias{Name: aliasOf(d.Name)}, Address: places.hostdevs[i]}
		if d.usb() {
			h.SubsysUSB = &libvirtxml.DomainHostdevSubsysUSB{Source: &libvirtxml.DomainHostdevSubsysUSBSource{
				// A stick that was pulled out ends the start, instead of a machine without its disk.
				StartUpPolicy: "mandatory",
				Address:       &libvirtxml.DomainAddressUSB{Bus: &d.USBBus, Device: &d.USBDevice},
			}}
		} else {
			h.SubsysPCI = &libvirtxml.DomainHostdevSubsysPCI{
				Driver: &libvirtxml.DomainHostdevSubsysPCIDriver{Name: "vfio"},
				Source: &libvirtxml.DomainHostdevSubsysPCISource{Address: d.PCI.xml()},
			}
		}
		out = append(out, h)
	}
	return out
}
