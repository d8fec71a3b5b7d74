package domain

import (
	"fmt"
	"strings"

	"libvirt.org/go/libvirtxml"
)

// nvmeSince is the first libvirt that knows NVMe disks; both stable Debians
// have an older one.
var nvmeSince = MakeVersion(11, 5, 0)

// onCommandLine tells whether the disk bypasses libvirt. Such a disk is not
// relabelled or chowned by libvirt and not in its block statistics.
func (s Spec) onCommandLine(d Disk) bool {
	return d.Bus == NVMe && s.LibvirtVersion < nvmeSince
}

// commandline holds what libvirt's XML cannot say: user-mode networking with a
// forwarded port, and NVMe disks before libvirt 11.5.
//
// The guest can be reached over SSH on a loopback port and reaches nothing
// itself (restrict=on). The card has no option ROM, which the firmware would
// otherwise load and start.
func (s Spec) commandline(places placement) *libvirtxml.DomainQEMUCommandline {
	args := []string{
		"-netdev", fmt.Sprintf("user,id=ssh0,hostfwd=tcp:127.0.0.1:%d-:22,restrict=on", s.SSHPort),
		"-device", fmt.Sprintf("virtio-net-pci,netdev=ssh0,bus=pcie.0,addr=%#x,romfile=", netSlot),
	}
	for i, d := range s.Disks {
		if s.onCommandLine(d) {
			args = append(args, d.nvmeArgs(places.disks[i])...)
		}
	}
	list := &libvirtxml.DomainQEMUCommandline{}
	for _, arg := range args {
		list.Args = append(list.Args, libvirtxml.DomainQEMUCommandlineArg{Value: arg})
	}
	return list
}

// nvmeArgs writes one NVMe controller with its disk as QEMU arguments.
func (d Disk) nvmeArgs(at placed) []string {
	// The drive's id may not start with libvirt's or a user's alias prefix.
	id := "nvme-" + d.Serial
	drive := []string{
		"if=none", "id=" + id, "file=" + doubleCommas(d.Path), "format=" + string(d.Format),
		"cache=" + string(d.Cache), "aio=" + string(d.IO), "discard=" + string(d.Discard),
		"detect-zeroes=" + string(d.DetectZeroes), "werror=enospc",
	}
	drive = append(drive, d.Limits.throttling()...)
	device := []string{
		"nvme", "id=" + aliasOf(d.Serial), "drive=" + id, "serial=" + d.Serial,
		"bus=pcie.0", fmt.Sprintf("addr=%x.%x", *at.pci.Slot, *at.pci.Function),
	}
	if at.pci.MultiFunction == "on" {
		device = append(device, "multifunction=on")
	}
	if d.LogicalBlock > 0 {
		device = append(device, fmt.Sprintf("logical_block_size=%d", d.LogicalBlock))
	}
	if n := d.physicalBlock(); n > 0 {
		device = append(device, fmt.Sprintf("physical_block_size=%d", n))
	}
	return []string{"-drive", strings.Join(drive, ","), "-device", strings.Join(device, ",")}
}

// throttling writes the limits as -drive options.
func (l Limits) throttling() []string {
	var options []string
	for _, r := range l.rates() {
		if r.limit > 0 {
			options = append(options, fmt.Sprintf("throttling.%s=%d", r.qemu, r.limit))
		}
		if r.burst > 0 {
			options = append(options, fmt.Sprintf("throttling.%s-max=%d", r.qemu, r.burst))
		}
		if n := l.seconds(r.burst); n > 0 {
			options = append(options, fmt.Sprintf("throttling.%s-max-length=%d", r.qemu, n))
		}
	}
	if l.IOSizeBytes > 0 {
		options = append(options, fmt.Sprintf("throttling.iops-size=%d", l.IOSizeBytes))
	}
	return options
}

// doubleCommas escapes the one character that ends a value in QEMU's option
// lists.
func doubleCommas(text string) string { return strings.ReplaceAll(text, ",", ",,") }
