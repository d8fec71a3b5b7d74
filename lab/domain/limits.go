package domain

import "libvirt.org/go/libvirtxml"

// Limits caps the rate of a disk inside QEMU. Zero means no limit. A limit
// lowers throughput; it adds no latency to a single request.
type Limits struct {
	TotalBytesPerSecond int64
	ReadBytesPerSecond  int64
	WriteBytesPerSecond int64
	TotalIOPS           int64
	ReadIOPS            int64
	WriteIOPS           int64

	// A burst is the rate allowed for BurstSeconds before the limit of the same
	// name applies again.
	BurstTotalBytesPerSecond int64
	BurstReadBytesPerSecond  int64
	BurstWriteBytesPerSecond int64
	BurstTotalIOPS           int64
	BurstReadIOPS            int64
	BurstWriteIOPS           int64
	BurstSeconds             int64 // 0 is QEMU's default of 1

	IOSizeBytes int64 // a larger request counts as several operations; 0 counts each as one
}

// rate is one limit with its burst and its names in the study, in libvirt and
// in QEMU.
type rate struct {
	field, qemu  string
	limit, burst int64
}

// rates lists the limits in the order total, read, write, bytes first.
func (l Limits) rates() []rate {
	return []rate{
		{"total_bytes_per_second", "bps-total", l.TotalBytesPerSecond, l.BurstTotalBytesPerSecond},
		{"read_bytes_per_second", "bps-read", l.ReadBytesPerSecond, l.BurstReadBytesPerSecond},
		{"write_bytes_per_second", "bps-write", l.WriteBytesPerSecond, l.BurstWriteBytesPerSecond},
		{"total_iops", "iops-total", l.TotalIOPS, l.BurstTotalIOPS},
		{"read_iops", "iops-read", l.ReadIOPS, l.BurstReadIOPS},
		{"write_iops", "iops-write", l.WriteIOPS, l.BurstWriteIOPS},
	}
}

func (l Limits) faults() Faults {
	var f Faults
	rates := l.rates()
	bursts := false
	for _, r := range rates {
		f.addIf(r.limit < 0, r.field, "%d is negative", r.limit)
		f.addIf(r.burst < 0, "burst_"+r.field, "%d is negative", r.burst)
		f.addIf(r.burst > 0 && r.limit == 0, "burst_"+r.field, "needs %s", r.field)
		f.addIf(r.burst > 0 && r.burst < r.limit, "burst_"+r.field, "%d is less than the limit of %d", r.burst, r.limit)
		bursts = bursts || r.burst > 0
	}
	for i := 0; i < len(rates); i += 3 {
		total, read, write := rates[i], rates[i+1], rates[i+2]
		f.addIf(total.limit > 0 && (read.limit > 0 || write.limit > 0), total.field,
			"cannot stand beside %s or %s", read.field, write.field)
	}
	f.addIf(l.BurstSeconds < 0, "burst_seconds", "%d is negative", l.BurstSeconds)
	f.addIf(l.BurstSeconds > 0 && !bursts, "burst_seconds", "needs a burst rate")
	iops := l.TotalIOPS > 0 || l.ReadIOPS > 0 || l.WriteIOPS > 0
	f.addIf(l.IOSizeBytes < 0, "io_size_bytes", "%d is negative", l.IOSizeBytes)
	f.addIf(l.IOSizeBytes > 0 && !iops, "io_size_bytes", "needs an operation limit")
	return f
}

// seconds is the length of a burst, or 0 where there is none, since QEMU
// refuses a length without a rate.
func (l Limits) seconds(burst int64) uint64 {
	if burst == 0 {
		return 0
	}
	return uint64(l.BurstSeconds)
}

// xml is nil when nothing is limited.
func (l Limits) xml() *libvirtxml.DomainDiskIOTune {
	if l == (Limits{}) {
		return nil
	}
	return &libvirtxml.DomainDiskIOTune{
		TotalBytesSec:          uint64(l.TotalBytesPerSecond),
		ReadBytesSec:           uint64(l.ReadBytesPerSecond),
		WriteBytesSec:          uint64(l.WriteBytesPerSecond),
		TotalIopsSec:           uint64(l.TotalIOPS),
		ReadIopsSec:            uint64(l.ReadIOPS),
		WriteIopsSec:           uint64(l.WriteIOPS),
		TotalBytesSecMax:       uint64(l.BurstTotalBytesPerSecond),
		ReadBytesSecMax:        uint64(l.BurstReadBytesPerSecond),
		WriteBytesSecMax:       uint64(l.BurstWriteBytesPerSecond),
		TotalIopsSecMax:        uint64(l.BurstTotalIOPS),
		ReadIopsSecMax:         uint64(l.BurstReadIOPS),
		WriteIopsSecMax:        uint64(l.BurstWriteIOPS),
		TotalBytesSecMaxLength: l.seconds(l.BurstTotalBytesPerSecond),
		ReadBytesSecMaxLength:  l.seconds(l.BurstReadBytesPerSecond),
		WriteBytesSecMaxLength: l.seconds(l.BurstWriteBytesPerSecond),
		TotalIopsSecMaxLength:  l.seconds(l.BurstTotalIOPS),
		ReadIopsSecMaxLength:   l.seconds(l.BurstReadIOPS),
		WriteIopsSecMaxLength:  l.seconds(l.BurstWriteIOPS),
		SizeIopsSec:            uint64(l.IOSizeBytes),
	}
}
