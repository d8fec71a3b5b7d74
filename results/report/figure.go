package report

import (
	"fmt"
	"math"
	"slices"

	"platter/results"
	"platter/results/report/drawing"
	"platter/results/stats"
)

// Figure is one picture of the Model. It shows nothing that the Model does not hold.
type Figure struct {
	ID      string // safe as a file name
	Title   string
	Caption string // how to read it
	Legend  []string
	Drawing *drawing.Drawing
	Narrow  *drawing.Drawing // the same for a page that may be as narrow as a phone; nil where it would not fit
}

// The lay-out of figures, in points.
const (
	figureWidth  = 760.0
	narrowWidth  = 480.0
	figureMargin = 12.0
	lineHeight   = 16.0
	maxBars      = 60 // cells in one figure of bars; the tables hold all
	maxFigures   = 24 // of one kind
)

// Figures draws everything there is to draw, in the order a report shows it.
func (m *Model) Figures() []Figure {
	var figures []Figure
	for _, t := range m.Tables {
		if t.Headline && len(figures) < maxFigures {
			if f, ok := m.bars(t); ok {
				figures = append(figures, f)
			}
		}
	}
	figures = append(figures, m.timelines()...)
	figures = append(figures, m.latencyFigures()...)
	if f, ok := m.orderFigure(); ok {
		figures = append(figures, f)
	}
	if f, ok := m.roundsFigure(); ok {
		figures = append(figures, f)
	}
	return figures
}

// columnIndex numbers a column, for its colour.
func (m *Model) columnIndex(column string) int { return max(0, slices.Index(m.columnLabels(), column)) }

// bar is one cell of a figure of bars.
type bar struct {
	label  string
	column int
	entry  Entry
}

// bars draws a metric: a bar from zero to the median, the interval, and a dot for each trial.
func (m *Model) bars(t Table) (Figure, bool) {
	var list []bar
	largest := 0.0
	var all []float64
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			if e.Summary.Median == nil {
				continue
			}
			label := e.Column
			if row.Row != "" {
				label = row.Row + " · " + e.Column
			}
			list = append(list, bar{label, m.columnIndex(e.Column), e})
			largest = math.Max(largest, *e.Summary.Maximum)
			all = append(all, e.Summary.Values...)
		}
	}
	if len(list) == 0 || largest <= 0 || slices.Min(all) < 0 {
		return Figure{}, false
	}
	caption := fmt.Sprintf("Bars end at the median, %s. Dots are single trials; the bracket is the 95%% interval of the median, where n allows one.", judgedBy(t))
	if len(list) > maxBars {
		caption += fmt.Sprintf(" The first %d of %d cells; the table has all.", maxBars, len(list))
		list = list[:maxBars]
	}
	f := Figure{ID: figureID("bars", t.Key), Title: heading(t), Caption: caption}
	labels := 0.0
	for _, b := range list {
		labels = math.Max(labels, drawing.TextWidth(b.label))
	}
	f.Drawing = drawBars(f.Title, list, scale(t), largest, math.Min(labels, figureWidth/3), figureWidth)
	if labels <= narrowWidth/3 {
		f.Narrow = drawBars(f.Title, list, scale(t), largest, labels, narrowWidth)
	}
	return f, true
}

func drawBars(title string, list []bar, s results.Scale, largest, labelWidth, width float64) *drawing.Drawing {
	const barHeight, gap, valueWidth = 20.0, 12.0, 100.0
	left, right := figureMargin+labelWidth+10, width-valueWidth
	d := &drawing.Drawing{Width: width, Height: 30 + float64(len(list))*(barHeight+gap) + 26, Title: "bars: " + title}
	x := drawing.Scale{Low: 0, High: largest * 1.02, From: left, To: right}
	bottom := d.Height - 26
	xAxis(d, x, 16, bottom, func(v float64) string { return axisNumber(v, s) })
	for i, b := range list {
		top := 24 + float64(i)*(barHeight+gap)
		middle := top + barHeight/2
		d.Write(drawing.Label, left-8, middle+4, drawing.End, fit(b.label, labelWidth))
		median := *b.entry.Summary.Median
		d.Add(drawing.Mark{Shape: drawing.Rect, Class: drawing.Faint(b.column), X: left, Y: top, W: x.At(median) - left, H: barHeight,
			Tip: b.label + ": median " + s.Format(median)})
		for k, v := range b.entry.Summary.Values {
			offset := (float64(k%5) - 2) * barHeight / 7 // apart, so that equal values are seen
			d.Add(drawing.Mark{Shape: drawing.Dot, Class: drawing.Series(b.column), X: x.At(v), Y: middle + offset, R: 2.6,
				Tip: b.entry.Trials[k] + ": " + s.Format(v)})
		}
		drawInterval(d, b.entry.Summary, x, middle, barHeight)
		furthest := math.Max(x.At(*b.entry.Summary.Maximum), x.At(median))
		if b.entry.Summary.High != nil {
			furthest = math.Max(furthest, x.At(*b.entry.Summary.High))
		}
		d.Write(drawing.Strong, furthest+8, middle+4, drawing.Start, s.Format(median))
	}
	d.VLine(drawing.Axis, left, 16, bottom)
	return d
}

func drawInterval(d *drawing.Drawing, s stats.Summary, x drawing.Scale, middle, height float64) {
	if s.Low == nil {
		return
	}
	low, high := x.At(*s.Low), x.At(*s.High)
	d.HLine(drawing.Bound, low, high, middle)
	d.VLine(drawing.Bound, low, middle-height/4, middle+height/4)
	d.VLine(drawing.Bound, high, middle-height/4, middle+height/4)
}

// xAxis draws grid lines and labels along the bottom.
func xAxis(d *drawing.Drawing, x drawing.Scale, top, bottom float64, label func(float64) string) {
	last := math.Inf(-1)
	for _, tick := range x.Ticks() {
		at := x.At(tick.Value)
		if !tick.Label {
			continue
		}
		d.VLine(drawing.Grid, at, top, bottom)
		text := label(tick.Value)
		if at-drawing.TextWidth(text)/2 > last+4 { // labels must not touch
			d.Write(drawing.Label, at, bottom+lineHeight, drawing.Middle, text)
			last = at + drawing.TextWidth(text)/2
		}
	}
	d.HLine(drawing.Axis, x.From, x.To, bottom)
}

// yAxis draws grid lines and labels along the left.
func yAxis(d *drawing.Drawing, y drawing.Scale, left, right float64, label func(float64) string) {
	for _, tick := range y.Ticks() {
		if tick.Label {
			at := y.At(tick.Value)
			d.HLine(drawing.Grid, left, right, at)
			d.Write(drawing.Label, left-6, at+4, drawing.End, label(tick.Value))
		}
	}
}

// axisNumber prints a tick without needless zeros.
func axisNumber(v float64, s results.Scale) string {
	return trimZeros(results.FormatNumber(v/s.Divisor)) + s.Suffix
}

// legend draws the names of columns above a figure and returns where the figure may begin.
func legend(d *drawing.Drawing, columns []string) float64 {
	x, y := figureMargin, 16.0
	for i, column := range columns {
		name := fit(column, d.Width/3)
		width := drawing.TextWidth(name) + 30
		if x+width > d.Width-figureMargin && x > figureMargin {
			x, y = figureMargin, y+lineHeight
		}
		d.Add(drawing.Mark{Shape: drawing.Rect, Class: drawing.Series(i), X: x, Y: y - 9, W: 10, H: 10})
		d.Write(drawing.Label, x+15, y, drawing.Start, name)
		x += width
	}
	return y + 14
}
