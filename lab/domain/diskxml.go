package domain

import "libvirt.org/go/libvirtxml"

// xml writes the disk as a libvirt <disk> at its place.
func (d Disk) xml(at placed) libvirtxml.DomainDisk {
	out := libvirtxml.DomainDisk{
		Device: "disk",
		Driver: d.driver(at),
		Source: d.source(),
		// An empty backing store ends the chain: QEMU opens this image and no
		// other, whatever its header may say.
		BackingStore: &libvirtxml.DomainDiskBackingStore{},
		BlockIO:      d.blockIO(),
		Target:       &libvirtxml.DomainDiskTarget{Dev: at.dev, Bus: string(d.Bus), RotationRate: uint(d.RotationRate)},
		IOTune:       d.Limits.xml(),
		Serial:       d.Serial,
		WWN:          d.WWN,
		Alias:        &libvirtxml.DomainAlias{Name: aliasOf(d.Serial)},
		Address:      at.address,
	}
	if d.ReadOnly {
		out.ReadOnly = &libvirtxml.DomainDiskReadOnly{}
	}
	if d.Kind == LUN {
		out.Device = "lun"
		out.Serial = "" // the device answers with its own
	}
	return out
}

// aliasOf is the stable name of a disk in events, statistics and QMP.
func aliasOf(serial string) string { return "ua-" + serial }

func (d Disk) driver(at placed) *libvirtxml.DomainDiskDriver {
	driver := &libvirtxml.DomainDiskDriver{
		Name: "qemu", Type: string(d.Format), Cache: string(d.Cache), IO: string(d.IO),
		// A full host file system stops the machine, which we see and report,
		// instead of giving the database an error it did not earn.
		ErrorPolicy: "enospace",
		Discard:     string(d.Discard), DetectZeros: string(d.DetectZeroes),
	}
	if d.Bus != Virtio {
		return driver // queues and thread belong to the controller
	}
	if d.Queues > 0 {
		driver.Queues = ptr(uint(d.Queues))
	}
	if at.iothread > 0 {
		driver.IOThread = &at.iothread
	}
	return driver
}

func (d Disk) source() *libvirtxml.DomainDiskSource {
	var labels []libvirtxml.DomainDeviceSecLabel
	if d.KeepOwner {
		labels = []libvirtxml.DomainDeviceSecLabel{{Model: "dac", Relabel: "no"}}
	}
	if d.Kind == NVMeNamespace {
		return d.nvmeSource()
	}
	if d.Kind == File {
		return &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: d.Path, SecLabel: labels}}
	}
	return &libvirtxml.DomainDiskSource{Block: &libvirtxml.DomainDiskSourceBlock{Dev: d.Path, SecLabel: labels}}
}

func (d Disk) blockIO() *libvirtxml.DomainDiskBlockIO {
	if d.LogicalBlock == 0 && d.PhysicalBlock == 0 {
		return nil
	}
	return &libvirtxml.DomainDiskBlockIO{
		LogicalBlockSize: uint(d.LogicalBlock), PhysicalBlockSize: uint(d.physicalBlock()),
	}
}

// physicalBlock follows the logical size where it is not given: QEMU's default
// of 512 would be less than that, which it refuses.
func (d Disk) physicalBlock() int { return max(d.PhysicalBlock, d.LogicalBlock) }
