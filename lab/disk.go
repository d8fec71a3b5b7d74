package lab

// defaultDisk is the honest default: a raw, fully allocated file without the host's page cache where the host can.
var defaultDisk = Disk{
	Bus: "virtio", Cache: "auto", IO: "auto", Discard: "unmap", DetectZeroes: "off",
	Format: "raw", Preallocation: "full", IOThread: true,
}

// presets stand for classes of device. They limit rates on the host and add latency in the guest, so results that use
// them say "emulated device". Figures are typical of data sheets: a 7,200 rpm disk turns once in 8.3 ms (4.2 ms on
// average, plus about as much seeking) and streams about 180 MB/s; SATA carries at most about 550 MB/s.
var presets = map[string]Disk{
	"hdd-7200": preset("hdd-7200", func(d *Disk) {
		d.Bus, d.RotationRate = "scsi", 7200
		d.Limits = Limits{TotalBytesPerSecond: 180e6, TotalIOPS: 180}
		d.ReadDelaySeconds, d.WriteDelaySeconds = 0.008, 0.004
	}),
	"ssd-sata": preset("ssd-sata", func(d *Disk) {
		d.Bus, d.RotationRate = "scsi", 1
		d.Limits = Limits{TotalBytesPerSecond: 550e6, ReadIOPS: 90_000, WriteIOPS: 70_000}
	}),
}

func preset(name string, change func(*Disk)) Disk {
	d := defaultDisk
	d.Emulated = name
	change(&d)
	return d
}

var presetNames = []string{"hdd-7200", "ssd-sata"}

var disks = convert(mapOf(diskName, diskValue), func(list []named[Disk]) []Disk {
	out := make([]Disk, len(list))
	for i, e := range list {
		out[i] = e.Value
		out[i].Name = e.Name
		if out[i].Claim != "" {
			out[i].Emulated = "" // a real disk imitates nothing
		}
	}
	return out
})

var diskValue = either(object("disk", startDisk,
	key("size", "Size of the disk; with claim the least it must have.", size, func(d *Disk) *int64 { return &d.SizeBytes }),
	key("claim", "Serial or WWN of a real disk of the host, which somebody has given up with platter disks claim; a preset is then left out.",
		text("the serial or WWN of a claimed disk, never a path like /dev/sdb", `^[^/\s]+$`), func(d *Disk) *string { return &d.Claim }),
	key("attach", "How a claimed disk reaches the machine.", oneOf("attach mode", attachModes...), func(d *Disk) *string { return &d.Attach }),
	key("preset", "A class of device to imitate with limits and latency; titles then say emulated device.",
		oneOf("preset", presetNames...), func(d *Disk) *string { return &d.Emulated }),
	key("bus", "How the disk is attached.", oneOf("bus", buses...), func(d *Disk) *string { return &d.Bus }),
	key("cache", "libvirt's cache mode; auto is none where the host's directory can do O_DIRECT.", oneOf("cache mode", caches...), func(d *Disk) *string { return &d.Cache }),
	key("io", "How QEMU does I/O; auto is native with cache none or directsync.", oneOf("io mode", ios...), func(d *Disk) *string { return &d.IO }),
	key("discard", "What becomes of the guest's discards.", oneOf("discard mode", "unmap", "ignore"), func(d *Disk) *string { return &d.Discard }),
	key("detect_zeroes", "Whether QEMU looks for writes of zeroes.", oneOf("detect_zeroes mode", "off", "on", "unmap"), func(d *Disk) *string { return &d.DetectZeroes }),
	key("format", "Format of the volume.", oneOf("format", formats...), func(d *Disk) *string { return &d.Format }),
	key("preallocation", "full reserves all space before the trial.", oneOf("preallocation", preallocations...), func(d *Disk) *string { return &d.Preallocation }),
	key("queues", "Queues of a virtio or scsi disk; the default is one a CPU.", convert(whole(1, 256), toInt), func(d *Disk) *int { return &d.Queues }),
	key("iothread", "Whether the disk has its own I/O thread (virtio and scsi).", truth, func(d *Disk) *bool { return &d.IOThread }),
	key("logical_block", "Logical block size: 512B, or 4KiB for a 4Kn disk.", size, func(d *Disk) *int64 { return &d.LogicalBlockBytes }),
	key("physical_block", "Physical block size: 4KiB over a logical 512B is a 512e disk.", size, func(d *Disk) *int64 { return &d.PhysicalBlockBytes }),
	key("rotation_rate", "Turns a minute as the disk reports them; 1 is an SSD (scsi and sata).", convert(whole(1, 65534), toInt), func(d *Disk) *int { return &d.RotationRate }),
	key("limits", "Rate limits kept by QEMU.", limits, func(d *Disk) *Limits { return &d.Limits }),
	keyTo("latency", "Delay added to each request in the guest (dm-delay): one duration, or {read: , write: }.", latency,
		func(d *Disk, l delays) { d.ReadDelaySeconds, d.WriteDelaySeconds = l.Read, l.Write }),
), "size", "claim")

