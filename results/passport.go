package results

import (
	"fmt"
	"strings"
)

// Passport is the identity of a disk and what it says of itself. Pointers are nil where the host does not know.
type Passport struct {
	Serial             string   `json:"serial"`
	WWN                string   `json:"wwn,omitempty"` // naa. or eui. number, or the NGUID of a namespace
	Model              string   `json:"model,omitempty"`
	Firmware           string   `json:"firmware,omitempty"`
	SizeBytes          int64    `json:"size_bytes"`
	LogicalBlockBytes  int64    `json:"logical_block_bytes"`
	PhysicalBlockBytes int64    `json:"physical_block_bytes"`
	Rotational         *bool    `json:"rotational"`
	Transport          string   `json:"transport"` // nvme, sata, sas, scsi, usb, virtio, loop, or "" when unknown
	NUMANode           *int     `json:"numa_node"`
	PCIAddress         string   `json:"pci_address,omitempty"` // of the controller, e.g. 0000:03:00.0
	IOMMUGroup         *int     `json:"iommu_group"`
	Namespace          int      `json:"namespace,omitempty"` // of an NVMe controller
	Backing            *Backing `json:"backing,omitempty"`   // of a loop device
}

// Backing is the file behind a loop device. Device, inode and birth are the file's identity, since inodes are used again;
// its path is where it was found.
type Backing struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	BornNS int64  `json:"born_ns"` // nanoseconds since 1970; 0 where the filesystem does not keep it
}

// Differences names what two passports of one disk disagree about, among what cannot change while it is the same disk.
// What the first does not know is no difference, but for serial and size. A hashed passport is compared with the hashes
// of the other.
func (p Passport) Differences(now Passport) []string {
	if p.hashed() {
		now = now.Hashed()
	}
	var out []string
	add := func(what string, was, is any) { out = append(out, fmt.Sprintf("%s was %v and is %v", what, was, is)) }
	if p.Serial != now.Serial {
		add("serial", orUnknown(p.Serial), orUnknown(now.Serial))
	}
	if p.SizeBytes != now.SizeBytes {
		add("size in bytes", p.SizeBytes, now.SizeBytes)
	}
	if p.WWN != "" && !strings.EqualFold(p.WWN, now.WWN) {
		add("wwn", p.WWN, orUnknown(now.WWN))
	}
	if p.Model != "" && p.Model != now.Model {
		add("model", p.Model, orUnknown(now.Model))
	}
	if p.LogicalBlockBytes != now.LogicalBlockBytes {
		add("logical block in bytes", p.LogicalBlockBytes, now.LogicalBlockBytes)
	}
	if (p.Backing == nil) != (now.Backing == nil) || p.Backing != nil && !p.Backing.Same(*now.Backing) {
		add("backing file", p.Backing, now.Backing)
	}
	return out
}

// Same tells whether two are one file; o may lack the birth.
func (b Backing) Same(o Backing) bool {
	return b.Device == o.Device && b.Inode == o.Inode && (o.BornNS == 0 || b.BornNS == o.BornNS)
}

// String is the backing file as messages name it.
func (b *Backing) String() string {
	if b == nil {
		return "none"
	}
	return fmt.Sprintf("%s (device %d, inode %d)", b.Path, b.Device, b.Inode)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// String is one line about the disk, for people.
func (p Passport) String() string {
	parts := []string{"serial " + orUnknown(p.Serial)}
	if p.Model != "" {
		parts = append(parts, p.Model)
	}
	parts = append(parts, fmt.Sprintf("%d bytes", p.SizeBytes))
	if p.Transport != "" {
		parts = append(parts, p.Transport)
	}
	if p.WWN != "" {
		parts = append(parts, "wwn "+p.WWN)
	}
	if p.Backing != nil {
		parts = append(parts, "file "+p.Backing.Path)
	}
	return strings.Join(parts, ", ")
}
