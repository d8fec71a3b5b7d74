package domain

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Accel says what executes the guest's instructions.
type Accel string

// The accelerators we measure with. Results of different ones are never mixed.
const (
	KVM Accel = "kvm" // hardware virtualisation
	TCG Accel = "tcg" // QEMU's software emulation
)

// Version is a libvirt version in libvirt's own encoding: major*1000000 +
// minor*1000 + release. The zero value is older than everything.
type Version uint64

// MakeVersion encodes a version: MakeVersion(11, 5, 0) is 11005000.
func MakeVersion(major, minor, release uint64) Version {
	return Version(major*1_000_000 + minor*1_000 + release)
}

// String writes the version the way libvirt prints it, for example "9.0.0".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v/1_000_000, v/1_000%1_000, v%1_000)
}

// Spec describes one machine. Its zero value is not valid; Validate says what
// is missing.
type Spec struct {
	Name        string // libvirt's name of the domain
	UUID        string // lower-case RFC 4122 text
	CPUs        int
	MemoryBytes int64
	Accel       Accel

	Emulator       string  // path of the QEMU binary on the host
	MachineType    string  // versioned, for example "pc-q35-7.2", never an alias
	Arch           string  // "x86_64" or "aarch64"
	LibvirtVersion Version // decides how an NVMe disk is written

	Kernel     string // path on the host
	Initramfs  string // path on the host
	Cmdline    string
	OEMStrings []string // SMBIOS type 11, in order

	Disks       []Disk
	Hostdevs    []Hostdev
	SSHPort     int    // loopback port of the host forwarded to the guest's port 22
	ConsolePath string // file on the host that receives the serial console
	Tag         Tag
}

// minMemoryBytes is what the smallest guest kernel needs to unpack itself.
const minMemoryBytes = 64 << 20

var (
	nameOK    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	uuidOK    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	machineOK = regexp.MustCompile(`^(pc-q35|virt)-[0-9]+\.[0-9]+`)
)

// Validate reports everything that is wrong with the machine, by field; the
// error is a Faults.
func (s Spec) Validate() error {
	var f Faults
	f.addIf(!nameOK.MatchString(s.Name), "name", "%q: want 1 to 63 of A-Za-z0-9._-, starting with a letter or digit", s.Name)
	f.addIf(!uuidOK.MatchString(s.UUID), "uuid", "%q is not a lower-case UUID", s.UUID)
	f.addIf(s.CPUs < 1, "cpus", "%d: want at least 1", s.CPUs)
	f.addIf(s.MemoryBytes < minMemoryBytes, "memory_bytes", "%d: want at least %d", s.MemoryBytes, int64(minMemoryBytes))
	f.addIf(s.MemoryBytes%(1<<20) != 0, "memory_bytes", "%d is not a whole number of MiB", s.MemoryBytes)
	f.addIf(s.Accel != KVM && s.Accel != TCG, "accel", "%q: want kvm or tcg", s.Accel)
	f.addIf(!strings.HasPrefix(s.Emulator, "/"), "emulator", "%q is not an absolute path", s.Emulator)
	f.addIf(s.Arch != "x86_64" && s.Arch != "aarch64", "arch", "%q: want x86_64 or aarch64", s.Arch)
	f.addIf(!machineOK.MatchString(s.MachineType), "machine_type", "%q: want a versioned pc-q35 or virt machine such as pc-q35-7.2, since an alias moves with QEMU", s.MachineType)
	f.addIf(!strings.HasPrefix(s.Kernel, "/"), "kernel", "%q is not an absolute path", s.Kernel)
	f.addIf(s.Initramfs != "" && !strings.HasPrefix(s.Initramfs, "/"), "initramfs", "%q is not an absolute path", s.Initramfs)
	f.addIf(!strings.HasPrefix(s.ConsolePath, "/"), "console_path", "%q is not an absolute path", s.ConsolePath)
	f.addIf(s.SSHPort < 1 || s.SSHPort > 65535, "ssh_port", "%d: want 1 to 65535", s.SSHPort)
	s.validateText(&f)
	s.validateDisks(&f)
	s.validateHostdevs(&f)
	f.adopt("tag.", s.Tag.faults())
	return f.err()
}

// ValidateDisks reports what is wrong with the disks alone, before the rest of
// the machine is known; the error is a Faults.
func (s Spec) ValidateDisks() error {
	var f Faults
	s.validateDisks(&f)
	return f.err()
}

// validateText refuses characters that XML cannot carry: the encoder would
// silently replace them and the guest would be told something else.
func (s Spec) validateText(f *Faults) {
	texts := map[string]string{
		"emulator": s.Emulator, "kernel": s.Kernel, "initramfs": s.Initramfs,
		"cmdline": s.Cmdline, "console_path": s.ConsolePath,
	}
	for _, field := range sortedKeys(texts) {
		f.addIf(!xmlSafe(texts[field]), field, "%q holds a control character or is not UTF-8", texts[field])
	}
	for i, text := range s.OEMStrings {
		field := fmt.Sprintf("oem_strings[%d]", i)
		f.addIf(text == "", field, "is empty, which ends the SMBIOS table early")
		f.addIf(!xmlSafe(text), field, "holds a control character or is not UTF-8; encode it as base64 (io.systemd.credential.binary)")
	}
}

func (s Spec) validateDisks(f *Faults) {
	seen := map[string]int{}
	for i, d := range s.Disks {
		f.adopt(fmt.Sprintf("disks[%d].", i), d.faults())
		if first, dup := seen[d.Serial]; dup && d.Serial != "" {
			f.add(fmt.Sprintf("disks[%d].serial", i), "%q is also the serial of disks[%d]; the guest finds disks by serial", d.Serial, first)
		} else {
			seen[d.Serial] = i
		}
		if d.Bus == NVMe && d.Kind != File && s.LibvirtVersion < nvmeSince {
			f.add(fmt.Sprintf("disks[%d].bus", i), "nvme over a %s device needs libvirt %s, this host has %s; use virtio or scsi", d.Kind, nvmeSince, s.LibvirtVersion)
		}
	}
	if _, err := place(s); err != nil {
		f.add("disks", "%s", err)
	}
}

// xmlSafe tells whether XML 1.0 can carry the text on one line unchanged.
func xmlSafe(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x20 || r == 0x7f || r == 0xfffe || r == 0xffff
	})
}
