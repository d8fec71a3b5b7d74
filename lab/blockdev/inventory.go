package blockdev

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Host is where an inventory is read from. FS holds sys, proc and dev. The functions answer what reading files cannot;
// Local fills them in for the host we run on.
type Host struct {
	FS fs.FS
	// Signatures lists what lies on a node.
	Signatures func(node string) ([]Signature, error)
	// Exclusive tries an exclusive open of a node. The error wraps fs.ErrPermission when we may not, anything else when
	// the kernel says that the node is in use.
	Exclusive func(node string) error
	// Backing tells the file behind a loop device from the kernel's own record of it; path is where sysfs says it lies.
	Backing func(node, path string) (Backing, error)
	// PID is our own process, whose open files do not count as users.
	PID int
}

// Inventory is all disks of a host.
type Inventory struct {
	Disks []Disk `json:"disks"`
}

// Disk is one disk with everything that decides whether it may be handed to a machine.
type Disk struct {
	Name       string      `json:"name"` // kernel name: a label, never a way to choose
	Node       string      `json:"node"`
	Links      []string    `json:"links,omitempty"` // stable names in /dev/disk
	Passport   Passport    `json:"passport"`
	Stack      []string    `json:"stack,omitempty"`      // what is built on it: sda1, md0, dm-2
	Signatures []Signature `json:"signatures,omitempty"` // what lies on it and its partitions
	Refusals   []Reason    `json:"refusals,omitempty"`   // none: the disk is free
}

// Reason is why a disk is refused. Code is stable, Text is for people.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes of reasons.
const (
	Mounted     = "mounted"      // a filesystem on it is mounted, in some mount namespace
	RootDisk    = "root"         // it holds what the host runs from: /, /boot, /usr, /var
	Swap        = "swap"         // swap space or the device to resume from
	MD          = "md"           // member of a software RAID that runs
	LVM         = "lvm"          // a logical volume on it is active
	Crypt       = "crypt"        // opened by dm-crypt
	Multipath   = "multipath"    // one of several paths to a device
	DM          = "dm"           // target of another device-mapper device
	Bcache      = "bcache"       // backs or caches a bcache device
	Stacked     = "stacked"      // some other block device is built on it
	Open        = "open"         // a process has it open
	Busy        = "busy"         // the kernel says that it is in use, nobody says by whom
	ReadOnly    = "read_only"    // cannot be written
	Removable   = "removable"    // the medium may be another one tomorrow
	NoIdentity  = "no_identity"  // no serial: cannot be told from another
	Ambiguous   = "ambiguous"    // another disk has the same serial
	BackingGone = "backing_gone" // a loop device whose file was deleted or replaced
	Unreadable  = "unreadable"   // we may not look, so we do not know
)

// Free tells whether nothing speaks against handing the disk over, but what lies on it.
func (d Disk) Free() bool { return len(d.Refusals) == 0 }

// Verdict is the judgement in words: free, or every reason against.
func (d Disk) Verdict() string {
	if !d.Free() {
		texts := make([]string, len(d.Refusals))
		for i, r := range d.Refusals {
			texts[i] = r.Text
		}
		return "refused: " + strings.Join(texts, "; ")
	}
	if len(d.Signatures) > 0 {
		return "free; a claim gives up its " + Contents(d.Signatures)
	}
	return "free"
}

// survey is an inventory being made.
type survey struct {
	tree
	host     Host
	devices  map[string]*device
	byNumber map[string]*device
	disks    map[string]*Disk
	above    map[string][]string // device → the disks it lies on, itself included
}

// Read makes the inventory of a host. It fails only when there is nothing to read; whatever else cannot be known of a
// disk makes it refused.
func Read(h Host) (Inventory, error) {
	s := survey{tree: tree{h.FS}, host: h, byNumber: map[string]*device{}, disks: map[string]*Disk{}, above: map[string][]string{}}
	var err error
	if s.devices, err = s.tree.devices(); err != nil {
		return Inventory{}, err
	}
	for _, d := range s.devices {
		s.byNumber[d.number] = d
		if s.isDisk(d) {
			s.disks[d.name] = &Disk{Name: d.name, Node: nodeOf(d.name), Passport: s.passport(d), Links: s.links(d)}
		}
	}
	s.loopHolders()
	for name := range s.disks {
		s.stack(name, name, nil)
	}
	s.media()
	s.holders()
	s.mounts()
	s.swaps()
	s.openFiles()
	s.probe()
	s.identities()
	return s.inventory(), nil
}

