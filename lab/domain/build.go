package domain

import (
	"fmt"

	"libvirt.org/go/libvirtxml"
)

// Build writes the machine as libvirt domain XML. The same Spec gives the same
// bytes. The error is a Faults when the Spec is not valid.
func Build(s Spec) (string, error) {
	if err := s.Validate(); err != nil {
		return "", err
	}
	places, err := place(s)
	if err != nil {
		return "", err
	}
	metadata, err := s.Tag.metadata()
	if err != nil {
		return "", fmt.Errorf("write the tag of %s: %w", s.Name, err)
	}
	d := libvirtxml.Domain{
		Type: s.virtType(), Name: s.Name, UUID: s.UUID,
		Metadata: &libvirtxml.DomainMetadata{XML: metadata},
		Memory:   &libvirtxml.DomainMemory{Value: uint(s.MemoryBytes >> 10), Unit: "KiB"},
		// Pages merged with those of another machine would be faulted in again
		// in the middle of a measurement.
		MemoryBacking:   &libvirtxml.DomainMemoryBacking{MemoryNosharepages: &libvirtxml.DomainMemoryNosharepages{}},
		VCPU:            &libvirtxml.DomainVCPU{Placement: "static", Value: uint(s.CPUs)},
		IOThreads:       places.iothreads,
		OS:              s.os(),
		SysInfo:         s.sysinfo(),
		Features:        s.features(),
		CPU:             &libvirtxml.DomainCPU{Mode: "maximum", Check: "none"},
		Clock:           s.clock(),
		OnPoweroff:      "destroy",
		OnReboot:        "destroy",
		OnCrash:         "destroy",
		Devices:         s.devices(places),
		QEMUCommandline: s.commandline(places),
	}
	text, err := d.Marshal()
	if err != nil {
		return "", fmt.Errorf("write the domain XML of %s: %w", s.Name, err)
	}
	return text, nil
}

// virtType is libvirt's word for the accelerator.
func (s Spec) virtType() string {
	if s.Accel == KVM {
		return "kvm"
	}
	return "qemu"
}

func (s Spec) os() *libvirtxml.DomainOS {
	os := &libvirtxml.DomainOS{
		Type:   &libvirtxml.DomainOSType{Arch: s.Arch, Machine: s.MachineType, Type: "hvm"},
		Kernel: s.Kernel, Initrd: s.Initramfs, Cmdline: s.Cmdline,
	}
	if len(s.OEMStrings) > 0 {
		os.SMBios = &libvirtxml.DomainSMBios{Mode: "sysinfo"}
	}
	return os
}

// sysinfo hands the OEM strings to the guest's firmware tables, where they are
// readable by root alone and never appear in a process list of the guest.
func (s Spec) sysinfo() []libvirtxml.DomainSysInfo {
	if len(s.OEMStrings) == 0 {
		return nil
	}
	return []libvirtxml.DomainSysInfo{{SMBIOS: &libvirtxml.DomainSysInfoSMBIOS{
		OEMStrings: &libvirtxml.DomainSysInfoOEMStrings{Entry: s.OEMStrings},
	}}}
}

// features are those of a PC; on aarch64 libvirt ties ACPI to UEFI, and direct
// kernel boot works from the device tree.
func (s Spec) features() *libvirtxml.DomainFeatureList {
	if s.Arch != "x86_64" {
		return nil
	}
	return &libvirtxml.DomainFeatureList{
		ACPI:   &libvirtxml.DomainFeature{},
		APIC:   &libvirtxml.DomainFeatureAPIC{},
		VMPort: &libvirtxml.DomainFeatureState{State: "off"},
	}
}

func (s Spec) clock() *libvirtxml.DomainClock {
	clock := &libvirtxml.DomainClock{Offset: "utc"}
	if s.Arch != "x86_64" {
		return clock
	}
	clock.Timer = append(clock.Timer, libvirtxml.DomainTimer{Name: "hpet", Present: "no"})
	if s.Accel == KVM {
		clock.Timer = append(clock.Timer, libvirtxml.DomainTimer{Name: "kvmclock", Present: "yes"})
	}
	return clock
}

// devices holds no more than a headless test machine needs: each device costs
// the firmware and the kernel time to find.
func (s Spec) devices(places placement) *libvirtxml.DomainDeviceList {
	list := &libvirtxml.DomainDeviceList{
		Emulator:    s.Emulator,
		Controllers: places.controllers,
		Hostdevs:    s.hostdevs(places),
		MemBalloon:  &libvirtxml.DomainMemBalloon{Model: "none"},
		RNGs: []libvirtxml.DomainRNG{{
			Model:   "virtio",
			Backend: &libvirtxml.DomainRNGBackend{Random: &libvirtxml.DomainRNGBackendRandom{Device: "/dev/urandom"}},
			Address: &libvirtxml.DomainAddress{PCI: pciAddress(rngSlot, 0)},
		}},
	}
	if !places.usb {
		none := libvirtxml.DomainController{Type: "usb", Index: ptr(uint(0)), Model: "none"}
		list.Controllers = append([]libvirtxml.DomainController{none}, places.controllers...)
	}
	for i, d := range s.Disks {
		if s.onCommandLine(d) {
			continue
		}
		list.Disks = append(list.Disks, d.xml(places.disks[i]))
	}
	source := &libvirtxml.DomainChardevSource{File: &libvirtxml.DomainChardevSourceFile{Path: s.ConsolePath, Append: "on"}}
	list.Serials = []libvirtxml.DomainSerial{{Source: source, Target: s.serialTarget()}}
	list.Consoles = []libvirtxml.DomainConsole{{Source: source, Target: &libvirtxml.DomainConsoleTarget{Type: "serial", Port: ptr(uint(0))}}}
	return list
}

func (s Spec) serialTarget() *libvirtxml.DomainSerialTarget {
	target := &libvirtxml.DomainSerialTarget{Port: ptr(uint(0))}
	if s.Arch == "x86_64" {
		target.Type = "isa-serial"
	} else {
		target.Type = "system-serial"
	}
	return target
}
