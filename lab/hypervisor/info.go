package hypervisor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/digitalocean/go-libvirt"
	"golang.org/x/sys/unix"
	"libvirt.org/go/libvirtxml"

	"platter/lab/domain"
)

// Info is what a host can do, from libvirt's own capabilities.
type Info struct {
	Hostname       string
	Mode           Mode
	URI            string
	Socket         string // that serves us
	LibvirtVersion domain.Version
	QEMUVersion    string

	Arch        string
	Emulator    string // path of the QEMU binary
	MachineType string // canonical name, for example pc-q35-7.2
	KVM         bool
	KVMReason   string // why not, when KVM is false
	TCG         bool
	MaxVCPUs    int
	DiskBuses   []string // that libvirt knows; nvme works without being listed

	CPUs                 int
	CPUModel             string
	Kernel               string // release of the host's kernel
	MemoryBytes          int64
	AvailableMemoryBytes int64 // now, page cache counted as available

	// QEMUUID and QEMUGID own the QEMU processes.
	QEMUUID, QEMUGID int
}

// machineAlias is the machine family per architecture; its canonical name is
// asked from the host.
var machineAlias = map[string]string{"x86_64": "q35", "aarch64": "virt"}

// Info asks the host. What cannot change while a daemon lives is asked once.
func (h *Host) Info(ctx context.Context) (Info, error) {
	if _, err := h.controlConn(ctx); err != nil {
		return Info{}, err
	}
	h.mu.Lock()
	known := h.info
	h.mu.Unlock()
	if known == nil {
		fresh, err := h.askInfo(ctx)
		if err != nil {
			return Info{}, fmt.Errorf("ask %s what it can do: %w", h.addr.uri(), err)
		}
		known = &fresh
		h.mu.Lock()
		h.info = known
		h.mu.Unlock()
	}
	info := *known
	if err := h.askMemory(ctx, &info); err != nil {
		return Info{}, fmt.Errorf("ask %s for its memory: %w", h.addr.uri(), err)
	}
	return info, nil
}

func (h *Host) askInfo(ctx context.Context) (Info, error) {
	info := Info{Mode: h.addr.mode, URI: h.asked}
	if err := h.askNode(ctx, &info); err != nil {
		return info, err
	}
	text, err := ask(ctx, h, "ConnectGetCapabilities", queryLimit, func(lv *libvirt.Libvirt) (string, error) {
		return lv.ConnectGetCapabilities()
	})
	if err != nil {
		return info, err
	}
	var caps libvirtxml.Caps
	if err := caps.Unmarshal(text); err != nil {
		return info, fmt.Errorf("read the capabilities: %w", err)
	}
	if err := h.readCaps(&info, caps); err != nil {
		return info, err
	}
	return info, h.askDomainCaps(ctx, &info)
}

// askNode fills in versions and hardware.
func (h *Host) askNode(ctx context.Context, info *Info) error {
	c, err := h.controlConn(ctx)
	if err != nil {
		return err
	}
	info.Socket = c.socket
	version, err := ask(ctx, h, "ConnectGetLibVersion", queryLimit, func(lv *libvirt.Libvirt) (uint64, error) { return lv.ConnectGetLibVersion() })
	if err != nil {
		return err
	}
	info.LibvirtVersion = domain.Version(version)
	qemu, err := ask(ctx, h, "ConnectGetVersion", queryLimit, func(lv *libvirt.Libvirt) (uint64, error) { return lv.ConnectGetVersion() })
	if err != nil {
		return err
	}
	info.QEMUVersion = domain.Version(qemu).String()
	info.Hostname, err = ask(ctx, h, "ConnectGetHostname", queryLimit, func(lv *libvirt.Libvirt) (string, error) { return lv.ConnectGetHostname() })
	if err != nil {
		return err
	}
	_, err = ask(ctx, h, "NodeGetInfo", queryLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
		model, _, cpus, _, _, _, _, _, err := lv.NodeGetInfo()
		info.CPUModel, info.CPUs = cString(model[:]), int(cpus)
		info.Kernel = kernelRelease()
		return struct{}{}, err
	})
	return err
}

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

// askMemory counts the page cache as free, unlike NodeGetFreeMemory, and takes
// the total from the same call: NodeGetInfo misses memory that was added later.
func (h *Host) askMemory(ctx context.Context, info *Info) error {
	const allCells = -1
	values, err := ask(ctx, h, "NodeGetMemoryStats", queryLimit, func(lv *libvirt.Libvirt) (map[string]uint64, error) {
		_, count, err := lv.NodeGetMemoryStats(0, allCells, 0)
		if err != nil {
			return nil, err
		}
		params, _, err := lv.NodeGetMemoryStats(count, allCells, 0)
		values := map[string]uint64{}
		for _, p := range params {
			values[p.Field] = p.Value
		}
		return values, err
	})
	if err != nil {
		return err
	}
	info.MemoryBytes = int64(values["total"]) << 10
	info.AvailableMemoryBytes = int64(values["free"]+values["buffers"]+values["cached"]) << 10
	return nil
}

// Accel resolves an accelerator policy: "auto" (or empty) is KVM where it can
// be used and TCG otherwise, "kvm" refuses to fall back, "tcg" asks for
// emulation. The answer belongs into every result.
func (h *Host) Accel(ctx context.Context, policy string) (domain.Accel, error) {
	info, err := h.Info(ctx)
	if err != nil {
		return "", err
	}
	return info.Accel(policy)
}

// Accel resolves an accelerator policy for a host with these capabilities; see
// Host.Accel.
func (i Info) Accel(policy string) (domain.Accel, error) {
	switch policy {
	case "", "auto":
		if i.KVM {
			return domain.KVM, nil
		}
		if i.TCG {
			return domain.TCG, nil
		}
		return "", fmt.Errorf("accelerator auto: %s offers neither KVM (%s) nor TCG", i.URI, i.KVMReason)
	case "kvm":
		if i.KVM {
			return domain.KVM, nil
		}
		return "", fmt.Errorf("accelerator kvm: %s; use accelerator auto or tcg to measure under emulation", i.KVMReason)
	case "tcg":
		if i.TCG {
			return domain.TCG, nil
		}
		return "", fmt.Errorf("accelerator tcg: %s has no emulation", i.Emulator)
	}
	return "", fmt.Errorf("accelerator %q: want auto, kvm or tcg", policy)
}

// cString reads a zero-terminated string of signed characters.
func cString(chars []int8) string {
	var b strings.Builder
	for _, c := range chars {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}

// kernelRelease is this host's kernel: only local hosts are connected to.
func kernelRelease() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
