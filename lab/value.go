package lab

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// schema is a fragment of JSON Schema.
type schema map[string]any

// value is one type of the study language: how it is read, and how the schema describes it. Both come from one
// declaration, so that the decoder and the schema cannot disagree. read notes its faults in the decoder; it returns
// false when nothing usable is left. A mapping with one bad key is usable: what is sound in it is checked further, so
// that a person sees all faults at once.
type value[T any] struct {
	schema schema
	defs   map[string]schema // named objects the schema refers to
	read   func(d *decoder, path string, n *node) (T, bool)
}

// decoder collects the faults of one study while values are read.
type decoder struct {
	faults Faults
	places map[string]Where // path → where it was said
}

func (d *decoder) fault(n *node, path, format string, args ...any) {
	d.faults = append(d.faults, Fault{Where: n.where, Path: path, Problem: fmt.Sprintf(format, args...)})
}

// text accepts any text that looks like pattern; what names it in a message.
func text(what, pattern string) value[string] {
	shape := regexp.MustCompile(pattern)
	return value[string]{
		schema: schema{"type": "string", "pattern": pattern},
		read: func(d *decoder, path string, n *node) (string, bool) {
			if n.kind != isText || !shape.MatchString(n.text) {
				d.fault(n, path, "want %s, got %s", what, describe(n))
				return "", false
			}
			return n.text, true
		},
	}
}

// oneOf accepts one of the given words.
func oneOf(what string, words ...string) value[string] {
	return value[string]{
		schema: schema{"enum": words},
		read: func(d *decoder, path string, n *node) (string, bool) {
			if !n.scalar() || !slices.Contains(words, n.text) {
				if n.scalar() {
					d.fault(n, path, "%s", unknown(what, n.text, words))
				} else {
					d.fault(n, path, "want %s, got %s", strings.Join(words, " or "), describe(n))
				}
				return "", false
			}
			return n.text, true
		},
	}
}

// anyScalar accepts text, numbers, true, false and nothing, and gives them as written. It is for options in somebody
// else's words, whose types only that somebody knows.
var anyScalar = value[string]{
	schema: schema{"type": []string{"string", "number", "boolean", "null"}},
	read: func(d *decoder, path string, n *node) (string, bool) {
		if !n.scalar() {
			d.fault(n, path, "want one value, got %s", n.kind)
			return "", false
		}
		return n.text, true
	},
}

// whole accepts a whole number from low to high.
func whole(low, high int64) value[int64] {
	return value[int64]{
		schema: schema{"type": "integer", "minimum": low, "maximum": high},
		read: func(d *decoder, path string, n *node) (int64, bool) {
			v, err := strconv.ParseInt(n.text, 10, 64)
			if n.kind != isInteger || err != nil || v < low || v > high {
				d.fault(n, path, "want a whole number from %d to %d, got %s", low, high, describe(n))
				return 0, false
			}
			return v, true
		},
	}
}

// number accepts any number above zero.
var number = value[float64]{
	schema: schema{"type": "number", "exclusiveMinimum": 0},
	read: func(d *decoder, path string, n *node) (float64, bool) {
		v, err := strconv.ParseFloat(n.text, 64)
		if (n.kind != isInteger && n.kind != isFloat) || err != nil || v <= 0 {
			d.fault(n, path, "want a number above 0, got %s", describe(n))
			return 0, false
		}
		return v, true
	},
}

var truth = value[bool]{
	schema: schema{"type": "boolean"},
	read: func(d *decoder, path string, n *node) (bool, bool) {
		if n.kind != isBool {
			d.fault(n, path, "want true or false, got %s", describe(n))
			return false, false
		}
		return strings.EqualFold(n.text, "true"), true
	},
}

// size accepts ParseSize's sizes and gives bytes.
var size = value[int64]{
	schema: schema{"type": "string", "pattern": SizePattern},
	read: func(d *decoder, path string, n *node) (int64, bool) {
		v, err := ParseSize(n.text)
		if !n.scalar() || err != nil {
			d.fault(n, path, "want a size (%s), got %s", SizeUnits, describe(n))
			return 0, false
		}
		return v, true
	},
}

// duration accepts ParseDuration's durations and gives seconds.
var duration = value[float64]{
	schema: schema{"type": "string", "pattern": DurationPattern},
	read: func(d *decoder, path string, n *node) (float64, bool) {
		v, err := ParseDuration(n.text)
		if !n.scalar() || err != nil {
			d.fault(n, path, "want a duration (%s), got %s", DurationUnits, describe(n))
			return 0, false
		}
		return v.Seconds(), true
	},
}

