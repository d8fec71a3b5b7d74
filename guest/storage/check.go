package storage

import (
	"fmt"
	"regexp"
	"strings"

	"platter/guest"
)

// serialMax is what virtio-blk carries; longer serials are cut and become ambiguous.
const serialMax = 20

var (
	diskName   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	diskSerial = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	labelForm  = regexp.MustCompile(`^[A-Za-z0-9_.-]*$`)
	mountForm  = regexp.MustCompile(`^[A-Za-z0-9_.:=/@-]+$`)
)

// Check returns every fault of a storage on its disks that can be told without a machine: unknown names
// and options, sizes under a minimum, labels too long, too few disks, impossible block sizes. The host
// calls it when it plans; the guest again before it writes.
func Check(s guest.Storage, disks []guest.Disk) []error {
	errs := checkDisks(disks)
	fs, err := FilesystemByName(s.Filesystem)
	if err != nil {
		errs = append(errs, err)
	}
	a, faults := Assemble(s.Layout, disks, placeholder)
	errs = append(errs, faults...)
	if err != nil {
		return errs
	}
	errs = append(errs, checkFilesystem(fs, s)...)
	if len(errs) > 0 {
		return errs
	}
	return checkTarget(fs, s, a.Target)
}

func checkDisks(disks []guest.Disk) []error {
	var errs []error
	names, serials := map[string]bool{}, map[string]string{}
	for _, d := range disks {
		if !diskName.MatchString(d.Name) || names[d.Name] {
			errs = append(errs, fmt.Errorf("disk %q: names are unique, of lower-case letters, digits and -", d.Name))
		}
		names[d.Name] = true
		if len(d.Serial) > serialMax || !diskSerial.MatchString(d.Serial) {
			errs = append(errs, fmt.Errorf("disk %s: serial %q is not 1 to %d letters, digits, _, . or -", d.Name, d.Serial, serialMax))
		} else if other, taken := serials[d.Serial]; taken {
			errs = append(errs, fmt.Errorf("disks %s and %s have the same serial %s", other, d.Name, d.Serial))
		}
		serials[d.Serial] = d.Name
		if d.SizeBytes <= 0 {
			errs = append(errs, fmt.Errorf("disk %s: size of %d bytes", d.Name, d.SizeBytes))
		}
		if b := d.LogicalBlockBytes; b != 0 && (b < 512 || b > 4096 || b&(b-1) != 0) {
			errs = append(errs, fmt.Errorf("disk %s: logical block of %d bytes is not 512, 1024, 2048 or 4096", d.Name, b))
		} else if b != 0 && d.SizeBytes%b != 0 {
			errs = append(errs, fmt.Errorf("disk %s: %d bytes are no whole number of logical blocks of %d", d.Name, d.SizeBytes, b))
		}
		if d.ReadDelaySeconds < 0 || d.WriteDelaySeconds < 0 || d.ReadDelaySeconds > 10 || d.WriteDelaySeconds > 10 {
			errs = append(errs, fmt.Errorf("disk %s: delays are 0 to 10 seconds", d.Name))
		}
	}
	return errs
}

func checkFilesystem(fs Filesystem, s guest.Storage) []error {
	errs := checkOptions("filesystem "+fs.Name, fs.Options, s.Options)
	switch {
	case s.Label != "" && fs.LabelMax == 0:
		errs = append(errs, fmt.Errorf("filesystem %s: it has no label", fs.Name))
	case len(s.Label) > fs.LabelMax:
		errs = append(errs, fmt.Errorf("filesystem %s: label %q has %d bytes, at most %d", fs.Name, s.Label, len(s.Label), fs.LabelMax))
	case !labelForm.MatchString(s.Label) || strings.HasPrefix(s.Label, "-"):
		errs = append(errs, fmt.Errorf("filesystem %s: label %q may hold letters, digits, _, . and -", fs.Name, s.Label))
	}
	for _, o := range s.Mount {
		if !mountForm.MatchString(o) {
			errs = append(errs, fmt.Errorf("filesystem %s: mount option %q: give each option on its own", fs.Name, o))
		}
	}
	return errs
}

func checkTarget(fs Filesystem, s guest.Storage, t Target) []error {
	var errs []error
	if kind := s.Layout.Kind; fs.Spans != kind && spanned(kind) {
		errs = append(errs, fmt.Errorf("layout %s holds a %s only, not %s", kind, kind, fs.Name))
	}
	if t.SizeBytes > 0 && t.SizeBytes < fs.MinBytes {
		errs = append(errs, fmt.Errorf("filesystem %s: %d bytes are under its minimum of %d (%s)", fs.Name, t.SizeBytes, fs.MinBytes, mebibytes(fs.MinBytes)))
	}
	return append(errs, fs.Check(s, t)...)
}

// spanned says whether a layout kind belongs to one filesystem that spans devices itself.
func spanned(kind string) bool {
	for _, f := range filesystems {
		if f.Spans != "" && f.Spans == kind {
			return true
		}
	}
	return false
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func placeholder(disk string) string { return "<" + disk + ">" }

// Commands returns the command lines that make and mount a storage, as the guest runs them. With deviceOf
// nil, devices are written <name>, for a plan. It returns nil for a storage that Check refuses.
func Commands(s guest.Storage, disks []guest.Disk, deviceOf func(disk string) string) [][]string {
	if len(Check(s, disks)) > 0 {
		return nil
	}
	if deviceOf == nil {
		deviceOf = placeholder
	}
	fs, _ := FilesystemByName(s.Filesystem)
	a, _ := Assemble(s.Layout, disks, deviceOf)
	var cmds [][]string
	for _, p := range a.Parts {
		for _, step := range p.Steps {
			cmds = append(cmds, step.Argv)
		}
	}
	cmds = append(cmds, fs.Mkfs(s, a.Target)...)
	return append(cmds, fs.Mount(s, a.Target, Place{Dir: MountPoint, UID: "<uid>", GID: "<gid>"})...)
}

// MountPoint is where the guest mounts the filesystem under test.
const MountPoint = "/run/platter/data"

// Describe returns a layout tree as one line, e.g. md(disk(a),disk(b); level=1).
func Describe(l guest.Layout) string {
	kind := l.Kind
	if kind == "" {
		kind = "disk"
	}
	row, err := LayoutByName(kind)
	if err != nil {
		return kind
	}
	var of []string
	for _, child := range l.Of {
		of = append(of, Describe(child))
	}
	if l.Disk != "" && row.Name != "disk" {
		of = append(of, "disk("+l.Disk+")")
	}
	return row.Describe(l, of)
}