func (s *survey) inventory() Inventory {
	var inv Inventory
	for _, d := range s.disks {
		slices.Sort(d.Stack)
		d.Stack = slices.Compact(d.Stack)
		inv.Disks = append(inv.Disks, *d)
	}
	slices.SortFunc(inv.Disks, func(a, b Disk) int { return strings.Compare(a.Name, b.Name) })
	return inv
}

// stack finds everything that lies on a disk, however many layers away; seen keeps damaged trees from running in circles.
func (s *survey) stack(disk, name string, seen []string) {
	d := s.devices[name]
	if d == nil || slices.Contains(seen, name) {
		return
	}
	if !slices.Contains(s.above[name], disk) {
		s.above[name] = append(s.above[name], disk)
	}
	if name != disk {
		s.disks[disk].Stack = append(s.disks[disk].Stack, name)
	}
	seen = append(seen, name)
	for _, next := range slices.Concat(d.partitions, d.holders) {
		s.stack(disk, next, seen)
	}
}

// refuse notes a reason at every disk below a device. Text says what is the matter with the device, as the end of a
// sentence: "is mounted on /srv".
func (s *survey) refuse(device, code, text string) {
	for _, name := range s.above[device] {
		d := s.disks[name]
		r := Reason{code, s.subject(d.Name, device) + text}
		if !slices.Contains(d.Refusals, r) {
			d.Refusals = append(d.Refusals, r)
		}
	}
}

// subject names a device as seen from the disk below it.
func (s *survey) subject(disk, device string) string {
	switch d := s.devices[device]; {
	case device == disk:
		return ""
	case d.partition > 0 && d.disk == disk:
		return fmt.Sprintf("partition %d ", d.partition)
	default:
		return s.describe(d) + ", which lies on it, "
	}
}

// describe is a device's own name where it has one.
func (s *survey) describe(d *device) string {
	if name := s.text(d.dir + "/dm/name"); name != "" {
		return fmt.Sprintf("%s (%s)", d.name, name)
	}
	return d.name
}

// media refuses what cannot or should not be written.
func (s *survey) media() {
	for _, disk := range s.disks {
		d := s.devices[disk.Name]
		if s.number(d.dir+"/ro") != 0 {
			s.refuse(d.name, ReadOnly, "is read-only")
		}
		if s.number(d.dir+"/removable") != 0 && disk.Passport.Transport != "loop" {
			s.refuse(d.name, Removable, "is a removable medium, which may be another one by tomorrow")
		}
		if disk.Passport.Transport == "loop" {
			s.backing(disk)
		}
	}
}

// backing gives a loop device the identity of its file, and refuses one whose file is no longer what it was attached to.
func (s *survey) backing(disk *Disk) {
	path := s.text(s.devices[disk.Name].dir + "/loop/backing_file")
	b, err := s.host.Backing(disk.Node, path)
	if err != nil {
		s.refuse(disk.Name, Unreadable, fmt.Sprintf("its backing file cannot be told: %v", err))
		return
	}
	b.Path = path
	disk.Passport.Backing, disk.Passport.Serial = &b, loopSerial(b)
	now, err := fs.Stat(s.FS, strings.TrimPrefix(path, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		s.refuse(disk.Name, BackingGone, fmt.Sprintf("its backing file %s is gone", path))
		return
	}
	if err != nil {
		s.refuse(disk.Name, Unreadable, fmt.Sprintf("its backing file cannot be looked at: %v", err))
		return
	}
	if is, ok := fileIdentity(now); ok && !b.Same(is) {
		s.refuse(disk.Name, BackingGone, fmt.Sprintf("its backing file was replaced: %s is another file now", path))
	}
}

// identities refuses disks that cannot be told from others.
func (s *survey) identities() {
	bySerial := map[string][]string{}
	for name, d := range s.disks {
		if d.Passport.Serial == "" {
			s.refuse(name, NoIdentity, "has no serial, so it cannot be proven to be the disk that is meant")
			continue
		}
		bySerial[d.Passport.Serial] = append(bySerial[d.Passport.Serial], name)
	}
	for serial, names := range bySerial {
		slices.Sort(names)
		for _, name := range names {
			others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
			if len(others) > 0 {
				s.refuse(name, Ambiguous, fmt.Sprintf("has the serial %s, and so has %s", serial, strings.Join(others, ", ")))
			}
		}
	}
}
