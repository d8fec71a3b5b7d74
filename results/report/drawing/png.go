package drawing

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"gonum.org/v1/plot/font"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngDPI makes an image twice as fine as the sheet's 72 points an inch, for sharp screens.
const pngDPI = 144

// bandRows is how much of an image is in memory while it is written. A whole sheet of a hundred figures takes 200 MB.
const bandRows = 256

// WritePNG paints a drawing as an image on white, from top to bottom.
func (d *Drawing) WritePNG(w io.Writer) error {
	return png.Encode(w, &bands{drawing: d, looks: looks(),
		bounds: image.Rect(0, 0, pixels(d.Width), pixels(d.Height))})
}

// pixels is a length in points as whole pixels.
func pixels(length float64) int { return int(length*pngDPI/vg.Inch.Points() + 0.5) }

func points(pixels int) vg.Length { return vg.Length(pixels) * vg.Inch / pngDPI }

// bands is an image of which one band is painted at a time. It is read row by row, as its encoder does.
type bands struct {
	drawing *Drawing
	looks   map[Class]look
	bounds  image.Rectangle
	band    *image.RGBA // nil before the first
	top     int         // the band's first row
	last    color.RGBA
	color   color.Color // last, as asked for: areas of one colour cost no allocation a pixel
}

// ColorModel, Bounds, Opaque and At make bands an image.
func (b *bands) ColorModel() color.Model { return color.RGBAModel }

// Bounds starts at 0, 0.
func (b *bands) Bounds() image.Rectangle { return b.bounds }

// Opaque is true: the ground is white.
func (b *bands) Opaque() bool { return true }

// At paints the band that holds the row, unless that was the last one.
func (b *bands) At(x, y int) color.Color {
	if b.band == nil || y < b.top || y >= b.top+bandRows {
		b.paint(y - y%bandRows)
	}
	if c := b.band.RGBAAt(x, y-b.top); b.color == nil || c != b.last {
		b.last, b.color = c, c
	}
	return b.color
}

func (b *bands) paint(top int) {
	rows := min(bandRows, b.bounds.Dy()-top)
	canvas := vgimg.NewWith(vgimg.UseWH(points(b.bounds.Dx()), points(rows)), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(color.White))
	b.band, b.top = canvas.Image().(*image.RGBA), top
	bottom := points(top + rows).Points()
	p := painter{canvas: draw.New(canvas), height: bottom, looks: b.looks}
	for _, m := range b.drawing.Marks {
		if first, last := m.rows(); last >= points(top).Points() && first <= bottom {
			p.paint(m)
		}
	}
}

// rows is the part of the sheet's height that a mark may touch, in points.
func (m Mark) rows() (first, last float64) {
	first, last = m.Y, m.Y+m.H
	if m.Shape == Line {
		first, last = math.Inf(1), math.Inf(-1)
		for _, p := range m.Points {
			first, last = min(first, p.Y), max(last, p.Y)
		}
	}
	const around = 2 * FontSize // more than a text's height or a line's width
	return first - m.R - around, last + m.R + around
}

// painter turns marks upside down: vg counts from the lower left corner.
type painter struct {
	canvas draw.Canvas
	height float64
	looks  map[Class]look
}

func (p painter) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Points(x), Y: vg.Points(p.height - y)}
}

func (p painter) paint(m Mark) {
	l := p.looks[m.Class]
	switch m.Shape {
	case Rect:
		p.canvas.FillPolygon(l.color, []vg.Point{p.at(m.X, m.Y), p.at(m.X+m.W, m.Y), p.at(m.X+m.W, m.Y+m.H), p.at(m.X, m.Y+m.H)})
	case Line:
		var points []vg.Point
		for _, point := range m.Points {
			points = append(points, p.at(point.X, point.Y))
		}
		p.canvas.StrokeLines(draw.LineStyle{Color: l.color, Width: vg.Points(l.width)}, points)
	case Dot:
		p.dot(m, l)
	case Text:
		p.text(m, l)
	}
}

func (p painter) dot(m Mark, l look) {
	center := p.at(m.X, m.Y)
	var path vg.Path
	path.Move(vg.Point{X: center.X + vg.Points(m.R), Y: center.Y})
	path.Arc(center, vg.Points(m.R), 0, 2*math.Pi)
	path.Close()
	p.canvas.SetColor(l.color)
	p.canvas.Fill(path)
}

func (p painter) text(m Mark, l look) {
	style := draw.TextStyle{Color: l.color, Handler: plottext.Plain{Fonts: font.DefaultCache},
		Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(FontSize))}
	if l.bold {
		style.Font.Weight = 700
	}
	style.XAlign = map[Anchor]draw.XAlignment{Start: draw.XLeft, Middle: draw.XCenter, End: draw.XRight}[m.Anchor]
	p.canvas.FillText(style, p.at(m.X, m.Y), m.Text)
}
