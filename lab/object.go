package lab

import "strings"

// field is one key of an object of the study language.
type field[S any] struct {
	key      string
	schema   schema
	defs     map[string]schema
	required bool
	read     func(d *decoder, path string, n *node, into *S)
}

// key declares a key: its name, what it means (the schema shows it to editors), its type and where its value goes.
func key[S, T any](name, doc string, v value[T], at func(*S) *T) field[S] {
	return keyTo(name, doc, v, func(into *S, got T) { *at(into) = got })
}

// keyTo is key for a value that is not kept as it is read.
func keyTo[S, T any](name, doc string, v value[T], set func(*S, T)) field[S] {
	described := schema{"description": doc}
	for k, x := range v.schema {
		described[k] = x
	}
	return field[S]{key: name, schema: described, defs: v.defs, read: func(d *decoder, path string, n *node, into *S) {
		if got, ok := v.read(d, path, n); ok {
			set(into, got)
		}
	}}
}

// needed marks a key that must be given.
func needed[S any](f field[S]) field[S] {
	f.required = true
	return f
}

// object accepts a mapping with exactly these keys. start gives the defaults; it sees the node, since a preset that
// the mapping names may change them.
func object[S any](name string, start func(d *decoder, path string, n *node) S, fields ...field[S]) value[S] {
	keys := make([]string, len(fields))
	properties, required := schema{}, []string{}
	defs := []map[string]schema{}
	for i, f := range fields {
		keys[i] = f.key
		properties[f.key] = f.schema
		defs = append(defs, f.defs)
		if f.required {
			required = append(required, f.key)
		}
	}
	def := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		def["required"] = required
	}
	return value[S]{
		schema: schema{"$ref": "#/$defs/" + name},
		defs:   merge(append(defs, map[string]schema{name: def})...),
		read: func(d *decoder, path string, n *node) (S, bool) {
			var out S
			if n.kind != isMapping {
				d.fault(n, path, "want a mapping with the keys %s; got %s", strings.Join(keys, ", "), describe(n))
				return out, false
			}
			if start != nil {
				out = start(d, path, n)
			}
			for _, e := range n.keys {
				readKey(d, path, e, fields, keys, &out)
			}
			for _, f := range fields {
				if f.required && n.get(f.key) == nil {
					d.fault(n, join(path, f.key), "key is missing")
				}
			}
			return out, true
		},
	}
}

// either makes one of two keys of an object needed.
func either[S any](v value[S], a, b string) value[S] {
	for _, def := range v.defs {
		if properties, ok := def["properties"].(schema); ok && properties[a] != nil && properties[b] != nil {
			def["anyOf"] = []schema{{"required": []string{a}}, {"required": []string{b}}}
		}
	}
	return value[S]{schema: v.schema, defs: v.defs, read: func(d *decoder, path string, n *node) (S, bool) {
		out, ok := v.read(d, path, n)
		if ok && n.get(a) == nil && n.get(b) == nil {
			d.fault(n, join(path, a), "key is missing (or give %s)", b)
		}
		return out, ok
	}}
}

func readKey[S any](d *decoder, path string, e entry, fields []field[S], keys []string, out *S) {
	at := join(path, e.key)
	for _, f := range fields {
		if f.key == e.key {
			d.places[at] = e.where
			f.read(d, at, e.value, out)
			return
		}
	}
	d.fault(&node{where: e.where}, at, "%s", unknown("key", e.key, keys))
}
