package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// override replaces the value at path below root, as a scale or a --set asks. A key that does not exist yet is added
// (the decoder refuses it if the language has none of that name). It returns what is wrong, or "".
func override(root *node, path string, value *node, where Where) string {
	at, rest, done := root, path, ""
	for {
		switch at.kind {
		case isMapping:
			key, tail := nextKey(at, rest)
			if key == "" {
				return fmt.Sprintf("path %q has an empty key", path)
			}
			i := indexOf(at, key)
			if i < 0 && tail != "" && holdsNames(done) {
				return unknown("name", key, at.names()) + " (in " + done + ")"
			}
			if i < 0 {
				at.keys = append(at.keys, entry{key: key, where: where, value: &node{kind: isMapping, where: where}})
				i = len(at.keys) - 1
			}
			if tail == "" {
				at.keys[i].value = value
				return ""
			}
			if at.keys[i].value.kind == isNull {
				at.keys[i].value = &node{kind: isMapping, where: where}
			}
			at, rest, done = at.keys[i].value, tail, join(done, key)
		case isSequence:
			head, tail, _ := strings.Cut(rest, ".")
			i, err := strconv.Atoi(head)
			if err != nil || i < 0 || i >= len(at.items) {
				return fmt.Sprintf("%s is a list of %d: give an index from 0 to %d, or replace the whole list", done, len(at.items), len(at.items)-1)
			}
			if tail == "" {
				at.items[i] = value
				return ""
			}
			at, rest, done = at.items[i], tail, join(done, head)
		default:
			return fmt.Sprintf("%s is %s and has no keys", done, at.kind)
		}
	}
}

// holdsNames tells whether the keys of a mapping are the user's own names (disks, levels). An override may add a whole
// disk or level there, but a path through one that does not exist is a slip of the keyboard.
func holdsNames(path string) bool {
	return path == "disks" || strings.HasPrefix(path, "factors.") && strings.Count(path, ".") == 1
}

// nextKey splits the next key off a path. Keys may hold dots themselves (mysql-9.7), so the longest key that exists
// wins; otherwise the key ends at the next dot.
func nextKey(at *node, rest string) (key, tail string) {
	for _, e := range at.keys {
		if len(e.key) > len(key) && (rest == e.key || strings.HasPrefix(rest, e.key+".")) {
			key = e.key
		}
	}
	if key == "" {
		key, tail, _ = strings.Cut(rest, ".")
		return key, tail
	}
	return key, strings.TrimPrefix(rest[len(key):], ".")
}

func indexOf(n *node, key string) int {
	for i, e := range n.keys {
		if e.key == key {
			return i
		}
	}
	return -1
}

// applyScale carries out the overrides of one scale.
func applyScale(r *reader, root *node, scale string) {
	scales := root.get("scales")
	if scale == "" {
		return
	}
	if scales == nil || scales.kind != isMapping || len(scales.keys) == 0 {
		r.fault(r.at, "scales", fmt.Sprintf("the study has no scales, so %q cannot be chosen", scale))
		return
	}
	chosen := scales.get(scale)
	if chosen == nil {
		r.fault(scales.where, "scales", unknown("scale", scale, scales.names()))
		return
	}
	for _, e := range chosen.keys {
		if problem := override(root, e.key, e.value, e.where); problem != "" {
			r.fault(e.where, "scales."+scale, problem)
		}
	}
}

// applySets carries out the --set overrides in order.
func applySets(r *reader, root *node, sets []string) {
	for _, set := range sets {
		where := Where{Set: set}
		path, text, ok := strings.Cut(set, "=")
		if !ok || path == "" {
			r.fault(where, "", "not path=value, e.g. rounds=3 or disks.data.size=4GiB")
			continue
		}
		if path == "scales" || strings.HasPrefix(path, "scales.") {
			r.fault(where, "", "scales cannot be set: choose one with study@scale and set single paths")
			continue
		}
		sub := reader{at: where}
		value := sub.parse([]byte(text))
		r.faults = append(r.faults, sub.faults...)
		if value == nil {
			continue
		}
		if problem := override(root, path, value, where); problem != "" {
			r.fault(where, path, problem)
		}
	}
}
