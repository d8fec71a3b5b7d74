package report

import (
	"fmt"
	"slices"

	"platter/results"
)

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
	case "":
		c.Missing++
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
