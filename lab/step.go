package lab

import (
	"encoding/json"
	"slices"
	"strings"
)

// The verbs of a step: those that run a workload, and those that do not.
var (
	workloadVerbs = []string{"prepare", "warmup", "run", "crash", "verify", "cleanup"}
	plainVerbs    = []string{"restart", "stop", "start", "drop_caches", "sleep"}
	verbs         = append(slices.Clone(workloadVerbs), plainVerbs...)
)

// stepValue accepts "restart", {sleep: 5s}, or {run: {workload: mysqlslap, concurrency: 10}, name: first}.
var stepValue = value[step]{
	schema: schema{"$ref": "#/$defs/step"},
	defs:   map[string]schema{"step": stepSchema()},
	read: func(d *decoder, path string, n *node) (step, bool) {
		if n.kind == isText {
			return readVerb(d, path, n, n.text, nil, step{})
		}
		if n.kind != isMapping {
			d.fault(n, path, "want a step such as restart, {sleep: 5s} or {run: {workload: mysqlslap}}, got %s", describe(n))
			return step{}, false
		}
		var out step
		ok := true
		if label := n.get("name"); label != nil {
			out.Name, ok = name.read(d, join(path, "name"), label)
		}
		for _, e := range n.keys {
			d.places[join(path, e.key)] = e.where
			if e.key == "name" {
				continue
			}
			if out.Do != "" {
				d.fault(&node{where: e.where}, join(path, e.key), "a step does one thing, and this one does %s already", out.Do)
				return out, false
			}
			var good bool
			out, good = readVerb(d, join(path, e.key), &node{where: e.where}, e.key, e.value, out)
			ok = ok && good
		}
		if out.Do == "" && ok {
			d.fault(n, path, "says nothing to do; accepted: %s", strings.Join(verbs, ", "))
			return out, false
		}
		return out, ok
	},
}

// readVerb reads what belongs to a verb into out. body is nil for a bare word.
func readVerb(d *decoder, path string, at *node, verb string, body *node, out step) (step, bool) {
	empty := body == nil || body.kind == isNull || body.kind == isMapping && len(body.keys) == 0
	out.Do = verb
	switch {
	case !slices.Contains(verbs, verb):
		d.fault(at, path, "%s", unknown("step", verb, verbs))
		return out, false
	case verb == "sleep":
		if body == nil {
			d.fault(at, path, "sleep needs a duration: {sleep: 5s}")
			return out, false
		}
		var ok bool
		out.Seconds, ok = duration.read(d, path, body)
		return out, ok
	case empty:
		return out, true
	case slices.Contains(plainVerbs, verb):
		d.fault(body, path, "%s takes nothing, got %s", verb, describe(body))
		return out, false
	case body.kind == isText:
		var ok bool
		out.Workload, ok = name.read(d, path, body)
		return out, ok
	default:
		w, ok := workloadBodyWithoutSteps(d, path, body)
		out.Workload, out.Options = w.Workload, w.Options
		return out, ok
	}
}

// workloadBodyWithoutSteps reads the body of a step: a workload and its options.
func workloadBodyWithoutSteps(d *decoder, path string, n *node) (workload, bool) {
	out := workload{Options: map[string]json.RawMessage{}}
	if n.kind != isMapping {
		d.fault(n, path, "want a mapping such as {workload: mysqlslap, concurrency: 10}, got %s", describe(n))
		return out, false
	}
	ok := true
	for _, e := range n.keys {
		at, good := join(path, e.key), false
		d.places[at] = e.where
		if e.key == "workload" {
			out.Workload, good = name.read(d, at, e.value)
		} else {
			out.Options[e.key], good = rawJSON.read(d, at, e.value)
		}
		ok = ok && good
	}
	return out, ok
}

func stepSchema() schema {
	bare := []string{}
	properties := schema{"name": schema{"type": "string", "description": "Label of the step in results."}}
	for _, v := range verbs {
		switch {
		case v == "sleep":
			properties[v] = duration.schema
		case slices.Contains(plainVerbs, v):
			bare = append(bare, v)
			properties[v] = schema{"type": []string{"null", "object"}, "maxProperties": 0}
		default:
			bare = append(bare, v)
			properties[v] = schema{"type": []string{"null", "string", "object"},
				"properties": schema{"workload": schema{"type": "string", "description": "Name of the workload; other keys are its options."}}}
		}
	}
	return schema{"oneOf": []schema{
		{"enum": bare},
		{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1},
	}}
}
