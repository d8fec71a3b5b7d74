package domain

import (
	"fmt"
	"strings"

	"libvirt.org/go/libvirtxml"
)

// Every device gets a PCI address of our own choosing, on the root complex and
// without root ports: the address of a disk does not depend on the libvirt
// version, the network card on QEMU's command line cannot collide with what
// libvirt assigns, and the firmware has no bridges to scan.
//
// Note: a root port for each device, libvirt's habit, allows hotplug, which a
// disposable machine never needs; each port costs the guest a bus to enumerate.
const (
	rngSlot = 0x01
	netSlot = 0x10

	functionsPerSlot = 8
	sataPortsInQ35   = 6 // of the chipset's own controller, index 0
	sataPortsPerAHCI = 6
)

// slots may carry disks and their controllers. Slot 0 is the host bridge, 0x1f
// the chipset's LPC bridge and SATA, 0x1d and 0x1e stay free for what libvirt
// adds of its own accord.
var slots = func() []uint {
	var s []uint
	for n := uint(0x02); n <= 0x1c; n++ {
		if n != netSlot {
			s = append(s, n)
		}
	}
	return s
}()

// MaxPCIFunctions is how many virtio and NVMe disks and disk controllers one
// machine can have together.
var MaxPCIFunctions = len(slots) * functionsPerSlot

// maxSharedSCSI is the number of targets behind one virtio-scsi controller.
const maxSharedSCSI = 255

// placement says where each disk of a Spec goes.
type placement struct {
	disks       []placed // in the order of Spec.Disks
	controllers []libvirtxml.DomainController
	hostdevs    []*libvirtxml.DomainAddress // in the order of Spec.Hostdevs
	usb         bool                        // there is a USB controller
	iothreads   uint
}

// placed is the place of one disk.
type placed struct {
	dev      string // target name; only a hint for the guest, but a name for libvirt
	address  *libvirtxml.DomainAddress
	iothread uint // 0 for none
	pci      *libvirtxml.DomainAddressPCI
}

// placer hands out PCI functions, controllers and target names.
type placer struct {
	spec      Spec
	multi     bool
	functions int
	out       placement
	scsi      uint            // next virtio-scsi index
	shared    *uint           // index of the virtio-scsi controller without own threads
	sharedIDs uint            // targets used behind it
	sata      uint            // SATA ports used
	nvme      uint            // next NVMe index
	letters   map[string]uint // next letter of each target prefix
}

// place is run twice: the first pass only counts, since a slot has to say that
// it is multifunction before its second function is known.
func place(s Spec) (placement, error) {
	count := placer{spec: s, letters: map[string]uint{}}
	if err := count.run(); err != nil {
		return placement{}, err
	}
	if count.functions > MaxPCIFunctions {
		return placement{}, fmt.Errorf("%d disks need %d PCI functions, a machine has room for %d; put the rest on bus scsi without queues and iothread, which shares one controller",
			len(s.Disks), count.functions, MaxPCIFunctions)
	}
	p := placer{spec: s, multi: count.functions > len(slots), letters: map[string]uint{}}
	err := p.run()
	return p.out, err
}

func (p *placer) run() error {
	for _, d := range p.spec.Disks {
		var at placed
		switch d.Bus {
		case SCSI:
			at = p.placeSCSI(d)
		case SATA:
			at = p.placeSATA()
		case NVMe:
			at = p.placeNVMe(d)
		default:
			at = placed{dev: p.letter("vd"), iothread: p.iothread(d), pci: p.function()}
			at.address = &libvirtxml.DomainAddress{PCI: at.pci}
		}
		p.out.disks = append(p.out.disks, at)
	}
	p.placeHostdevs()
	if p.sharedIDs > maxSharedSCSI {
		return fmt.Errorf("%d disks share one SCSI controller, which has %d targets", p.sharedIDs, maxSharedSCSI)
	}
	return nil
}

