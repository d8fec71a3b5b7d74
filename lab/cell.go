package lab

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"platter/guest"
	"platter/images"
	"platter/results"
)

// ServerSerial is the serial of the disk that holds a trial's server image.
const ServerSerial = "platter-server"

// cell is one combination of levels, resolved.
type cell struct {
	levels  map[string]string
	factors []string // in the study's order
	storage guest.Storage
	server  guest.Server
	tarball *images.Tarball // what the server's image is made of; nil for one of the catalogue
	steps   []guest.Step
	disks   []Disk
	root    string
	addons  []string
}

// level is one level of one factor and what it does to a cell.
type level struct {
	name  string
	apply func(*cell)
}

// axes returns the factors of the study with their levels.
func (s Study) axes() (factors []Factor, levels [][]level) {
	for _, f := range s.Factors.order {
		var axis []level
		switch f {
		case "storage":
			axis = axisOf(s.Factors.Storage, func(c *cell, v guest.Storage) { c.storage = v })
		case "server":
			axis = axisOf(s.Factors.Server, func(c *cell, v server) {
				c.server.Image, c.server.StartLimitSeconds, c.tarball = v.Image, v.StartLimitSeconds, v.Tarball
			})
		case "config":
			axis = axisOf(s.Factors.Config, func(c *cell, v config) { c.server.Profile, c.server.Options = v.Profile, v.Options })
		case "workload":
			axis = axisOf(s.Factors.Workload, func(*cell, workload) {})
		case "engine":
			axis = axisOf(s.Factors.Engine, func(*cell, string) {})
		}
		names := make([]string, len(axis))
		for i, l := range axis {
			names[i] = l.name
		}
		factors, levels = append(factors, Factor{f, names}), append(levels, axis)
	}
	return factors, levels
}

func axisOf[T any](list []named[T], apply func(*cell, T)) []level {
	out := make([]level, len(list))
	for i, e := range list {
		out[i] = level{e.Name, func(c *cell) { apply(c, e.Value) }}
	}
	return out
}

// cells returns every combination that the study keeps, in the study's order: the last factor varies fastest.
func (s Study) cells() []cell {
	factors, levels := s.axes()
	out := []cell{{levels: map[string]string{}}}
	for i, f := range factors {
		var next []cell
		for _, c := range out {
			for _, l := range levels[i] {
				n := c
				n.levels = maps.Clone(c.levels)
				n.levels[f.Name] = l.name
				n.factors = append(slices.Clone(c.factors), f.Name)
				l.apply(&n)
				next = append(next, n)
			}
		}
		out = next
	}
	return slices.DeleteFunc(out, func(c cell) bool {
		return matchesAny(s.Exclude, c.levels) && !matchesAny(s.Include, c.levels)
	})
}

// Match tells whether every factor the pattern names has one of its levels.
func (p Pattern) Match(levels map[string]string) bool {
	for factor, wanted := range p {
		if !slices.Contains(wanted, levels[factor]) {
			return false
		}
	}
	return true
}

func matchesAny(patterns []Pattern, levels map[string]string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(levels) })
}

// workloadOf returns the workload level of a cell and where it stands; a study without that factor has one, its steps.
func (s Study) workloadOf(c cell) (w workload, path string) {
	for _, e := range s.Factors.Workload {
		if e.Name == c.levels["workload"] {
			return e.Value, "factors.workload." + e.Name
		}
	}
	return workload{Steps: s.Steps}, "steps"
}

// engineOf returns the engine a cell's level stands for, "" when engines do not vary.
func (s Study) engineOf(c cell) string {
	for _, e := range s.Factors.Engine {
		if e.Name == c.levels["engine"] {
			return e.Value
		}
	}
	return ""
}

// steps resolves a workload level into the steps the guest is told. Problems come back with their step's index, or -1.
func (w workload) steps(engine string, r Registry) (out []guest.Step, problems []keyed) {
	written, single := w.Steps, w.Steps == nil
	if single {
		names, err := r.Verbs(w.Workload)
		if err != nil {
			return nil, []keyed{{"", err.Error()}}
		}
		for _, v := range names {
			written = append(written, step{Do: v})
		}
	}
	taken := map[string]int{}
	for i, st := range written {
		at := fmt.Sprintf("steps.%d.%s", i, st.Do)
		if single {
			at = ""
		}
		resolved := guest.Step{Do: st.Do, Name: st.Name, Seconds: st.Seconds}
		if slices.Contains(workloadVerbs, st.Do) {
			var problem string
			resolved.Workload, resolved.Options, problem = w.options(st, engine, r)
			if problem != "" {
				problems = append(problems, keyed{at, problem})
			}
		}
		resolved.Name = uniqueName(taken, resolved)
		out = append(out, resolved)
	}
	return out, problems
}

// options lays the options of a step over those of its level and adds the engine factor's.
func (w workload) options(st step, engine string, r Registry) (name string, options json.RawMessage, problem string) {
	name, all := st.Workload, map[string]json.RawMessage{}
	if name == "" || name == w.Workload {
		name = w.Workload
		maps.Copy(all, w.Options)
	}
	if name == "" {
		return "", nil, fmt.Sprintf("names no workload: write {%s: {workload: NAME}} or give the level one", st.Do)
	}
	maps.Copy(all, st.Options)
	if option := r.EngineOption(name); engine != "" && option != "" {
		if _, twice := all[option]; twice {
			return name, nil, fmt.Sprintf("sets %s, which the factor engine varies; leave it out in one of the two", option)
		}
		all[option], _ = json.Marshal(engine) // a string always encodes
	}
	if len(all) == 0 {
		return name, nil, ""
	}
	options, err := json.Marshal(all)
	if err != nil {
		return name, nil, err.Error()
	}
	return name, options, ""
}

// uniqueName labels a step so that results can tell it from the others: its own name, else its verb, numbered from the
// second one on.
func uniqueName(taken map[string]int, st guest.Step) string {
	label := st.Name
	if label == "" {
		label = st.Do
	}
	taken[label]++
	if n := taken[label]; n > 1 {
		label = fmt.Sprintf("%s-%d", label, n)
	}
	return label
}

// slug is the cell's part of a folder name: its levels, readable and safe.
func (c cell) slug(varying map[string]bool) string {
	var parts []string
	for _, f := range c.factors {
		if varying[f] {
			parts = append(parts, c.levels[f])
		}
	}
	if len(parts) == 0 {
		parts = []string{c.levels["storage"]}
	}
	text := strings.Join(parts, "-")
	return strings.TrimRight(text[:min(len(text), 60)], ".-_+")
}

// name is the readable name of a trial, in the form benchstat reads.
func (c cell) name(study string, round int) string {
	parts := []string{study}
	if w := c.levels["workload"]; w != "" {
		parts[0] = w
	}
	for _, f := range c.factors {
		if f != "workload" {
			parts = append(parts, f+"="+c.levels[f])
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("round=%d", round)), "/")
}

// id is the fingerprint of everything that makes the cell: not serials, labels of steps, seeds or rounds.
func (c cell) id(s Study) (string, error) {
	disks := slices.Clone(c.disks)
	for i := range disks {
		disks[i].Serial = ""
	}
	steps := slices.Clone(c.steps)
	for i := range steps {
		steps[i].Name = ""
	}
	server := c.server
	server.Serial = ""
	return results.CellID(map[string]any{
		"factors": c.levels, "machine": s.Machine, "disks": disks, "root": c.root, "addons": c.addons,
		"storage": c.storage, "server": server, "steps": steps, "precondition": s.Precondition, "probes": s.Probes,
		"quiesce_seconds": s.QuiesceSeconds,
	})
}
