package report

import (
	"fmt"
	"io"
	"strings"

	"platter/results/report/drawing"
)

var (
	_ = register(Format{Name: "svg", Extension: ".svg", Help: "all figures on one sheet, as a drawing", write: writeSVG})
	_ = register(Format{Name: "png", Extension: ".png", Help: "all figures on one sheet, as an image", Binary: true, write: writePNG})
)

// sheetHeight is where a sheet ends: more than an image viewer or a browser's canvas takes is of no use.
const sheetHeight = 12_000.0

func writeSVG(w io.Writer, m *Model, _ Style) error { return sheet(m).WriteSVG(w) }

func writePNG(w io.Writer, m *Model, _ Style) error { return sheet(m).WritePNG(w) }

// sheet puts all figures under each other, with the report's title and answer above them.
func sheet(m *Model) *drawing.Drawing {
	d := &drawing.Drawing{Width: figureWidth, Title: m.Title()}
	y := 22.0
	for _, line := range wrap(m.Title(), figureWidth-2*figureMargin) {
		d.Write(drawing.Strong, figureMargin, y, drawing.Start, line)
		y += lineHeight
	}
	for _, line := range wrap(m.Answer, figureWidth-2*figureMargin) {
		d.Write(drawing.Label, figureMargin, y, drawing.Start, line)
		y += lineHeight
	}
	for _, f := range m.Figures() {
		if y+f.Drawing.Height > sheetHeight {
			break
		}
		y += lineHeight
		d.Write(drawing.Strong, figureMargin, y, drawing.Start, fit(f.Title, figureWidth-2*figureMargin))
		y += 6
		for _, mark := range f.Drawing.Marks {
			mark.Y += y
			points := make([]drawing.Point, len(mark.Points))
			for i, p := range mark.Points {
				points[i] = drawing.Point{X: p.X, Y: p.Y + y}
			}
			mark.Points = points
			d.Add(mark)
		}
		y += f.Drawing.Height
	}
	d.Height = y + figureMargin
	return d
}

// wrap breaks a text into lines of a width.
func wrap(s string, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && drawing.TextWidth(line+" "+word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, fit(line, width))
}

// Write writes one figure as svg or png. The numbers it shows are those of report.json.
func (f Figure) Write(w io.Writer, format string) error {
	switch format {
	case "svg":
		return f.Drawing.WriteSVG(w)
	case "png":
		return f.Drawing.WritePNG(w)
	}
	return fmt.Errorf("figure format %q: want svg or png", format)
}
