package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// Options choose what a report shows; the zero value is a good choice.
type Options struct {
	Rows     []string            // factors that make rows; default: all varying ones that are not columns
	Columns  []string            // factors that make columns; default: the first varying one
	Filter   map[string][]string // factor → levels to keep
	Metrics  []string            // metric names to show instead of the headline ones
	Baseline string              // level of the columns that others are compared against; default: the first
	Anyway   bool                // compare even what differs in accelerator, cache mode, durability, size or version
}

// NothingError says that there is nothing to show: no folder, no trial, or nothing left by the filter.
type NothingError struct{ Reason string }

// Error gives the reason.
func (e *NothingError) Error() string { return "nothing to report: " + e.Reason }

// OptionError says that an option names what the runs do not have.
type OptionError struct{ Option, Value, Known string }

// Error lists what there is.
func (e *OptionError) Error() string {
	return fmt.Sprintf("--%s %s: the runs have no such thing; there is %s", e.Option, e.Value, e.Known)
}

// Build reads the folders and makes the Model. Broken files do not stop it: they are in Model.Problems, and Model.Partial
// says so. The error is a *NothingError or an *OptionError.
func Build(folders []Folder, o Options) (*Model, error) {
	c := collect(folders)
	if len(c.plans) == 0 {
		reason := "no run folder given"
		if len(c.problems) > 0 {
			reason = "no run folder could be read: " + strings.Join(c.problems, "; ")
		}
		return nil, &NothingError{reason}
	}
	if err := c.filter(o.Filter); err != nil {
		return nil, err
	}
	if len(c.trials)+len(c.missing) == 0 {
		return nil, &NothingError{"the runs have no trial" + map[bool]string{true: " that the filter keeps"}[len(o.Filter) > 0]}
	}
	b := builder{collection: c, notes: &notes{}, anyway: o.Anyway}
	if err := b.layOut(o); err != nil {
		return nil, err
	}
	m, err := b.model(o)
	if err != nil {
		return nil, err
	}
	m.Latency = b.latencies()
	m.Problems = b.problems
	b.readSamples(folders, m)
	return m, nil
}

// builder holds the layout while the Model is made.
type builder struct {
	collection
	varying []Factor // factors with at least two levels
	rows    []string
	columns []string
	base    string // column label of the baseline; empty when there is nothing to compare
	rowSet  []string
	colSet  []string
	notes   *notes
	facts   cellFacts
	anyway  bool
}

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
	c.trials, c.missing = slices.DeleteFunc(c.trials, drop), slices.DeleteFunc(c.missing, drop)
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
	for _, t := range slices.Concat(b.trials, b.missing) {
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

// model fills in the Model.
func (b *builder) model(o Options) (*Model, error) {
	p := b.plans[0]
	m := &Model{
		Schema: Schema, Study: p.Study, Scale: p.Scale, Question: oneLine(p.Question),
		Accelerators: sorted(b.titles.accelerators), Caches: sorted(b.titles.caches),
		Durability: sorted(b.titles.durability), Emulated: sorted(b.titles.emulated),
		Runs: b.runs, Factors: b.varying, Rows: b.rows, Columns: b.columns, Baseline: b.base, Problems: b.problems, Again: unique(b.again),
	}
	for _, other := range b.plans[1:] {
		if other.Study != p.Study {
			m.Study += " + " + other.Study
		}
	}
	for _, note := range p.Notes {
		b.notes.add("plan", oneLine(note))
	}
	m.Cells = b.cells()
	for _, cell := range m.Cells {
		m.Counts.add(cell.Counts)
	}
	b.facts = gatherFacts(b.trials, b.columns)
	tables, err := b.tables(o.Metrics)
	if err != nil {
		return nil, err
	}
	m.Tables = tables
	m.Claims = b.claims()
	m.Lab = b.lab()
	m.Held, m.Differs = compareFacts(b.trials, b.varying, cellName)
	m.Trials = b.list()
	m.Answer = answer(m)
	m.Notes = b.notes.list
	return m, nil
}

// cells counts what became of the trials of each cell, and notes flags and failures.
func (b *builder) cells() []Cell {
	var cells []Cell
	for _, row := range b.rowSet {
		for _, column := range b.colSet {
			cell := Cell{Row: row, Column: column, Levels: map[string]string{}}
			in := func(t *trial) bool { return t.row == row && t.column == column }
			for _, t := range b.trials {
				if !in(t) {
					continue
				}
				cell.Counts.count(t)
				b.fillLevels(&cell, t)
				b.noteTrial(&cell, t)
			}
			for _, t := range b.missing {
				if in(t) {
					cell.Counts.Missing++
					b.fillLevels(&cell, t)
				}
			}
			if len(cell.Levels) > 0 || len(b.varying) == 0 {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

func (b *builder) fillLevels(cell *Cell, t *trial) {
	for _, name := range slices.Concat(b.rows, b.columns) {
		cell.Levels[name] = t.factors[name]
	}
}

// noteTrial makes footnotes of a trial's flags and of how it failed.
func (b *builder) noteTrial(cell *Cell, t *trial) {
	for _, flag := range t.flags {
		cell.Notes = b.notes.attach(cell.Notes, flag.Name, fmt.Sprintf("%s: %s", flag.Name, oneLine(flag.Detail)))
	}
	if t.status != results.StatusOK {
		cell.Notes = b.notes.attach(cell.Notes, string(t.status), fmt.Sprintf("%s: %s", t.status, t.reason))
	}
}

func (c *Counts) count(t *trial) {
	c.Retried += t.retried
	switch t.status {
	case results.StatusOK:
		c.OK++
	case results.StatusInvalid:
		c.Invalid++
	case results.StatusFailed:
		c.Failed++
	case results.StatusSkipped:
		c.Skipped++
	case results.StatusInterrupted:
		c.Interrupted++
	default:
		c.Lost++
	}
}

func (c *Counts) add(o Counts) {
	c.OK += o.OK
	c.Invalid += o.Invalid
	c.Failed += o.Failed
	c.Skipped += o.Skipped
	c.Lost += o.Lost
	c.Interrupted += o.Interrupted
	c.Missing += o.Missing
	c.Retried += o.Retried
}

// lab summarises the laboratory's own times over all trials that have them.
func (b *builder) lab() Lab {
	var boot, overhead, guest []float64
	for _, t := range b.trials {
		boot, overhead, guest = append1(boot, t.boot), append1(overhead, t.overhead), append1(guest, t.guest)
	}
	return Lab{stats.Summarize(boot), stats.Summarize(overhead), stats.Summarize(guest)}
}

func append1(values []float64, v *float64) []float64 {
	if v == nil {
		return values
	}
	return append(values, *v)
}

// list lists the trials in the order they ran; the missing ones come last.
func (b *builder) list() []Trial {
	var list []Trial
	for _, t := range slices.Concat(b.trials, b.missing) {
		list = append(list, Trial{Run: t.run, ID: t.id, Round: t.round, Attempt: t.attempt, Row: t.row, Column: t.column,
			Status: t.status, Reason: t.reason, Evidence: t.evidence, Boot: t.boot, Overhead: t.overhead, Wall: t.wall})
	}
	for i := range list {
		if list[i].Status == "" {
			list[i].Status, list[i].Reason = "missing", "planned and never ended"
		}
	}
	return list
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

func unique(lines []string) []string {
	var out []string
	for _, line := range lines {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}
