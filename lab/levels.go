package lab

import (
	"encoding/json"
	"slices"

	"platter/guest"
)

// factors reads the factors and remembers their order, which is the order of the report's columns.
var factors = func() value[FactorLevels] {
	v := object("factors", nil,
		needed(key("storage", "Filesystems on layouts: names, or levels by name.", storages, func(f *FactorLevels) *[]named[guest.Storage] { return &f.Storage })),
		needed(key("server", "Servers: images of the catalogue, or levels by name.", servers, func(f *FactorLevels) *[]named[server] { return &f.Server })),
		key("config", "Server configurations: profile names, or options by level.", configs, func(f *FactorLevels) *[]named[config] { return &f.Config }),
		key("workload", "Workloads: names, or levels by name.", workloads, func(f *FactorLevels) *[]named[workload] { return &f.Workload }),
		key("engine", "Storage engines; each becomes the option engine of every step.", engines, func(f *FactorLevels) *[]named[string] { return &f.Engine }),
	)
	read := v.read
	v.read = func(d *decoder, path string, n *node) (FactorLevels, bool) {
		out, ok := read(d, path, n)
		for _, f := range n.names() {
			if slices.Contains(FactorNames, f) {
				out.order = append(out.order, f)
			}
		}
		return out, ok
	}
	return v
}()

// levelsOf accepts the two ways to write a factor: a list of names, each made a level by short, or a mapping from
// names to bodies.
func levelsOf[T any](short func(string) T, body value[T]) value[[]named[T]] {
	list, full := listOf(name), mapOf(name, body)
	return value[[]named[T]]{
		schema: schema{"oneOf": []schema{list.schema, full.schema}},
		defs:   body.defs,
		read: func(d *decoder, path string, n *node) ([]named[T], bool) {
			if n.kind != isSequence {
				out, ok := full.read(d, path, n)
				if ok && len(out) == 0 {
					d.fault(n, path, "a factor needs at least one level")
				}
				return out, ok
			}
			names, ok := list.read(d, path, n)
			out := make([]named[T], 0, len(names))
			for i, level := range names {
				if slices.Contains(names[:i], level) {
					d.fault(n.items[i], path, "level %q given twice", level)
					ok = false
				}
				d.places[join(path, level)] = n.items[i].where
				out = append(out, named[T]{level, short(level)})
			}
			return out, ok
		},
	}
}

// or accepts a bare name in place of a body.
func or[T any](short func(string) T, body value[T]) value[T] {
	return value[T]{
		schema: schema{"oneOf": []schema{name.schema, body.schema}},
		defs:   body.defs,
		read: func(d *decoder, path string, n *node) (T, bool) {
			if n.kind != isText {
				return body.read(d, path, n)
			}
			level, ok := name.read(d, path, n)
			return short(level), ok
		},
	}
}

// optionNames are options in somebody else's words: anything without white space.
var optionNames = text("an option's name", `^\S+$`)

var options = plainMap(mapOf(optionNames, anyScalar))

func storageNamed(filesystem string) guest.Storage { return guest.Storage{Filesystem: filesystem} }

var storages = levelsOf(storageNamed, or(storageNamed, object("storage", nil,
	needed(key("filesystem", "Name of the filesystem.", name, func(s *guest.Storage) *string { return &s.Filesystem })),
	key("on", "Where it lies: a disk, or a tree of layouts; the first disk unless given.", layout, func(s *guest.Storage) *guest.Layout { return &s.Layout }),
	key("options", "mkfs options in the filesystem's own words.", options, func(s *guest.Storage) *map[string]string { return &s.Options }),
	key("mount", "Mount options.", optionalListOf(text("a mount option", `^[^\s,]+$`)), func(s *guest.Storage) *[]string { return &s.Mount }),
	key("label", "Label of the filesystem.", sentence, func(s *guest.Storage) *string { return &s.Label }),
)))

func configNamed(profile string) config { return config{Profile: profile} }

// configBody is open: every key but profile is an option of the server.
var configBody = value[config]{
	schema: schema{"type": "object", "properties": schema{"profile": schema{"type": "string",
		"description": "Named profile the options are laid over."}}, "additionalProperties": anyScalar.schema},
	read: func(d *decoder, path string, n *node) (config, bool) {
		if n.kind == isNull {
			return config{}, true
		}
		all, ok := options.read(d, path, n)
		profile := all["profile"]
		delete(all, "profile")
		return config{Profile: profile, Options: all}, ok
	},
}

var configs = levelsOf(configNamed, or(configNamed, configBody))

var engines = levelsOf(func(level string) string { return level }, sentence)

func workloadNamed(w string) workload { return workload{Workload: w} }

// workloadBody is open: besides workload and steps it holds options that every step of the level starts from.
var workloadBody = value[workload]{
	schema: schema{"type": "object", "properties": schema{
		"workload": schema{"type": "string", "description": "Name of the workload."},
		"steps":    schema{"type": "array", "items": stepValue.schema, "description": "Steps in order; without them the workload's own."},
	}},
	defs: stepValue.defs,
	read: func(d *decoder, path string, n *node) (workload, bool) {
		out := workload{Options: map[string]json.RawMessage{}}
		if n.kind != isMapping {
			d.fault(n, path, "want a mapping such as {workload: mysqlslap, concurrency: 10} or {steps: [...]}, got %s", describe(n))
			return out, false
		}
		ok := true
		for _, e := range n.keys {
			at, good := join(path, e.key), false
			d.places[at] = e.where
			switch e.key {
			case "workload":
				out.Workload, good = name.read(d, at, e.value)
			case "steps":
				out.Steps, good = listOf(stepValue).read(d, at, e.value)
			default:
				out.Options[e.key], good = rawJSON.read(d, at, e.value)
			}
			ok = ok && good
		}
		if out.Workload == "" && out.Steps == nil && ok {
			d.fault(n, path, "needs the key workload or steps")
		}
		return out, true
	},
}

var workloads = levelsOf(workloadNamed, or(workloadNamed, workloadBody))
