package blockdev

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Signature is something that lies on a disk or a partition: a filesystem, a partition table, a member of an array.
type Signature struct {
	Device string `json:"device"` // kernel name of the disk or partition
	Type   string `json:"type"`   // in the words of blkid: ext4, LVM2_member, gpt
	Label  string `json:"label,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	Offset string `json:"offset"`
}

// String is the signature as people read it.
func (s Signature) String() string {
	text := s.Type
	if s.Label != "" {
		text += fmt.Sprintf(" %q", s.Label)
	}
	return text + " on " + s.Device
}

// Contents names what lies on a disk, each once.
func Contents(list []Signature) string {
	var out []string
	for _, s := range list {
		if text := s.String(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// probe asks for signatures and for exclusive opens of every disk and its partitions. The exclusive open sees what no
// file shows: mounts that are hidden from us, pools, targets.
func (s *survey) probe() {
	for _, disk := range s.disks {
		d := s.devices[disk.Name]
		for _, name := range append([]string{d.name}, d.partitions...) {
			found, err := s.host.Signatures(nodeOf(name))
			if err != nil {
				s.refuse(name, Unreadable, fmt.Sprintf("cannot be looked at, so what lies on it is unknown: %v", err))
			}
			for _, f := range found {
				f.Device = name
				disk.Signatures = append(disk.Signatures, f)
				s.resumes(f)
			}
			s.exclusive(disk, name)
		}
	}
}

// resumes refuses the device that the kernel's command line names by the UUID of its contents.
func (s *survey) resumes(f Signature) {
	for _, word := range strings.Fields(s.text("proc/cmdline")) {
		if id, ok := strings.CutPrefix(word, "resume=UUID="); ok && id == f.UUID {
			s.refuse(f.Device, Swap, "is where the host resumes from after hibernation")
		}
	}
}

func (s *survey) exclusive(disk *Disk, name string) {
	err := s.host.Exclusive(nodeOf(name))
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission):
		s.refuse(name, Unreadable, fmt.Sprintf("cannot be opened by this user: %v", err))
	case disk.Free():
		s.refuse(name, Busy, fmt.Sprintf("is in use, the kernel says (%v), though nobody here shows as its user", err))
	}
}
