package runner

import (
	"context"
	"encoding/base64"
	"fmt"
	"runtime"

	"platter/images"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/lab/remote"
	"platter/results"
)

// volumes makes the trial's data disks and returns them as the machine will have them, with what is known of them.
func (t *trial) volumes(ctx context.Context, undo *cleanup) ([]domain.Disk, error) {
	var disks []domain.Disk
	for _, d := range t.Disks {
		if d.Passport != nil {
			disk, asDisk, err := t.handOver(ctx, undo, d)
			if err != nil {
				return nil, err
			}
			if asDisk {
				disks = append(disks, disk)
			}
			continue
		}
		spec := hypervisor.VolumeSpec{Tag: t.tag(), Name: t.volumeName(d), SizeBytes: d.SizeBytes,
			Format: domain.Format(d.Format), Preallocation: hypervisor.Preallocation(d.Preallocation)}
		volume, err := t.Host.CreateVolume(ctx, spec)
		if err != nil {
			return nil, &lab.InfraError{What: "make the volume of disk " + d.Name, Err: err}
		}
		undo.add("remove the volume of disk "+d.Name, func(context.Context) error { return t.Host.RemoveVolume(volume) })
		effective, err := hypervisor.ResolveCache(hypervisor.CacheMode{Cache: domain.Cache(d.Cache), IO: domain.IO(d.IO)}, volume.Probe)
		if err != nil {
			return nil, &lab.InputError{Err: fmt.Errorf("disk %s: %w", d.Name, err)}
		}
		disks = append(disks, dataDisk(d, volume, effective))
		t.disks = append(t.disks, diskFacts(d, effective, volume))
		t.setting("disk", d.Name+".cache", d.Cache, string(effective.Cache))
		t.setting("disk", d.Name+".io", d.IO, string(effective.IO))
	}
	return disks, nil
}

func (t *trial) volumeName(d lab.Disk) string {
	return fmt.Sprintf("%03d-%d-%s", t.Index, t.attempt, d.Name)
}

func dataDisk(d lab.Disk, v hypervisor.Volume, effective hypervisor.CacheMode) domain.Disk {
	disk := domain.DataDisk(d.Serial, v.Path, v.SizeBytes)
	disk.Format = v.Format
	disk.Bus = domain.Bus(d.Bus)
	disk.Cache, disk.IO = effective.Cache, effective.IO
	disk.Discard, disk.DetectZeroes = domain.Discard(d.Discard), domain.DetectZeroes(d.DetectZeroes)
	disk.Queues, disk.IOThread = d.Queues, d.IOThread
	disk.LogicalBlock, disk.PhysicalBlock = int(d.LogicalBlockBytes), int(d.PhysicalBlockBytes)
	disk.RotationRate = d.RotationRate
	disk.Limits = domain.Limits{
		TotalBytesPerSecond: d.Limits.TotalBytesPerSecond, ReadBytesPerSecond: d.Limits.ReadBytesPerSecond, WriteBytesPerSecond: d.Limits.WriteBytesPerSecond,
		TotalIOPS: d.Limits.TotalIOPS, ReadIOPS: d.Limits.ReadIOPS, WriteIOPS: d.Limits.WriteIOPS,
	}
	return disk
}

func diskFacts(d lab.Disk, effective hypervisor.CacheMode, v hypervisor.Volume) results.DiskFacts {
	return results.DiskFacts{Name: d.Name, Serial: d.Serial, Kind: "file", SizeBytes: v.SizeBytes, Bus: d.Bus,
		CacheAsked: d.Cache, CacheEffective: string(effective.Cache), IOEffective: string(effective.IO),
		Preallocation: string(v.Preallocation), Emulated: d.Emulated}
}

// spec turns the trial into a machine: the shared read-only images first, then its own data disks.
func (t *trial) spec(keys remote.Keys, token string, data []domain.Disk) domain.Spec {
	root := t.staged[t.Root]
	disks := []domain.Disk{domain.ImageDisk(images.RootSerial, root.root)}
	var addons []string
	for _, name := range t.Addons {
		serial := "platter-" + name
		addons = append(addons, serial)
		disks = append(disks, domain.ImageDisk(serial, t.staged[name].root))
	}
	if t.Server != "" {
		disks = append(disks, domain.ImageDisk(lab.ServerSerial, t.staged[t.Server].root))
	}
	return domain.Spec{
		Name:        fmt.Sprintf("platter-%s-%03d-%d", t.short, t.Index, t.attempt),
		CPUs:        t.Machine.CPUs,
		MemoryBytes: t.Machine.MemoryBytes,
		Accel:       t.accel,
		Kernel:      root.kernel,
		Initramfs:   root.initramfs,
		Cmdline:     cmdline(t.accel, addons),
		OEMStrings:  oemStrings(keys, token),
		Disks:       append(disks, data...),
		Hostdevs:    t.Passthrough.machine(),
	}
}

// cmdline is the kernel's command line. Under emulation programs are loaded at fixed addresses: QEMU keeps translated code
// by address, and an exec then costs a third of the time. The kernel of a PC tries its timer at boot and panics where a busy
// host makes ten ticks late; under KVM it does not try. It is told the frequency of its counter, which KVM tells too. Results
// hold the command line.
func cmdline(accel domain.Accel, addons []string) string {
	line := images.Cmdline(addons...)
	if accel == domain.TCG {
		line += " norandmaps"
		if runtime.GOARCH == "amd64" {
			line += " no_timer_check"
		}
		if khz := hypervisor.CounterKHz(); khz > 0 {
			line += fmt.Sprintf(" tsc_early_khz=%d", khz)
		}
	}
	return line
}

// oemStrings tell the machine who may log in, which host key to show and which token proves that it is the one we started.
func oemStrings(keys remote.Keys, token string) []string {
	return []string{
		images.AuthorizedKeyString + "=" + keys.AuthorizedKey(),
		images.HostKeyString + "=" + base64.StdEncoding.EncodeToString(keys.HostPrivatePEM()),
		images.TokenString + "=" + token,
	}
}

func (t *trial) tag() domain.Tag {
	tag := hypervisor.RenewTag(t.Tag)
	tag.Run, tag.Trial = t.Store.ID(), t.ID
	return tag
}
