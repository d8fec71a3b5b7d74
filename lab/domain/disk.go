package domain

// Kind says what stands behind a disk on the host.
type Kind string

// File is an image file, Block a whole device or partition whose requests pass
// through QEMU's block layer, LUN a SCSI disk whose commands the guest sends to
// the device itself.
const (
	File  Kind = "file"
	Block Kind = "block"
	LUN   Kind = "lun"
)

// Format is the image format; it is always stated, since a guest could forge
// the header that probing would read.
type Format string

// The image formats. Data disks under test are raw.
const (
	Raw   Format = "raw"
	QCOW2 Format = "qcow2"
)

// Bus is how the guest sees the disk.
type Bus string

// The disk buses. NVMe is written natively for libvirt 11.5 and later, and on
// QEMU's command line before.
//
// Note: USB is left out on purpose. QEMU's USB disk takes one request at a time
// through an emulated host controller, so it measures that controller; a real
// USB disk can be handed over instead.
const (
	Virtio Bus = "virtio"
	SCSI   Bus = "scsi"
	SATA   Bus = "sata"
	NVMe   Bus = "nvme"
)

// Cache is QEMU's cache mode: whether the host's page cache is used and
// whether the guest's flushes are honoured.
type Cache string

// The cache modes. Only CacheUnsafe ignores flushes.
const (
	CacheNone         Cache = "none"
	CacheWriteback    Cache = "writeback"
	CacheWritethrough Cache = "writethrough"
	CacheDirectsync   Cache = "directsync"
	CacheUnsafe       Cache = "unsafe"
)

// Direct tells whether the mode opens the image with O_DIRECT.
func (c Cache) Direct() bool { return c == CacheNone || c == CacheDirectsync }

// IO is how QEMU submits requests to the host's kernel.
type IO string

// The submission methods. IONative needs a direct cache mode.
const (
	IONative  IO = "native"
	IOThreads IO = "threads"
	IOUring   IO = "io_uring"
)

// Discard says what becomes of the guest's discard requests.
type Discard string

// DiscardUnmap passes discards to the host, DiscardIgnore drops them.
const (
	DiscardUnmap  Discard = "unmap"
	DiscardIgnore Discard = "ignore"
)

// DetectZeroes says whether QEMU looks for writes of zeroes.
type DetectZeroes string

// DetectZeroesOff is right for disks under test: the other two spend processor
// time and change what is written.
const (
	DetectZeroesOff   DetectZeroes = "off"
	DetectZeroesOn    DetectZeroes = "on"
	DetectZeroesUnmap DetectZeroes = "unmap"
)

// Disk is one disk of a machine. All modes are explicit: a policy such as
// "auto" is resolved before, so that what is asked and what is written can be
// compared.
type Disk struct {
	Serial    string // at most 20 bytes of A-Za-z0-9_-; the guest finds the disk by it
	Path      string // image file or device node on the host
	Kind      Kind
	PCI       PCIAddress // of the drive, for kind NVMeNamespace instead of Path
	Namespace int        // of the drive
	Format    Format
	ReadOnly  bool // several machines may share a read-only image
	// KeepOwner stops libvirt from giving the file to QEMU's user: an image is
	// shared by machines that start and stop at different times, and QEMU can
	// read it as it is. A daemon without the dac security driver refuses it.
	KeepOwner bool
	SizeBytes int64 // size the guest will see; 0 when not known
	Bus       Bus

	Cache        Cache
	IO           IO
	Discard      Discard
	DetectZeroes DetectZeroes

	Queues   int  // request queues; 0 leaves QEMU's default of one per CPU
	IOThread bool // a thread of its own instead of QEMU's main loop

	LogicalBlock  int    // bytes; 0 is QEMU's default of 512
	PhysicalBlock int    // bytes; 0 is that of the logical block
	RotationRate  int    // 1 is an SSD, 1025 to 65534 revolutions per minute; 0 unset
	WWN           string // 16 hexadecimal digits, only on bus scsi
	Limits        Limits
}

// DataDisk is a disk under test with our defaults: raw, virtio, past the host's
// page cache, honest flushes, and a thread of its own.
func DataDisk(serial, path string, sizeBytes int64) Disk {
	return Disk{
		Serial: serial, Path: path, Kind: File, Format: Raw, SizeBytes: sizeBytes, Bus: Virtio,
		Cache: CacheNone, IO: IONative, Discard: DiscardUnmap, DetectZeroes: DetectZeroesOff,
		IOThread: true,
	}
}

// ImageDisk is a read-only image that many machines share, such as the root
// image. It goes through the host's page cache, so the second boot reads memory.
func ImageDisk(serial, path string) Disk {
	return Disk{
		Serial: serial, Path: path, Kind: File, Format: Raw, ReadOnly: true, KeepOwner: true, Bus: Virtio,
		Cache: CacheWriteback, IO: IOThreads, Discard: DiscardIgnore, DetectZeroes: DetectZeroesOff,
	}
}
