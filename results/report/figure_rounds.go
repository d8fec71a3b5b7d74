package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"platter/results"
	"platter/results/report/drawing"
)

// rounds are the rates at which a disk was written again and again before the trials of one cell, until it was steady.
type rounds struct {
	name   string // cell and disk
	column int
	rates  []float64 // medians of the cell's trials; NaN where no trial needed that round
}

// roundsFigure draws the rounds of preconditioning: the disk that a trial found is the one at the right end.
func (m *Model) roundsFigure() (Figure, bool) {
	lines := m.preconditionRounds()
	lines = slices.DeleteFunc(lines, func(r rounds) bool { return len(r.rates) < 2 })
	if len(lines) == 0 {
		return Figure{}, false
	}
	const title = "Writing disks until they are steady"
	wide, narrow := m.inWidths(func(width float64) *drawing.Drawing { return m.drawRounds(title, lines, width) })
	return Figure{ID: "rounds", Title: title, Drawing: wide, Narrow: narrow,
		Caption: "Each disk is written from end to end, round after round, before anything is made on it. One line a cell and disk, medians of its trials."}, true
}

// preconditionRounds reads the lines off the tables of probes, whose labels name the disk and the round.
func (m *Model) preconditionRounds() []rounds {
	tables := slices.DeleteFunc(slices.Clone(m.Tables), func(t Table) bool { return t.Metric.Name != "precondition_bytes_per_second" })
	slices.SortFunc(tables, func(a, b Table) int { return strings.Compare(a.Labels["when"], b.Labels["when"]) })
	var lines []rounds
	for _, t := range tables {
		var at int
		if _, err := fmt.Sscanf(t.Labels["when"], "round %d", &at); err != nil || at < 1 || at > maxBars {
			continue
		}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if e.Summary.Median == nil {
					continue
				}
				name := strings.Trim(strings.Join([]string{row.Row, e.Column, strings.TrimPrefix(t.Labels[probeLabel], "precondition:")}, ", "), ", ")
				i := slices.IndexFunc(lines, func(r rounds) bool { return r.name == name })
				if i < 0 {
					i, lines = len(lines), append(lines, rounds{name: name, column: m.columnIndex(e.Column)})
				}
				for len(lines[i].rates) < at {
					lines[i].rates = append(lines[i].rates, math.NaN())
				}
				lines[i].rates[at-1] = *e.Summary.Median
			}
		}
	}
	return lines
}

func (m *Model) drawRounds(title string, lines []rounds, width float64) *drawing.Drawing {
	d := &drawing.Drawing{Width: width, Title: title}
	top := legend(d, m.columnLabels())
	bottom := top + plotHeight*0.7
	d.Height = bottom + 28
	last, high := 0, 0.0
	for _, l := range lines {
		last = max(last, len(l.rates))
		for _, v := range l.rates {
			if v > high { // NaN is not
				high = v
			}
		}
	}
	megabytes := results.Scale{Divisor: 1e6, Suffix: " MB/s"}
	x := drawing.Scale{Low: 1, High: float64(last), From: plotLeft + 8, To: width - figureMargin - 8}
	y := drawing.Scale{Low: 0, High: math.Max(high*1.05, 1), From: bottom, To: top}
	yAxis(d, y, plotLeft, width-figureMargin, func(v float64) string { return axisNumber(v, megabytes) })
	for _, l := range lines {
		line := drawing.Mark{Shape: drawing.Line, Class: drawing.Series(l.column), Tip: l.name}
		for round, v := range l.rates {
			if math.IsNaN(v) {
				continue
			}
			p := drawing.Point{X: x.At(float64(round + 1)), Y: y.At(v)}
			line.Points = append(line.Points, p)
			d.Add(drawing.Mark{Shape: drawing.Dot, Class: drawing.Series(l.column), X: p.X, Y: p.Y, R: 2.6,
				Tip: fmt.Sprintf("%s, round %d: %s", l.name, round+1, megabytes.Format(v))})
		}
		d.Add(line)
	}
	d.HLine(drawing.Axis, plotLeft, width-figureMargin, bottom)
	d.Write(drawing.Label, plotLeft, bottom+lineHeight, drawing.Start, "first round")
	d.Write(drawing.Label, width-figureMargin, bottom+lineHeight, drawing.End, fmt.Sprintf("round %d", last))
	return d
}
