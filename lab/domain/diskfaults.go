package domain

import (
	"regexp"
	"slices"
	"strings"
)

// maxSerial is virtio-blk's limit (VIRTIO_BLK_ID_BYTES); libvirt and QEMU cut
// longer ones without a word, so that two disks may end up with one name.
const maxSerial = 20

var (
	serialOK = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	wwnOK    = regexp.MustCompile(`^[0-9a-fA-F]{16}$`)
)

// Validate reports everything that is wrong with the disk, by field; the error
// is a Faults. What concerns several disks is checked by Spec.Validate.
func (d Disk) Validate() error { return d.faults().err() }

func (d Disk) faults() Faults {
	var f Faults
	switch {
	case d.Serial == "":
		f.add("serial", "is empty; the guest finds disks by serial")
	case len(d.Serial) > maxSerial:
		f.add("serial", "%q has %d bytes, the guest would see only the first %d", d.Serial, len(d.Serial), maxSerial)
	case !serialOK.MatchString(d.Serial):
		f.add("serial", "%q: want only A-Za-z0-9_-", d.Serial)
	}
	if d.Kind == NVMeNamespace {
		d.nvmeFaults(&f)
	} else {
		f.addIf(!strings.HasPrefix(d.Path, "/"), "path", "%q is not an absolute path", d.Path)
	}
	f.addIf(!xmlSafe(d.Path), "path", "%q holds a control character or is not UTF-8", d.Path)
	oneOf(&f, "kind", d.Kind, File, Block, LUN, NVMeNamespace)
	oneOf(&f, "format", d.Format, Raw, QCOW2)
	oneOf(&f, "bus", d.Bus, Virtio, SCSI, SATA, NVMe)
	oneOf(&f, "cache", d.Cache, CacheNone, CacheWriteback, CacheWritethrough, CacheDirectsync, CacheUnsafe)
	oneOf(&f, "io", d.IO, IONative, IOThreads, IOUring)
	oneOf(&f, "discard", d.Discard, DiscardUnmap, DiscardIgnore)
	oneOf(&f, "detect_zeroes", d.DetectZeroes, DetectZeroesOff, DetectZeroesOn, DetectZeroesUnmap)
	f.addIf(d.IO == IONative && !d.Cache.Direct(), "io", "native needs cache none or directsync, not %q; use io threads", d.Cache)
	f.addIf(d.DetectZeroes == DetectZeroesUnmap && d.Discard != DiscardUnmap, "detect_zeroes", "unmap needs discard unmap")
	d.busFaults(&f)
	d.geometryFaults(&f)
	f.adopt("limits.", d.Limits.faults())
	return f
}

// busFaults are the pairs of bus and option that QEMU refuses or ignores.
func (d Disk) busFaults(f *Faults) {
	queued := d.Bus == Virtio || d.Bus == SCSI
	f.addIf(d.Queues < 0, "queues", "%d is negative", d.Queues)
	f.addIf(d.Queues > 0 && !queued, "queues", "bus %s has no such option; use virtio or scsi", d.Bus)
	f.addIf(d.IOThread && !queued, "iothread", "bus %s has no such option; use virtio or scsi", d.Bus)
	f.addIf(d.ReadOnly && !queued, "read_only", "QEMU has no read-only disks on bus %s; use virtio or scsi", d.Bus)
	wide := d.Bus == SCSI || d.Bus == SATA
	f.addIf(d.RotationRate != 0 && !wide, "rotation_rate", "bus %s does not report one; use scsi or sata", d.Bus)
	f.addIf(d.WWN != "" && d.Bus != SCSI, "wwn", "libvirt gives none to bus %s; use scsi", d.Bus)
	f.addIf(d.WWN != "" && !wwnOK.MatchString(d.WWN), "wwn", "%q: want 16 hexadecimal digits", d.WWN)
	if d.Kind != LUN {
		return
	}
	f.addIf(d.Bus != SCSI, "bus", "a lun needs bus scsi, not %s", d.Bus)
	f.addIf(d.Format != Raw, "format", "a lun is raw, not %s", d.Format)
	f.addIf(d.WWN != "" || d.RotationRate != 0 || d.LogicalBlock != 0 || d.PhysicalBlock != 0, "kind",
		"a lun shows the device's own identity and geometry; leave wwn, rotation rate and block sizes out or use kind block")
	f.addIf(d.Limits != Limits{}, "limits", "a lun bypasses QEMU's block layer; use kind block to limit it")
}

func (d Disk) geometryFaults(f *Faults) {
	logical := max(d.LogicalBlock, 0)
	sizes := []int{0, 512, 1024, 2048, 4096}
	f.addIf(!slices.Contains(sizes, d.LogicalBlock), "logical_block", "%d: want 512, 1024, 2048 or 4096", d.LogicalBlock)
	f.addIf(d.Bus == SATA && logical > 512, "logical_block", "%d: QEMU's SATA disks have 512 byte sectors; use virtio, scsi or nvme", d.LogicalBlock)
	if logical == 0 {
		logical = 512
	}
	if p := d.PhysicalBlock; p != 0 {
		f.addIf(p < 512 || p&(p-1) != 0 || p > 2<<20, "physical_block", "%d: want a power of two from 512 to %d", p, 2<<20)
		f.addIf(p < logical, "physical_block", "%d is less than the logical block of %d", p, logical)
	}
	f.addIf(d.SizeBytes < 0, "size_bytes", "%d is negative", d.SizeBytes)
	f.addIf(d.SizeBytes > 0 && d.SizeBytes%int64(logical) != 0, "size_bytes",
		"%d is not a multiple of the logical block of %d; next is %d", d.SizeBytes, logical, roundUp(d.SizeBytes, int64(logical)))
	r := d.RotationRate
	f.addIf(r != 0 && r != 1 && (r < 1025 || r > 65534), "rotation_rate", "%d: want 1 (an SSD) or 1025 to 65534 revolutions per minute", r)
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

func oneOf[T ~string](f *Faults, field string, got T, want ...T) {
	if slices.Contains(want, got) {
		return
	}
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = string(w)
	}
	f.add(field, "%q: want %s", string(got), strings.Join(names, ", "))
}
