package lab

import (
	"slices"
	"strconv"
	"strings"

	"platter/guest"
)

// layoutKinds are the layouts the language can write and what the value of their own key is called in
// guest.Layout.Options: {md: 5, of: [a, b, c]} is kind md with level 5.
var layoutKinds = map[string]string{
	"partition":  "number",
	"md":         "level",
	"lvm":        "type",
	"crypt":      "type",
	"zfs":        "level",
	"btrfs":      "level",
	"log_writes": "keep",
}

var layoutNames = []string{"partition", "md", "lvm", "crypt", "zfs", "btrfs", "log_writes"}

// layout accepts the name of a disk, or {KIND: VALUE, option: ..., of: [layout, ...]}; a partition is
// {partition: NUMBER, of: COUNT, disk: NAME}. It refers to itself, so its reader is set in init.
var layout = value[guest.Layout]{
	schema: schema{"$ref": "#/$defs/layout"},
	defs:   map[string]schema{"layout": layoutSchema()},
	read:   func(d *decoder, path string, n *node) (guest.Layout, bool) { return readLayout(d, path, n) },
}

func readLayout(d *decoder, path string, n *node) (guest.Layout, bool) {
	switch n.kind {
	case isText:
		disk, ok := name.read(d, path, n)
		return guest.Layout{Kind: "disk", Disk: disk}, ok
	case isMapping:
	default:
		d.fault(n, path, "want the name of a disk or a layout such as {md: 5, of: [d1, d2, d3]}, got %s", describe(n))
		return guest.Layout{}, false
	}
	kind := layoutKind(n)
	if kind == "" {
		d.fault(n, path, "no layout is named here; accepted: %s", strings.Join(layoutNames, ", "))
		return guest.Layout{}, false
	}
	out, ok := guest.Layout{Kind: kind, Options: map[string]string{}}, true
	for _, e := range n.keys {
		at, good := join(path, e.key), true
		d.places[at] = e.where
		switch {
		case e.key == "of" && e.value.kind == isSequence:
			out.Of, good = readLayouts(d, at, e.value)
		case e.key == "disk", e.key == "of" && e.value.kind != isInteger:
			var child guest.Layout
			child, good = readLayout(d, at, e.value)
			out.Of = append(out.Of, child)
		default:
			option := e.key
			if option == kind {
				option = layoutKinds[kind]
			}
			out.Options[option], good = anyScalar.read(d, at, e.value)
		}
		ok = ok && good
	}
	if ok && len(out.Of) == 0 {
		d.fault(n, path, "%s lies on nothing: name its disks with of: [...] or disk:", kind)
		return out, false
	}
	return out, ok
}

// layoutKind is the key of the mapping that names a layout.
func layoutKind(n *node) string {
	for _, e := range n.keys {
		if slices.Contains(layoutNames, e.key) {
			return e.key
		}
	}
	return ""
}

func readLayouts(d *decoder, path string, n *node) ([]guest.Layout, bool) {
	out, ok := make([]guest.Layout, 0, len(n.items)), true
	for i, it := range n.items {
		child, good := readLayout(d, join(path, strconv.Itoa(i)), it)
		out, ok = append(out, child), ok && good
	}
	return out, ok
}

func layoutSchema() schema {
	self := schema{"$ref": "#/$defs/layout"}
	properties := schema{
		"of":   schema{"description": "What it lies on: a list of layouts; for a partition the count of equal partitions.", "oneOf": []schema{{"type": "integer", "minimum": 1}, self, {"type": "array", "items": self, "minItems": 1}}},
		"disk": schema{"description": "The one layout it lies on.", "oneOf": []schema{self}},
	}
	kinds := []schema{}
	for _, k := range layoutNames {
		properties[k] = schema{"type": []string{"string", "integer"}, "description": "Layout " + k + "; the value is its " + layoutKinds[k] + "."}
		kinds = append(kinds, schema{"required": []string{k}})
	}
	return schema{"oneOf": []schema{
		name.schema,
		{"type": "object", "properties": properties, "anyOf": kinds, "additionalProperties": anyScalar.schema},
	}}
}

// disksOf lists the disks at the leaves of a layout, in order, each once.
func disksOf(l guest.Layout) []string {
	var out []string
	if l.Disk != "" {
		out = append(out, l.Disk)
	}
	for _, child := range l.Of {
		for _, d := range disksOf(child) {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}
