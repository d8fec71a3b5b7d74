package report

import (
	"fmt"
	"math"
	"slices"

	"platter/results"
	"platter/results/report/drawing"
)

// orderFigure draws the first headline metric in the order the trials ran, each against its own cell's median: a slope
// that all cells share is the lab's drift, not the subject's.
func (m *Model) orderFigure() (Figure, bool) {
	table := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Headline })
	if table < 0 {
		return Figure{}, false
	}
	t := m.Tables[table]
	place := map[string]int{}
	for i, trial := range m.Trials {
		place[trial.Run+"/"+trial.ID] = i
		place[trial.ID] = i
	}
	var points []orderPoint
	reach := 0.02
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			for i, v := range e.Summary.Values {
				if e.Summary.N < 2 || *e.Summary.Median == 0 {
					continue
				}
				change := v/(*e.Summary.Median) - 1
				reach = math.Max(reach, math.Abs(change))
				points = append(points, orderPoint{place[e.Trials[i]], change, m.columnIndex(e.Column),
					fmt.Sprintf("%s: %s against its cell's median", e.Trials[i], results.FormatChange(1+change))})
			}
		}
	}
	if len(points) < 3 {
		return Figure{}, false
	}
	title := t.Metric.Name + " in the order the trials ran"
	wide, narrow := m.inWidths(func(width float64) *drawing.Drawing { return m.drawOrder(title, points, reach, width) })
	return Figure{ID: "order", Title: title, Drawing: wide, Narrow: narrow,
		Caption: "Each trial against the median of its own cell. A slope that all cells share is drift of the laboratory, not of the subject."}, true
}

// orderPoint is one trial: its place among all, and what it differs by from its cell's median.
type orderPoint struct {
	at     int
	change float64
	column int
	tip    string
}

// drawOrder draws changes of up to reach in either direction.
func (m *Model) drawOrder(title string, points []orderPoint, reach, width float64) *drawing.Drawing {
	d := &drawing.Drawing{Width: width, Title: title}
	top := legend(d, m.columnLabels())
	bottom := top + plotHeight*0.7
	d.Height = bottom + 28
	x := drawing.Scale{Low: 0, High: float64(max(1, len(m.Trials)-1)), From: plotLeft + 8, To: width - figureMargin - 8}
	y := drawing.Scale{Low: -reach * 1.1, High: reach * 1.1, From: bottom, To: top}
	yAxis(d, y, plotLeft, width-figureMargin, func(v float64) string { return results.FormatChange(1 + v) })
	d.HLine(drawing.Axis, plotLeft, width-figureMargin, y.At(0))
	for _, p := range points {
		d.Add(drawing.Mark{Shape: drawing.Dot, Class: drawing.Series(p.column), X: x.At(float64(p.at)), Y: y.At(p.change), R: 3, Tip: p.tip})
	}
	d.Write(drawing.Label, plotLeft, bottom+lineHeight, drawing.Start, "first trial")
	d.Write(drawing.Label, width-figureMargin, bottom+lineHeight, drawing.End, "last trial")
	return d
}
