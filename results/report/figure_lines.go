package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"platter/results"
	"platter/results/report/drawing"
)

const (
	plotHeight = 220.0
	plotLeft   = 74.0
)

// timelines draws the rate over time, one figure a row of cells and step, and one line a trial.
func (m *Model) timelines() []Figure {
	var figures []Figure
	name := func(s Series) string {
		if s.Row == "" {
			return s.Name + ", step " + s.Step
		}
		return s.Name + ", step " + s.Step + ", " + s.Row
	}
	for _, what := range rowsOf(m.Series, name) {
		lines := slices.DeleteFunc(slices.Clone(m.Series), func(s Series) bool { return name(s) != what })
		title := what + " over time"
		wide, narrow := m.inWidths(func(width float64) *drawing.Drawing { return m.drawTimeline(title, lines, width) })
		figures = append(figures, Figure{ID: figureID("time", what), Title: title, Drawing: wide, Narrow: narrow,
			Caption: "One line a trial, one value a second; long trials are thinned so that the lowest and the highest of each part stay. Warm-up is shaded."})
	}
	return figures[:min(len(figures), maxFigures)]
}

// inWidths draws a figure for a sheet and, where the names of its columns fit, for a phone.
func (m *Model) inWidths(draw func(width float64) *drawing.Drawing) (wide, narrow *drawing.Drawing) {
	fits := !slices.ContainsFunc(m.columnLabels(), func(c string) bool { return drawing.TextWidth(c) > narrowWidth/3 })
	if fits {
		narrow = draw(narrowWidth)
	}
	return draw(figureWidth), narrow
}

func (m *Model) drawTimeline(title string, lines []Series, width float64) *drawing.Drawing {
	d := &drawing.Drawing{Width: width, Title: title}
	top := legend(d, m.columnLabels())
	bottom := top + plotHeight
	d.Height = bottom + 28
	end, high, warmup := 0.0, 0.0, 0.0
	for _, s := range lines {
		end, high = math.Max(end, slices.Max(s.Seconds)), math.Max(high, slices.Max(s.Values))
		warmup = math.Max(warmup, s.Warmup)
	}
	x := drawing.Scale{Low: 0, High: math.Max(end, 1), From: plotLeft, To: width - figureMargin}
	y := drawing.Scale{Low: 0, High: math.Max(high*1.05, 1), From: bottom, To: top}
	if warmup > 0 {
		d.Add(drawing.Mark{Shape: drawing.Rect, Class: drawing.Shade, X: x.From, Y: top, W: x.At(warmup) - x.From, H: plotHeight, Tip: "warm-up, not measured"})
	}
	yAxis(d, y, x.From, x.To, func(v float64) string { return axisNumber(v, results.ScaleOf(results.PerSecond)) })
	xAxis(d, x, top, bottom, func(v float64) string { return trimZeros(results.FormatNumber(v)) + " s" })
	for _, s := range lines {
		line := drawing.Mark{Shape: drawing.Line, Class: drawing.Series(m.columnIndex(s.Column)), Tip: s.Column + ", " + s.Trial}
		for i := range s.Seconds {
			line.Points = append(line.Points, drawing.Point{X: x.At(s.Seconds[i]), Y: y.At(s.Values[i])})
		}
		d.Add(line)
	}
	return d
}

// latencyFigures draws the complementary distributions of each row, step and operation.
func (m *Model) latencyFigures() []Figure {
	var figures []Figure
	name := func(l Latency) string {
		return strings.Trim(strings.Join([]string{l.Operation, l.Step, l.Row}, ", "), ", ") + " (" + l.Kind + " time)"
	}
	drawable := slices.DeleteFunc(slices.Clone(m.Latency), func(l Latency) bool { return len(l.Points) < 2 })
	for _, title := range rowsOf(drawable, name) {
		var lines []Latency
		for _, l := range drawable {
			if name(l) == title {
				lines = append(lines, l)
			}
		}
		wide, narrow := m.inWidths(func(width float64) *drawing.Drawing { return m.drawLatency(title, lines, width) })
		figures = append(figures, Figure{ID: figureID("latency", title), Title: "Latency of " + title, Drawing: wide, Narrow: narrow,
			Caption: "Share of events that took longer, all trials of a cell together; both axes are logarithmic. A line ends where fewer than ten events lie beyond."})
	}
	return figures[:min(len(figures), maxFigures)]
}

func (m *Model) drawLatency(title string, lines []Latency, width float64) *drawing.Drawing {
	d := &drawing.Drawing{Width: width, Title: "latency: " + title}
	top := legend(d, m.columnLabels())
	bottom := top + plotHeight
	d.Height = bottom + 28
	low, high, least := math.Inf(1), 0.0, 1.0
	for _, l := range lines {
		for _, p := range l.Points {
			low, high, least = math.Min(low, p.Seconds), math.Max(high, p.Seconds), math.Min(least, p.Beyond)
		}
	}
	x := drawing.Scale{Low: math.Pow(10, math.Floor(math.Log10(low))), High: math.Pow(10, math.Ceil(math.Log10(high))), From: plotLeft, To: width - 30, Log: true}
	y := drawing.Scale{Low: math.Pow(10, math.Floor(math.Log10(least))), High: 1, From: bottom, To: top, Log: true}
	yAxis(d, y, x.From, x.To, func(v float64) string { return trimZeros(results.FormatNumber(v*100)) + "%" })
	xAxis(d, x, top, bottom, func(v float64) string { return axisNumber(v, results.ScaleOf(results.Seconds, v)) })
	for _, l := range lines {
		line := drawing.Mark{Shape: drawing.Line, Class: drawing.Series(m.columnIndex(l.Column)), Tip: fmt.Sprintf("%s, %s events", l.Column, results.FormatCount(l.Count))}
		for _, p := range l.Points {
			line.Points = append(line.Points, drawing.Point{X: x.At(p.Seconds), Y: y.At(p.Beyond)})
		}
		d.Add(line)
	}
	return d
}

// rowsOf lists the distinct names of a list, in order.
func rowsOf[T any](list []T, name func(T) string) []string {
	var out []string
	for _, item := range list {
		if n := name(item); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

var notFileName = regexp.MustCompile(`[^a-z0-9_.-]+`)

// figureID makes a file name of what a figure shows.
func figureID(kind, what string) string {
	name := strings.Trim(notFileName.ReplaceAllString(strings.ToLower(what), "-"), "-.")
	if len(name) > 60 {
		name = name[:60]
	}
	return strings.Trim(kind+"-"+name, "-")
}

// fit cuts a label to a width.
func fit(label string, width float64) string {
	if drawing.TextWidth(label) <= width {
		return label
	}
	runes := []rune(label)
	for len(runes) > 1 && drawing.TextWidth(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// trimZeros drops the zeros after the point: "2.000" is "2".
func trimZeros(s string) string {
	if !strings.Contains(s, ".") || strings.Contains(s, "e") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
