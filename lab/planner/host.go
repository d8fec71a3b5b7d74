package planner

import (
	"errors"
	"fmt"
	"slices"

	"platter/lab"
)

// Host is what a plan must know of the host, as plain values. Zero fields are unknown and refuse nothing.
type Host struct {
	Arch           string // as libvirt names it: x86_64, aarch64
	KVM            bool
	KVMReason      string // why KVM cannot be used
	CPUs           int    // online
	MaxVCPUs       int    // most a machine may have
	MemoryBytes    int64  // available now
	StorageDir     string // where volumes are made
	FreeBytes      int64  // free there
	DiskBuses      []string
	DirectIO       *bool // whether StorageDir can do O_DIRECT; nil when not probed
	DirectIOReason string
}

// reserveBytes stay free in the storage directory: staged images, consoles and the host itself need room.
const reserveBytes = 1 << 30

// overheadBytes is what QEMU takes on top of a machine's memory.
const overheadBytes = 256 << 20

// Arches are the architectures there are guest binaries and images for.
var Arches = []string{"x86_64", "aarch64"}

// Check returns all reasons why the plan cannot run on the host, as an InputError, or nil.
func Check(p lab.Plan, h Host) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if h.Arch != "" && !slices.Contains(Arches, h.Arch) {
		refuse("host: no images are built for %s, only for x86_64 and aarch64", h.Arch)
	}
	if p.MemoryBytes+overheadBytes > h.MemoryBytes && h.MemoryBytes > 0 {
		refuse("host memory: a machine takes %s, %s is available; give less with --set machine.memory=...",
			lab.FormatSize(p.MemoryBytes+overheadBytes), mebibytes(h.MemoryBytes))
	}
	if need := p.DiskBytes + reserveBytes; need > h.FreeBytes && h.FreeBytes > 0 {
		refuse("host disk: a trial takes %s in %s and 1GiB must stay free, %s is free; use smaller disks or another --storage-dir",
			lab.FormatSize(p.DiskBytes), h.StorageDir, mebibytes(h.FreeBytes))
	}
	errs = append(errs, checkMachines(p, h)...)
	if len(errs) == 0 {
		return nil
	}
	return &lab.InputError{Err: errors.Join(errs...)}
}

// checkMachines looks at what trials ask of the hypervisor; each reason is given once.
func checkMachines(p lab.Plan, h Host) (errs []error) {
	said := map[string]bool{}
	refuse := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !said[text] {
			said[text] = true
			errs = append(errs, errors.New(text))
		}
	}
	for _, t := range p.Trials {
		if t.Machine.Accel == "kvm" && !h.KVM {
			refuse("machine.accel: kvm cannot be used here (%s); say auto or tcg for software emulation", h.KVMReason)
		}
		if h.MaxVCPUs > 0 && t.Machine.CPUs > h.MaxVCPUs {
			refuse("machine.cpus: %d, the hypervisor gives a machine at most %d", t.Machine.CPUs, h.MaxVCPUs)
		}
		for _, d := range t.Disks {
			if len(h.DiskBuses) > 0 && !slices.Contains(h.DiskBuses, d.Bus) {
				refuse("disks.%s.bus: this libvirt has no %s", d.Name, d.Bus)
			}
			if (d.Cache == "none" || d.Cache == "directsync") && h.DirectIO != nil && !*h.DirectIO {
				refuse("disks.%s.cache: %s needs O_DIRECT, which %s cannot do (%s); use another --storage-dir, or cache: auto",
					d.Name, d.Cache, h.StorageDir, h.DirectIOReason)
			}
		}
	}
	return errs
}

// Accel is the accelerator the plan's machines get on the host.
func Accel(p lab.Plan, h Host) string {
	if len(p.Trials) > 0 && p.Trials[0].Machine.Accel != "auto" {
		return p.Trials[0].Machine.Accel
	}
	if h.KVM {
		return "kvm"
	}
	return "tcg"
}

// Notes are what a reader of the plan should know about running it on this host.
func Notes(p lab.Plan, h Host) (notes []string) {
	if h.Arch != "" && Accel(p, h) == "tcg" {
		notes = append(notes, "no KVM: machines are emulated in software (accel tcg); times compare with each other, not with those of real hardware")
	}
	if len(p.Trials) > 0 && h.CPUs > 0 && p.Trials[0].Machine.CPUs > h.CPUs {
		notes = append(notes, fmt.Sprintf("machines have %d CPUs and the host %d: they wait for each other", p.Trials[0].Machine.CPUs, h.CPUs))
	}
	if h.DirectIO != nil && !*h.DirectIO {
		notes = append(notes, fmt.Sprintf("%s cannot do O_DIRECT (%s): disks with cache auto use the host's page cache, and results say so", h.StorageDir, h.DirectIOReason))
	}
	return notes
}

func mebibytes(n int64) string { return lab.FormatSize(n >> 20 << 20) }
