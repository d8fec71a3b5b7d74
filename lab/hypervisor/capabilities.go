package hypervisor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/digitalocean/go-libvirt"
	"libvirt.org/go/libvirtxml"
)

// readCaps fills in what the host's architecture offers its guests.
func (h *Host) readCaps(info *Info, caps libvirtxml.Caps) error {
	if caps.Host.CPU == nil {
		return fmt.Errorf("the capabilities name no architecture")
	}
	info.Arch = caps.Host.CPU.Arch
	if _, known := machineAlias[info.Arch]; !known {
		return fmt.Errorf("hosts of architecture %s are not supported; want x86_64 or aarch64", info.Arch)
	}
	for _, guest := range caps.Guests {
		if guest.OSType != "hvm" || guest.Arch.Name != info.Arch {
			continue
		}
		info.Emulator = guest.Arch.Emulator
		for _, d := range guest.Arch.Domains {
			info.KVM = info.KVM || d.Type == "kvm"
			info.TCG = info.TCG || d.Type == "qemu"
		}
	}
	if info.Emulator == "" {
		return fmt.Errorf("QEMU for %s is not installed; install qemu-system-x86 or qemu-system-arm", info.Arch)
	}
	if !info.KVM {
		info.KVMReason = kvmReason("/dev/kvm")
	}
	info.QEMUUID, info.QEMUGID = h.env.uid, os.Getegid()
	for _, model := range caps.Host.SecModel {
		info.DAC = info.DAC || model.Name == "dac"
		for _, label := range model.Labels {
			if model.Name == "dac" && label.Type == "kvm" {
				// "+64055:+109"; anything else keeps the caller's ids.
				if _, err := fmt.Sscanf(label.Value, "+%d:+%d", &info.QEMUUID, &info.QEMUGID); err != nil {
					return fmt.Errorf("read QEMU's user from label %q: %w", label.Value, err)
				}
			}
		}
	}
	return nil
}

// kvmReason says why libvirt does not offer KVM.
func kvmReason(device string) string {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err == nil {
		f.Close()
		return device + " is there, but libvirt does not offer KVM; restart its daemon"
	}
	if os.IsPermission(err) {
		return "no permission for " + device + "; join the group kvm and log in again"
	}
	if os.IsNotExist(err) {
		return device + " is missing; the processor or the outer hypervisor offers no virtualisation, or the kvm module is not loaded"
	}
	return err.Error()
}

// askDomainCaps fills in what a machine of our kind can have.
func (h *Host) askDomainCaps(ctx context.Context, info *Info) error {
	virt := "qemu"
	if info.KVM {
		virt = "kvm"
	}
	some := func(s string) libvirt.OptString { return libvirt.OptString{s} }
	text, err := ask(ctx, h, "ConnectGetDomainCapabilities", queryLimit, func(lv *libvirt.Libvirt) (string, error) {
		return lv.ConnectGetDomainCapabilities(some(info.Emulator), some(info.Arch), some(machineAlias[info.Arch]), some(virt), 0)
	})
	if err != nil {
		return err
	}
	var caps libvirtxml.DomainCaps
	if err := caps.Unmarshal(text); err != nil {
		return fmt.Errorf("read the domain capabilities: %w", err)
	}
	info.MachineType = caps.Machine
	if caps.VCPU != nil {
		info.MaxVCPUs = int(caps.VCPU.Max)
	}
	if caps.Devices != nil && caps.Devices.Disk != nil {
		for _, enum := range caps.Devices.Disk.Enums {
			if enum.Name == "bus" {
				info.DiskBuses = enum.Values
			}
		}
	}
	modes := []string{}
	if caps.CPU != nil {
		for _, mode := range caps.CPU.Modes {
			if mode.Supported == "yes" {
				modes = append(modes, mode.Name)
			}
		}
	}
	if !slices.Contains(modes, "maximum") {
		return fmt.Errorf("libvirt %s cannot give a guest the maximum CPU (it has %s); want libvirt 7.1 or later", info.LibvirtVersion, strings.Join(modes, ", "))
	}
	return nil
}
