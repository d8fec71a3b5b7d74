package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"platter/guest"
)

// Exec runs one command and returns its standard output. Errors carry the command's one telling line.
type Exec interface {
	Run(ctx context.Context, argv ...string) ([]byte, error)
}

// Target is what a layout made and a filesystem lies on.
type Target struct {
	Devices           []string // device nodes; one, except for filesystems that span devices themselves
	SizeBytes         int64    // usable size, or a little less where Estimated; 0 when unknown
	Estimated         bool     // a layout keeps room whose exact size only its tool knows
	LogicalBlockBytes int64    // largest logical block of the disks below; 0 when unknown
	Node              guest.Layout
}

// Device is the first device node, the one that is mounted.
func (t Target) Device() string { return t.Devices[0] }

// Place is where and for whom a filesystem is mounted.
type Place struct {
	Dir string
	UID string // owner for filesystems that have none; a number, or <uid> in a plan
	GID string
}

// Filesystem is one row of the registry; every field but the marked ones is set by every member.
type Filesystem struct {
	Name     string   // as users type it
	Type     string   // as mount -t and mountinfo call it
	Module   string   // kernel module that provides Type
	Tools    []string // programs it needs in the guest
	Packages []string // Debian packages that hold them
	Options  []Option // what a study may ask, in mkfs's words
	LabelMax int      // bytes; 0 when it has no label
	MinBytes int64    // smallest device mkfs accepts and mount takes
	MaxFile  int64    // largest file in bytes; 0 when beyond any disk here
	CannotDo []string // may be empty
	Spans    string   // kind of the layout only this filesystem takes (zfs, btrfs); may be empty

	// Check returns faults the table above cannot express; pure.
	Check func(guest.Storage, Target) []error
	// Mkfs returns the commands that make it; pure.
	Mkfs func(guest.Storage, Target) [][]string
	// Mount returns the commands that mount it; pure.
	Mount func(guest.Storage, Target, Place) [][]string
	// Unmount returns the commands that undo Mount; pure.
	Unmount func(guest.Storage, Target, Place) [][]string
	// ReadBack returns what was made, from the mounted filesystem, in the filesystem's words.
	ReadBack func(context.Context, Exec, guest.Storage, Target, Place) (map[string]string, error)
	// Effective answers options and label from facts; an absent key could not be read back.
	Effective func(facts map[string]string) map[string]string
	// Busy names background work that is still going on, "" when there is none.
	Busy func(context.Context, Exec, guest.Storage, Target, Place) (string, error)
	// DropCaches empties caches of its own beyond the page cache.
	DropCaches func(context.Context, Exec, guest.Storage, Target, Place) error
}

var filesystems []Filesystem

func registerFilesystem(f Filesystem) {
	if _, err := FilesystemByName(f.Name); err == nil {
		panic("storage: filesystem registered twice: " + f.Name)
	}
	filesystems = append(filesystems, f)
	slices.SortFunc(filesystems, func(a, b Filesystem) int { return strings.Compare(a.Name, b.Name) })
}

// Filesystems returns all filesystems by name.
func Filesystems() []Filesystem { return slices.Clone(filesystems) }

// FilesystemByName returns one filesystem, or an error that names those there are.
func FilesystemByName(name string) (Filesystem, error) {
	var names []string
	for _, f := range filesystems {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Filesystem{}, fmt.Errorf("unknown filesystem %q%s; there are %s", name, hint(name, names), strings.Join(names, ", "))
}

// MountOptions returns the options as they are given to mount: the filesystem's needs, then the study's.
func mountOptions(defaults []string, s guest.Storage) []string {
	return append(slices.Clone(defaults), s.Mount...)
}

// mountDevice mounts the first device by its node, never by UUID or label.
func mountDevice(fstype string, defaults ...string) func(guest.Storage, Target, Place) [][]string {
	return func(s guest.Storage, t Target, p Place) [][]string {
		argv := []string{"mount", "-t", fstype}
		if o := mountOptions(defaults, s); len(o) > 0 {
			argv = append(argv, "-o", strings.Join(o, ","))
		}
		return [][]string{append(argv, t.Device(), p.Dir)}
	}
}

func unmountDir(_ guest.Storage, _ Target, p Place) [][]string { return [][]string{{"umount", p.Dir}} }

func noFaults(guest.Storage, Target) []error { return nil }

func neverBusy(context.Context, Exec, guest.Storage, Target, Place) (string, error) { return "", nil }

func noCaches(context.Context, Exec, guest.Storage, Target, Place) error { return nil }

// pickFacts answers options by the fact of the given name.
func pickFacts(facts, names map[string]string) map[string]string {
	e := map[string]string{}
	for option, fact := range names {
		if v, ok := facts[fact]; ok {
			e[option] = v
		}
	}
	return e
}
