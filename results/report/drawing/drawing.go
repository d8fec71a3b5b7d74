// Package drawing owns marks on a sheet and the two ways to paint them: SVG and PNG.
//
// A Drawing is made once, by results/report, and painted into a page, a file or an image, so that all show the same.
// It knows nothing of results. Coordinates are points from the upper left corner. A Mark has a class instead of a colour:
// a page gives classes their colours for light and dark, a file carries the light ones.
//
// Note: gonum/plot draws whole charts, but what it writes cannot follow a page's theme, and its marks carry no titles for
// readers and tools. Its ticks and its PNG canvas are used here, its charts are not.
package drawing

import "math"

// Drawing is a sheet with marks, painted in order.
type Drawing struct {
	Width, Height float64
	Title         string // what it shows, for readers who cannot see it
	Marks         []Mark
}

// Shape is the kind of a mark.
type Shape int

// The shapes, with the fields of Mark they use.
const (
	Rect Shape = iota // X, Y, W, H
	Line              // Points
	Dot               // X, Y, R
	Text              // X, Y, Text, Anchor
)

// Anchor says where a text's point lies.
type Anchor string

// The anchors, in the words of SVG.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

// Point is a place on the sheet.
type Point struct{ X, Y float64 }

// Mark is one thing on a sheet.
type Mark struct {
	Shape      Shape
	Class      Class
	X, Y, W, H float64
	R          float64
	Points     []Point
	Text       string
	Anchor     Anchor
	Tip        string // shown when a reader points at it
}

// Class gives a mark its colour and weight: one of the fixed ones, or Series(i).
type Class string

// The classes that are not of a series.
const (
	Axis   Class = "axis"
	Grid   Class = "grid"
	Label  Class = "label"
	Strong Class = "strong" // a text that matters more
	Bound  Class = "bound"  // the end of an interval
	Shade  Class = "shade"  // a time that does not count
)

// seriesCount is how many colours there are; more series begin again.
const seriesCount = 8

// Series is the class of the i-th series, from 0.
func Series(i int) Class { return Class("s" + string(rune('0'+i%seriesCount))) }

// Faint is the class of an area of the i-th series.
func Faint(i int) Class { return Class("f" + string(rune('0'+i%seriesCount))) }

// Add appends marks.
func (d *Drawing) Add(marks ...Mark) { d.Marks = append(d.Marks, marks...) }

// HLine appends a horizontal line.
func (d *Drawing) HLine(class Class, x1, x2, y float64) {
	d.Add(Mark{Shape: Line, Class: class, Points: []Point{{x1, y}, {x2, y}}})
}

// VLine appends a vertical line.
func (d *Drawing) VLine(class Class, x, y1, y2 float64) {
	d.Add(Mark{Shape: Line, Class: class, Points: []Point{{x, y1}, {x, y2}}})
}

// Write appends a text; y is its base line.
func (d *Drawing) Write(class Class, x, y float64, anchor Anchor, text string) {
	d.Add(Mark{Shape: Text, Class: class, X: x, Y: y, Anchor: anchor, Text: text})
}

// FontSize is the size of every text.
const FontSize = 12.0

// TextWidth estimates how wide a text is, for lay-out: sans-serif letters are a little over half as wide as high.
func TextWidth(text string) float64 {
	width := 0.0
	for _, r := range text {
		switch {
		case r == ' ' || r == '.' || r == ',' || r == 'i' || r == 'l' || r == '|':
			width += 0.32
		case r >= 0x2e80: // ideographs are square
			width += 1
		default:
			width += 0.58
		}
	}
	return math.Ceil(width * FontSize)
}