// rawJSON accepts anything and keeps it as JSON, for options that a workload decodes itself.
var rawJSON = value[json.RawMessage]{
	schema: schema{},
	read: func(d *decoder, path string, n *node) (json.RawMessage, bool) {
		data, err := json.Marshal(n.plain())
		if err != nil {
			d.fault(n, path, "%v", err)
			return nil, false
		}
		return data, true
	},
}

// listOf accepts a list of at least one item.
func listOf[T any](item value[T]) value[[]T] {
	list := optionalListOf(item)
	some := list
	some.schema = schema{"type": "array", "items": item.schema, "minItems": 1}
	some.read = func(d *decoder, path string, n *node) ([]T, bool) {
		if n.kind == isSequence && len(n.items) == 0 {
			d.fault(n, path, "want a list of at least one item, e.g. [a, b], got an empty one")
			return nil, false
		}
		return list.read(d, path, n)
	}
	return some
}

// optionalListOf accepts a list, also an empty one: a --set can take everything out of it.
func optionalListOf[T any](item value[T]) value[[]T] {
	return value[[]T]{
		schema: schema{"type": "array", "items": item.schema},
		defs:   item.defs,
		read: func(d *decoder, path string, n *node) ([]T, bool) {
			if n.kind != isSequence {
				d.fault(n, path, "want a list, e.g. [a, b], got %s", describe(n))
				return nil, false
			}
			out := make([]T, 0, len(n.items))
			for i, it := range n.items {
				if v, good := item.read(d, join(path, strconv.Itoa(i)), it); good {
					out = append(out, v)
				}
			}
			return out, true
		},
	}
}

// named is a value with its key.
type named[T any] struct {
	Name  string
	Value T
}

// mapOf accepts a mapping from names to values and keeps the order written.
func mapOf[T any](names value[string], item value[T]) value[[]named[T]] {
	return value[[]named[T]]{
		schema: schema{"type": "object", "propertyNames": names.schema, "additionalProperties": item.schema},
		defs:   item.defs,
		read: func(d *decoder, path string, n *node) ([]named[T], bool) {
			if n.kind != isMapping {
				d.fault(n, path, "want a mapping, got %s", describe(n))
				return nil, false
			}
			out := make([]named[T], 0, len(n.keys))
			for _, e := range n.keys {
				at := join(path, e.key)
				d.places[at] = e.where
				_, fine := names.read(d, at, &node{kind: isText, text: e.key, where: e.where})
				if v, good := item.read(d, at, e.value); good && fine {
					out = append(out, named[T]{e.key, v})
				}
			}
			return out, true
		},
	}
}

// plainMap turns mapOf's list into a Go map, for options whose order means nothing.
func plainMap[T any](in value[[]named[T]]) value[map[string]T] {
	return convert(in, func(list []named[T]) map[string]T {
		out := make(map[string]T, len(list))
		for _, e := range list {
			out[e.Name] = e.Value
		}
		return out
	})
}

// convert reads a T and hands on an U.
func convert[T, U any](in value[T], to func(T) U) value[U] {
	return value[U]{schema: in.schema, defs: in.defs, read: func(d *decoder, path string, n *node) (U, bool) {
		v, ok := in.read(d, path, n)
		if !ok {
			var zero U
			return zero, false
		}
		return to(v), true
	}}
}

func toInt(v int64) int                  { return int(v) }
func toPointer[T any](v T) *T            { return &v }
func toDuration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
func merge(all ...map[string]schema) (out map[string]schema) {
	out = map[string]schema{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// scalar tells whether the node is a single value.
func (n *node) scalar() bool { return n.kind != isMapping && n.kind != isSequence }

// describe names what was found, for messages.
func describe(n *node) string {
	switch n.kind {
	case isText:
		return strconv.Quote(n.text)
	case isMapping, isSequence, isNull:
		return string(n.kind)
	default:
		return n.text
	}
}

// plain turns a node into what encoding/json takes. Whole numbers and fractions keep every digit as written.
func (n *node) plain() any {
	switch n.kind {
	case isMapping:
		out := make(map[string]any, len(n.keys))
		for _, e := range n.keys {
			out[e.key] = e.value.plain()
		}
		return out
	case isSequence:
		out := make([]any, len(n.items))
		for i, it := range n.items {
			out[i] = it.plain()
		}
		return out
	case isInteger, isFloat:
		if json.Valid([]byte(n.text)) {
			return json.Number(n.text)
		}
		return n.text // 0x10, .inf and the like: the workload that reads it says what it wants instead
	case isBool:
		return strings.EqualFold(n.text, "true")
	case isNull:
		return nil
	default:
		return n.text
	}
}
