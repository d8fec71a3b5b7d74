package report

import (
	"maps"
	"slices"
	"strings"
)

// differing is one fact over all valid trials, while it is gathered.
type differing struct {
	owners []string // factors that vary and may change it
	values map[string]*ValueCount
	asked  map[string]map[string]bool // what was asked → what became of it
	groups map[string]map[string]bool // levels of the owners → values
	trials int
}

// compareFacts splits facts into those that all trials share and those that differ. Only valid trials are asked: the
// facts of a trial without numbers explain no number. Differences that nobody declared come first.
func compareFacts(trials []*trial, varying []Factor, place func(*trial) string) (held []Fact, differs []Difference) {
	valid := slices.DeleteFunc(slices.Clone(trials), func(t *trial) bool { return t.status != "ok" })
	byName := map[string]*differing{}
	var order []string
	for _, t := range valid {
		for _, f := range t.facts {
			d := byName[f.name]
			if d == nil {
				d = &differing{values: map[string]*ValueCount{}, asked: map[string]map[string]bool{}, groups: map[string]map[string]bool{}}
				d.owners = slices.DeleteFunc(slices.Clone(f.owners), func(o string) bool { return !slices.Contains(names(varying), o) })
				byName[f.name] = d
				order = append(order, f.name)
			}
			d.add(t, f, place(t))
		}
	}
	for _, name := range order {
		d := byName[name]
		if len(d.values) == 1 && d.trials == len(valid) {
			held = append(held, Fact{name, slices.Collect(maps.Keys(d.values))[0]})
			continue
		}
		out := Difference{Name: name, Declared: d.declared(valid)}
		if name == cellFingerprint && out.Declared {
			continue // cells differ in what was declared: that is what makes them cells
		}
		for _, value := range slices.Sorted(maps.Keys(d.values)) {
			out.Values = append(out.Values, *d.values[value])
		}
		differs = append(differs, out)
	}
	slices.SortStableFunc(differs, func(a, b Difference) int {
		switch {
		case a.Declared == b.Declared:
			return 0
		case b.Declared:
			return -1
		default:
			return 1
		}
	})
	return held, differs
}

func (d *differing) add(t *trial, f fact, cell string) {
	v := d.values[f.value]
	if v == nil {
		v = &ValueCount{Value: f.value}
		d.values[f.value] = v
	}
	v.Trials++
	d.trials++
	if !slices.Contains(v.Cells, cell) {
		v.Cells = append(v.Cells, cell)
	}
	if f.asked != "" {
		put2(d.asked, f.asked, f.value)
	}
	put2(d.groups, d.group(t), f.value)
}

// group is a trial's levels of the owners.
func (d *differing) group(t *trial) string {
	levels := make([]string, len(d.owners))
	for i, owner := range d.owners {
		levels[i] = t.factors[owner]
	}
	return strings.Join(levels, "\x00")
}

// declared reports whether the factors that may change a fact explain it wholly: each of their levels has one value, and
// none that came out otherwise than another although the same was asked.
func (d *differing) declared(valid []*trial) bool {
	if len(d.owners) == 0 {
		return false
	}
	trials := map[string]int{}
	for _, t := range valid {
		trials[d.group(t)]++
	}
	with := 0 // trials of the levels that have the fact at all
	for group, values := range d.groups {
		if len(values) > 1 {
			return false
		}
		with += trials[group]
	}
	for _, values := range d.asked {
		if len(values) > 1 {
			return false
		}
	}
	return with == d.trials
}

func put2(sets map[string]map[string]bool, key, value string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][value] = true
}