// startDisk begins with the preset the mapping names, so that its other keys override the preset in whatever order
// they stand.
func startDisk(_ *decoder, _ string, n *node) Disk {
	out := defaultDisk
	claimed := n.get("claim") != nil
	if p := n.get("preset"); p != nil && !claimed {
		if found, ok := presets[p.text]; ok {
			out = found
		}
	}
	if bus := n.get("bus"); bus != nil {
		out.Bus = bus.text
	}
	if claimed {
		out.Attach = AttachBlock
		if a := n.get("attach"); a != nil && a.text == AttachLUN && n.get("bus") == nil {
			out.Bus = "scsi"
		}
	}
	// An I/O thread exists on virtio and scsi only; the default must not contradict the bus.
	out.IOThread = hasIOThread(out.Bus)
	return out
}

var limits = object("limits", nil,
	key("read", "Bytes read a second, e.g. 100MiB.", size, func(l *Limits) *int64 { return &l.ReadBytesPerSecond }),
	key("write", "Bytes written a second.", size, func(l *Limits) *int64 { return &l.WriteBytesPerSecond }),
	key("total", "Bytes read and written a second; instead of read and write.", size, func(l *Limits) *int64 { return &l.TotalBytesPerSecond }),
	key("read_iops", "Reads a second.", whole(1, 1e9), func(l *Limits) *int64 { return &l.ReadIOPS }),
	key("write_iops", "Writes a second.", whole(1, 1e9), func(l *Limits) *int64 { return &l.WriteIOPS }),
	key("total_iops", "Reads and writes a second; instead of read_iops and write_iops.", whole(1, 1e9), func(l *Limits) *int64 { return &l.TotalIOPS }),
)

// delays are what latency says; Disk keeps them as its two seconds fields.
type delays struct{ Read, Write float64 }

var delayPair = object("latency", nil,
	key("read", "Delay of reads.", duration, func(l *delays) *float64 { return &l.Read }),
	key("write", "Delay of writes.", duration, func(l *delays) *float64 { return &l.Write }),
)

var latency = value[delays]{
	schema: schema{"oneOf": []schema{duration.schema, delayPair.schema}},
	defs:   delayPair.defs,
	read: func(d *decoder, path string, n *node) (delays, bool) {
		if n.kind == isMapping {
			return delayPair.read(d, path, n)
		}
		both, ok := duration.read(d, path, n)
		return delays{both, both}, ok
	},
}

// checkDisk says what makes no sense about one disk. Messages name the key and what would be accepted.
func checkDisk(d Disk, allowUnsafe bool) (problems []keyed) {
	add := func(key, problem string) { problems = append(problems, keyed{key, problem}) }
	if d.Claim != "" {
		problems = checkClaimed(d)
		if d.Passport == nil {
			return problems // nothing else of it is known
		}
	} else if d.Attach != "" {
		add("attach", "is for a claimed disk: name it with claim")
	}
	block := max(d.LogicalBlockBytes, 512)
	if d.LogicalBlockBytes != 0 && d.LogicalBlockBytes != 512 && d.LogicalBlockBytes != 4096 {
		add("logical_block", "want 512B or 4KiB, got "+FormatSize(d.LogicalBlockBytes))
	}
	if p := d.PhysicalBlockBytes; p != 0 && (p < block || p > 64<<10 || p&(p-1) != 0) {
		add("physical_block", "want a power of two from "+FormatSize(block)+" to 64KiB, got "+FormatSize(p))
	}
	if d.SizeBytes%block != 0 {
		add("size", FormatSize(d.SizeBytes)+" is not a multiple of the logical block of "+FormatSize(block))
	}
	if d.SizeBytes < 16<<20 {
		add("size", FormatSize(d.SizeBytes)+" is too small, at least 16MiB")
	}
	if d.IO == "native" && d.Cache != "none" && d.Cache != "directsync" && d.Cache != "auto" {
		add("io", "native works with cache none or directsync only, not "+d.Cache)
	}
	if d.Cache == "unsafe" && !allowUnsafe {
		add("cache", "unsafe ignores flushes; say allow_unsafe: true to measure it all the same")
	}
	if d.Format != "raw" && d.Preallocation == "full" {
		add("preallocation", "full needs format raw")
	}
	if d.RotationRate != 0 && d.RotationRate != 1 && d.RotationRate < 1025 {
		add("rotation_rate", "want 1 (SSD) or 1025 to 65534 turns a minute")
	}
	if d.RotationRate != 0 && d.Bus != "scsi" && d.Bus != "sata" {
		add("rotation_rate", "exists on bus scsi and sata only, not "+d.Bus)
	}
	if d.IOThread && !hasIOThread(d.Bus) {
		add("iothread", "exists on bus virtio and scsi only, not "+d.Bus)
	}
	if d.Queues != 0 && !hasIOThread(d.Bus) {
		add("queues", "exist on bus virtio and scsi only, not "+d.Bus)
	}
	return append(problems, checkLimits(d.Limits)...)
}

// hasIOThread tells whether QEMU can serve the bus from threads and queues of its own.
func hasIOThread(bus string) bool { return bus == "virtio" || bus == "scsi" }

func checkLimits(l Limits) (problems []keyed) {
	add := func(key, problem string) { problems = append(problems, keyed{key, problem}) }
	if l.TotalBytesPerSecond != 0 && (l.ReadBytesPerSecond != 0 || l.WriteBytesPerSecond != 0) {
		add("limits.total", "excludes read and write")
	}
	if l.TotalIOPS != 0 && (l.ReadIOPS != 0 || l.WriteIOPS != 0) {
		add("limits.total_iops", "excludes read_iops and write_iops")
	}
	return problems
}

// keyed is a problem with one key of an object.
type keyed struct{ key, problem string }
