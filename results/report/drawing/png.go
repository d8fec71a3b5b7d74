package drawing

import (
	"io"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	plottext "gonum.org/v1/plot/text"
	"image/color"
)

// pngDPI makes an image twice as fine as the sheet's 72 points an inch, for sharp screens.
const pngDPI = 144

// WritePNG paints a drawing as an image on white.
func (d *Drawing) WritePNG(w io.Writer) error {
	width, height := vg.Points(d.Width), vg.Points(d.Height)
	image := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(color.White))
	p := painter{canvas: draw.New(image), height: d.Height, looks: looks()}
	for _, m := range d.Marks {
		p.paint(m)
	}
	_, err := vgimg.PngCanvas{Canvas: image}.WriteTo(w)
	return err
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
