package lab

import (
	"encoding/json"

	"platter/guest"
)

// Study is what a person asks for, decoded from YAML with one scale and all overrides applied. It is syntax checked:
// Expand finds what makes no sense.
type Study struct {
	Name     string
	Question string
	About    string // background: source, era, what differs today
	Scale    string // "" is the study as written
	Machine  Machine
	Disks    []Disk // in the order written
	Factors  FactorLevels
	Steps    []step // the workload of a study that varies none
	Exclude  []Pattern
	Include  []Pattern
	Rounds   int
	Seed     *uint64 // nil: derived from the study

	Probes          []string
	Precondition    string
	QuiesceSeconds  float64
	SampleSeconds   float64
	DeadlineSeconds float64
	TrialSeconds    map[string]float64 // measured duration of one trial by accelerator, for the plan's estimate
	AllowUnsafe     bool
	Control         Pattern // cells that run twice; empty: none
	Claims          []Claim
	Successors      []Successor
	Era             []string

	scales []string
	levels map[string][]string // factor → levels in the file, before any override
	places map[string]Where
	faults Faults // found while decoding
}

// Scales returns the names of the scales the study defines.
func (s Study) Scales() []string { return s.scales }

// FactorLevels are the levels of each factor, in the order written.
type FactorLevels struct {
	Storage  []named[guest.Storage]
	Server   []named[server]
	Config   []named[config]
	Workload []named[workload]
	Engine   []named[string]

	order []string // factors in the order written
}

// config is the level of the config factor: options in the server's own names on top of a profile.
type config struct {
	Profile string
	Options map[string]string
}

// workload is the level of the workload factor.
type workload struct {
	Workload string                     // default of the steps that name none
	Options  map[string]json.RawMessage // defaults of the steps' options
	Steps    []step                     // nil: the steps the workload itself asks for
}

// step is one step as written.
type step struct {
	Do       string
	Name     string
	Workload string
	Options  map[string]json.RawMessage
	Seconds  float64
}

// Pattern selects cells: every factor named must have one of the levels.
type Pattern map[string][]string

// FactorNames are the factors of the study language, in their usual order.
var FactorNames = []string{"storage", "server", "config", "workload", "engine"}

// ParseStudy decodes a study. name is its file name, for messages; scale chooses one of its scales, "" none; sets are
// path=value overrides applied after the scale. The faults come back at once as an InputError that wraps Faults,
// beside the study as far as it could be read: Validate and Expand then add what else is wrong with it.
func ParseStudy(name string, data []byte, scale string, sets []string) (Study, error) {
	r := &reader{at: Where{File: name}}
	root := r.parse(data)
	if root != nil && root.kind != isMapping {
		r.fault(root.where, "", "a study is a mapping with the keys study, question, disks, factors, ...; got "+describe(root))
		root = nil
	}
	if root == nil {
		return Study{faults: r.faults}, r.faults.err()
	}
	d := &decoder{places: map[string]Where{}}
	levels := levelNames(root)
	checkScales(r, root, scale)
	applyScale(r, root, scale)
	applySets(r, root, sets)

	s, _ := language.read(d, "", root)
	s.Scale, s.levels, s.places = scale, levels, d.places
	s.faults = append(r.faults, d.faults...)
	return s, s.faults.err()
}

// levelNames lists every level of the file before overrides, so that a claim about a level which an override took away
// can be told from a claim about a level that never was.
func levelNames(root *node) map[string][]string {
	out := map[string][]string{}
	factors := root.get("factors")
	if factors == nil {
		return out
	}
	for _, f := range factors.keys {
		out[f.key] = f.value.names()
		for _, item := range f.value.items {
			out[f.key] = append(out[f.key], item.text)
		}
	}
	return out
}

// checkScales tries the scales that were not chosen too: a typo in one of them is a fault today, not on the day of the
// long run.
func checkScales(r *reader, root *node, chosen string) {
	scales := root.get("scales")
	if scales == nil || scales.kind != isMapping {
		return
	}
	for _, e := range scales.keys {
		if e.key == chosen || e.value.kind != isMapping {
			continue
		}
		copied := root.clone()
		applyScale(r, copied, e.key)
		probe := &decoder{places: map[string]Where{}}
		language.read(probe, "", copied)
		for _, f := range probe.faults {
			if e.value.spans(f.Where) {
				r.faults = append(r.faults, f)
			}
		}
	}
}

// clone copies a tree so that an override of the copy leaves the original alone.
func (n *node) clone() *node {
	out := *n
	out.keys, out.items = make([]entry, len(n.keys)), make([]*node, len(n.items))
	for i, e := range n.keys {
		out.keys[i] = entry{key: e.key, where: e.where, value: e.value.clone()}
	}
	for i, it := range n.items {
		out.items[i] = it.clone()
	}
	return &out
}

// spans tells whether a place belongs to a node of this tree.
func (n *node) spans(w Where) bool {
	if n.where == w {
		return true
	}
	for _, e := range n.keys {
		if e.where == w || e.value.spans(w) {
			return true
		}
	}
	for _, it := range n.items {
		if it.spans(w) {
			return true
		}
	}
	return false
}
