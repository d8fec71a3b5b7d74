package report

import (
	"maps"
	"slices"
	"strings"
)

// filter keeps the trials whose levels are asked for.
func (c *collection) filter(keep map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		if !slices.ContainsFunc(c.factors, func(f Factor) bool { return f.Name == name }) {
			return &OptionError{"filter", name, join(names(c.factors))}
		}
	}
	drop := func(t *trial) bool {
		for name, levels := range keep {
			if !slices.Contains(levels, t.factors[name]) {
				return true
			}
		}
		return false
	}
	c.trials, c.missing, c.controls = slices.DeleteFunc(c.trials, drop), slices.DeleteFunc(c.missing, drop), slices.DeleteFunc(c.controls, drop)
	for i := range c.factors {
		f := &c.factors[i]
		f.Levels = slices.DeleteFunc(slices.Clone(f.Levels), func(level string) bool {
			has := func(t *trial) bool { return t.factors[f.Name] == level }
			return !slices.ContainsFunc(c.trials, has) && !slices.ContainsFunc(c.missing, has)
		})
	}
	return nil
}

func names(factors []Factor) []string {
	out := make([]string, len(factors))
	for i, f := range factors {
		out[i] = f.Name
	}
	return out
}

// layOut decides which factors make rows and columns, and lists the labels of both in the plan's order.
func (b *builder) layOut(o Options) error {
	for _, f := range b.factors {
		if len(f.Levels) > 1 {
			b.varying = append(b.varying, f)
		}
	}
	for option, chosen := range map[string][]string{"row": o.Rows, "col": o.Columns} {
		for _, name := range chosen {
			if !slices.Contains(names(b.factors), name) {
				return &OptionError{option, name, join(names(b.factors))}
			}
		}
	}
	b.rows, b.columns = o.Rows, o.Columns
	for _, f := range b.varying {
		if len(b.columns) == 0 && !slices.Contains(b.rows, f.Name) {
			b.columns = []string{f.Name}
		}
	}
	for _, f := range b.varying { // what nobody asked for still tells cells apart
		if !slices.Contains(b.rows, f.Name) && !slices.Contains(b.columns, f.Name) {
			b.rows = append(slices.Clone(b.rows), f.Name)
		}
	}
	for _, t := range slices.Concat(b.trials, b.missing, b.controls) {
		t.row, t.column = label(t, b.rows), label(t, b.columns)
	}
	b.rowSet = b.labels(b.rows, func(t *trial) string { return t.row })
	b.colSet = b.labels(b.columns, func(t *trial) string { return t.column })
	if len(b.colSet) > 1 {
		b.base = b.colSet[0]
	}
	if o.Baseline != "" {
		if !slices.Contains(b.colSet, o.Baseline) {
			return &OptionError{"baseline", o.Baseline, join(b.colSet)}
		}
		b.base = o.Baseline
	}
	return nil
}

// labels lists the combinations of levels that trials have, in the order of the plan's levels.
func (b *builder) labels(factors []string, labelOf func(*trial) string) []string {
	ranks := map[string][]int{}
	for _, t := range slices.Concat(b.trials, b.missing) {
		label := labelOf(t)
		if ranks[label] != nil {
			continue
		}
		rank := []int{0}
		for _, name := range factors {
			i := slices.IndexFunc(b.factors, func(f Factor) bool { return f.Name == name })
			rank = append(rank, slices.Index(b.factors[i].Levels, t.factors[name]))
		}
		ranks[label] = rank
	}
	return slices.SortedFunc(maps.Keys(ranks), func(x, y string) int { return slices.Compare(ranks[x], ranks[y]) })
}

// label joins the levels of some factors: "xfs" or "xfs, mariadb-11.8".
func label(t *trial, factors []string) string {
	levels := make([]string, len(factors))
	for i, name := range factors {
		levels[i] = t.factors[name]
		if levels[i] == "" {
			levels[i] = "(no " + name + ")"
		}
	}
	return join(levels)
}

// cellName names a cell for people: its column, then its row.
func cellName(t *trial) string {
	name := strings.Trim(t.column+", "+t.row, ", ")
	if name == "" {
		return "the cell"
	}
	return name
}
