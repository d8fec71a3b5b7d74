package hypervisor

import (
	"context"
	"fmt"
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

	// DAC says that the daemon changes the owner of a machine's files.
	DAC bool
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