// placeSCSI gives a disk with queues or a thread a controller of its own, since
// both belong to the controller; all others share one.
func (p *placer) placeSCSI(d Disk) placed {
	if d.Queues == 0 && !d.IOThread {
		if p.shared == nil {
			p.shared = ptr(p.scsiController(nil))
		}
		target := p.sharedIDs
		p.sharedIDs++
		return placed{dev: p.letter("sd"), address: drive(*p.shared, target, 0)}
	}
	driver := &libvirtxml.DomainControllerDriver{IOThread: p.iothread(d)}
	if d.Queues > 0 {
		driver.Queues = ptr(uint(d.Queues))
	}
	return placed{dev: p.letter("sd"), address: drive(p.scsiController(driver), 0, 0)}
}

func (p *placer) scsiController(driver *libvirtxml.DomainControllerDriver) uint {
	index := p.scsi
	p.scsi++
	p.controller(libvirtxml.DomainController{Type: "scsi", Index: &index, Model: "virtio-scsi", Driver: driver}, p.function())
	return index
}

func (p *placer) placeSATA() placed {
	port := p.sata
	p.sata++
	index, unit := port/sataPortsPerAHCI, port%sataPortsPerAHCI
	// Index 0 of q35 is part of the chipset; any other controller is a card.
	chipset := index == 0 && p.spec.Arch == "x86_64"
	if unit == 0 && !chipset {
		p.controller(libvirtxml.DomainController{Type: "sata", Index: &index}, p.function())
	}
	return placed{dev: p.letter("sd"), address: drive(index, 0, unit)}
}

// placeNVMe gives each disk its own controller: namespaces of one controller
// would share its serial, which is said at both places.
func (p *placer) placeNVMe(d Disk) placed {
	index := p.nvme
	p.nvme++
	at := placed{dev: fmt.Sprintf("nvme%dn1", index), pci: p.function()}
	if p.spec.LibvirtVersion >= nvmeSince {
		p.controller(libvirtxml.DomainController{
			Type: "nvme", Index: &index, NVME: &libvirtxml.DomainControllerNVME{Serial: d.Serial},
		}, at.pci)
	}
	return at
}

func (p *placer) controller(c libvirtxml.DomainController, at *libvirtxml.DomainAddressPCI) {
	c.Address = &libvirtxml.DomainAddress{PCI: at}
	p.out.controllers = append(p.out.controllers, c)
}

// function hands out function 0 of every slot first, then function 1, so that
// up to len(slots) devices each have a slot and its interrupt for themselves.
func (p *placer) function() *libvirtxml.DomainAddressPCI {
	n := p.functions
	p.functions++
	address := pciAddress(slots[n%len(slots)], uint(n/len(slots)))
	if p.multi && n < len(slots) {
		address.MultiFunction = "on"
	}
	return address
}

func (p *placer) iothread(d Disk) uint {
	if !d.IOThread {
		return 0
	}
	p.out.iothreads++
	return p.out.iothreads
}

func (p *placer) letter(prefix string) string {
	n := p.letters[prefix]
	p.letters[prefix] = n + 1
	return prefix + letters(n)
}

// letters counts as the kernel does: a to z, aa to az, ba and so on.
func letters(n uint) string {
	var b strings.Builder
	if n >= 26 {
		b.WriteString(letters(n/26 - 1))
	}
	b.WriteByte(byte('a' + n%26))
	return b.String()
}

func pciAddress(slot, function uint) *libvirtxml.DomainAddressPCI {
	return &libvirtxml.DomainAddressPCI{Domain: ptr(uint(0)), Bus: ptr(uint(0)), Slot: &slot, Function: &function}
}

func drive(controller, target, unit uint) *libvirtxml.DomainAddress {
	return &libvirtxml.DomainAddress{Drive: &libvirtxml.DomainAddressDrive{
		Controller: &controller, Bus: ptr(uint(0)), Target: &target, Unit: &unit,
	}}
}

func ptr[T any](v T) *T { return &v }
