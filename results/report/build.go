package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	b.readSamples(folders)
	m, err := b.model(o)
	if err != nil {
		return nil, err
	}
	m.Latency = b.latencies()
	m.Problems, m.Series, m.Kernel = b.problems, b.sampled.series, b.sampled.kernel
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
	sampled sampled
	anyway  bool
}

// model fills in the Model.
func (b *builder) model(o Options) (*Model, error) {
	p := b.plans[0]
	m := &Model{
		Schema: Schema, Study: p.Study, Scale: p.Scale, Question: oneLine(p.Question),
		Accelerators: sorted(b.titles.accelerators), Caches: sorted(b.titles.caches),
		Durability: sorted(b.titles.durability), Emulated: sorted(b.titles.emulated), Passthrough: sorted(b.titles.passthrough),
		Runs: b.runs, Factors: b.varying, Rows: b.rows, Columns: b.columns, Baseline: b.base, Problems: b.problems, Unended: b.unended, Again: unique(b.again),
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
	for _, t := range b.controls {
		m.Counts.count(t)
	}
	b.facts = gatherFacts(b.trials, b.columns)
	tables, err := b.tables(o.Metrics)
	if err != nil {
		return nil, err
	}
	m.Tables, m.Controls = tables, b.controlTables(tables)
	b.veto(m)
	b.noteComparisons(tables)
	m.Claims = b.claims()
	m.Published = b.published()
	m.Lab = b.lab()
	m.Held, m.Differs = compareFacts(b.trials, b.varying, cellName)
	m.Trials = b.list()
	m.Notes = b.notes.list
	m.Answer = answer(m)
	return m, nil
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
	for _, t := range slices.Concat(b.trials, b.missing, b.controls) {
		list = append(list, Trial{Run: t.run, ID: t.id, Round: t.round, Attempt: t.attempt, Row: t.row, Column: t.column,
			Control: t.control, Steady: t.steady, Status: t.status, Reason: t.reason, Evidence: t.evidence, Boot: t.boot, Overhead: t.overhead, Wall: t.wall})
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
