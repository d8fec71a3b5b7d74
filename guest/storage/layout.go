package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"platter/guest"
)

// Step is one command of a layout and the device nodes that must be there after it.
type Step struct {
	Argv  []string
	Retry bool // it may fail for a while because something else looks at the device
	Await []Node
}

// Node is a device node to wait for, with what proves it is the right one.
type Node struct {
	Path      string
	SizeBytes int64 // 0 when only its presence can be checked
}

// Layout is one row of the registry; every field but the marked ones is set by every member.
type Layout struct {
	Name     string // as users type it
	Tools    []string
	Modules  []string
	Packages []string
	Options  []Option
	MinOf    int // fewest children
	MaxOf    int // most children

	// Check returns faults the table above cannot express; pure.
	Check func(node guest.Layout, of []Target) []error
	// Build returns what the node makes of its children and the steps that make it; pure. id is unique in the tree.
	Build func(node guest.Layout, of []Target, id int) (Target, []Step)
	// Teardown returns the commands that undo Build; pure.
	Teardown func(node guest.Layout, of []Target, id int) [][]string
	// Describe returns one line, e.g. md5(a,b,c,d; chunk=64K); pure.
	Describe func(node guest.Layout, of []string) string
	// ReadBack returns what was made, in the tool's words, keyed by option where one answers.
	ReadBack func(context.Context, Exec, guest.Layout, Target) (map[string]string, error)
	// Busy names background work that is still going on, "" when there is none.
	Busy func(context.Context, Exec, guest.Layout, Target) (string, error)
}

var layouts []Layout

func registerLayout(l Layout) {
	if _, err := LayoutByName(l.Name); err == nil {
		panic("storage: layout registered twice: " + l.Name)
	}
	layouts = append(layouts, l)
	slices.SortFunc(layouts, func(a, b Layout) int { return strings.Compare(a.Name, b.Name) })
}

// Layouts returns all layouts by name.
func Layouts() []Layout { return slices.Clone(layouts) }

// LayoutByName returns one layout, or an error that names those there are.
func LayoutByName(name string) (Layout, error) {
	var names []string
	for _, l := range layouts {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Layout{}, fmt.Errorf("unknown layout %q%s; there are %s", name, hint(name, names), strings.Join(names, ", "))
}

// describe writes name(child,child; key=value …), the form every layout uses.
func describe(name string) func(guest.Layout, []string) string {
	return func(node guest.Layout, of []string) string {
		text := strings.Join(of, ",")
		for i, k := range sortedKeys(node.Options) {
			separator := " "
			if i == 0 {
				separator = "; "
			}
			text += separator + k + "=" + node.Options[k]
		}
		return name + "(" + text + ")"
	}
}

func noLayoutFaults(guest.Layout, []Target) []error { return nil }

func layoutNeverBusy(context.Context, Exec, guest.Layout, Target) (string, error) { return "", nil }

func noLayoutFacts(context.Context, Exec, guest.Layout, Target) (map[string]string, error) {
	return nil, nil
}

func nothingToUndo(guest.Layout, []Target, int) [][]string { return nil }

func tooFew(layout, what string, need, have int) error {
	return fmt.Errorf("layout %s: %s takes at least %d devices, not %d", layout, what, need, have)
}

func sum(sizes []int64) int64 {
	var n int64
	for _, s := range sizes {
		n += s
	}
	return n
}
