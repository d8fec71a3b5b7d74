package storage

import (
	"fmt"
	"slices"
	"strings"

	"platter/guest"
)

// Part is one node of a layout tree with its place in the assembly.
type Part struct {
	Layout Layout
	Node   guest.Layout
	ID     int
	Of     []Target
	Target Target
	Steps  []Step
}

// Assembly is a layout tree resolved on devices: the parts from the leaves up.
type Assembly struct {
	Parts  []Part
	Target Target
	Text   string // one line for people
}

// Teardown returns the commands that undo the assembly, from the root down.
func (a Assembly) Teardown() [][]string {
	var cmds [][]string
	for _, p := range slices.Backward(a.Parts) {
		cmds = append(cmds, p.Layout.Teardown(p.Node, p.Of, p.ID)...)
	}
	return cmds
}

// Assemble resolves a layout tree. deviceOf gives a disk's device node. All faults are returned at
// once; with any, the assembly is not to be used.
func Assemble(root guest.Layout, disks []guest.Disk, deviceOf func(disk string) string) (Assembly, []error) {
	b := &builder{disks: disks, deviceOf: deviceOf, used: map[string]bool{}}
	target, text := b.node(root)
	return Assembly{Parts: b.parts, Target: target, Text: text}, b.errs
}

type builder struct {
	disks    []guest.Disk
	deviceOf func(string) string
	used     map[string]bool
	parts    []Part
	errs     []error
}

func (b *builder) fault(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// node builds one node; a target without devices means that it could not.
func (b *builder) node(n guest.Layout) (Target, string) {
	kind := n.Kind
	if kind == "" && n.Disk != "" {
		kind = "disk"
	}
	l, err := LayoutByName(kind)
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("layout: %w", err))
		return Target{}, ""
	}
	if l.Name == "disk" {
		return b.leaf(l, n)
	}
	if n.Disk != "" && len(n.Of) == 0 { // a leaf written short: partition of one disk
		n.Of, n.Disk = []guest.Layout{{Kind: "disk", Disk: n.Disk}}, ""
	}
	if n.Disk != "" {
		b.fault("layout %s: it has both disk and of; name disks in of", l.Name)
	}
	before := len(b.errs)
	if len(n.Of) < l.MinOf || len(n.Of) > l.MaxOf {
		b.fault("layout %s: it is made of %s, not %d", l.Name, span(l.MinOf, l.MaxOf), len(n.Of))
	}
	var of []Target
	var texts []string
	for _, child := range n.Of {
		t, text := b.node(child)
		of, texts = append(of, t), append(texts, text)
	}
	b.errs = append(b.errs, checkOptions("layout "+l.Name, l.Options, n.Options)...)
	if len(b.errs) == before {
		b.errs = append(b.errs, l.Check(n, of)...)
	}
	if len(b.errs) > before {
		return Target{}, ""
	}
	return b.add(l, n, of), l.Describe(n, texts)
}

func (b *builder) leaf(l Layout, n guest.Layout) (Target, string) {
	b.errs = append(b.errs, checkOptions("layout disk", l.Options, n.Options)...)
	if len(n.Of) > 0 {
		b.fault("layout disk: it is a leaf and has no of")
	}
	var names []string
	for _, d := range b.disks {
		names = append(names, d.Name)
	}
	i := slices.Index(names, n.Disk)
	if i < 0 {
		b.fault("layout disk: unknown disk %q%s; there are %s", n.Disk, hint(n.Disk, names), strings.Join(names, ", "))
		return Target{}, ""
	}
	if b.used[n.Disk] {
		b.fault("layout: disk %q is used twice", n.Disk)
		return Target{}, ""
	}
	b.used[n.Disk] = true
	d := b.disks[i]
	t := Target{Devices: []string{b.deviceOf(d.Name)}, SizeBytes: d.SizeBytes, LogicalBlockBytes: d.LogicalBlockBytes}
	t, steps := delay(d, t)
	n.Kind = "disk"
	t = b.add(l, n, []Target{t})
	b.parts[len(b.parts)-1].Steps = steps
	return t, l.Describe(n, nil)
}

func (b *builder) add(l Layout, n guest.Layout, of []Target) Target {
	id := len(b.parts)
	t, steps := l.Build(n, of, id)
	t.Node = n
	b.parts = append(b.parts, Part{Layout: l, Node: n, ID: id, Of: of, Target: t, Steps: steps})
	return t
}

// gather merges the block sizes of children and returns their sizes.
func gather(of []Target) (logical int64, sizes []int64) {
	for _, t := range of {
		logical = max(logical, t.LogicalBlockBytes)
		sizes = append(sizes, t.SizeBytes)
	}
	return logical, sizes
}

// firstDevices are the single devices of children.
func firstDevices(of []Target) []string {
	var devices []string
	for _, t := range of {
		devices = append(devices, t.Device())
	}
	return devices
}

func span(low, high int) string {
	switch {
	case low == high && low == 1:
		return "exactly 1 device"
	case low == high:
		return fmt.Sprintf("exactly %d devices", low)
	default:
		return fmt.Sprintf("%d to %d devices", low, high)
	}
}
