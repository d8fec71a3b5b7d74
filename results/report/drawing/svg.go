package drawing

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteSVG paints a drawing as an SVG file that needs nothing else.
func (d *Drawing) WriteSVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(xml.Header)
	d.svg(b, fmt.Sprintf(` width="%s" height="%s"`, number(d.Width), number(d.Height)), "<style>"+fileStyle()+"</style>"+
		`<rect width="100%" height="100%" fill="#ffffff"/>`)
	b.WriteString("\n")
	return b.Flush()
}

// InlineSVG paints a drawing as an element of a page, whose style sheet knows the classes.
func (d *Drawing) InlineSVG() string {
	var b strings.Builder
	buffered := bufio.NewWriter(&b)
	d.svg(buffered, "", "")
	buffered.Flush() // a strings.Builder takes everything
	return b.String()
}

func (d *Drawing) svg(b *bufio.Writer, size, before string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg"%s viewBox="0 0 %s %s" role="img" aria-label="%s">%s`,
		size, number(d.Width), number(d.Height), escape(d.Title), before)
	for _, m := range d.Marks {
		switch m.Shape {
		case Rect:
			fmt.Fprintf(b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, m.Class, number(m.X), number(m.Y), number(m.W), number(m.H))
			closeMark(b, "rect", m.Tip)
		case Line:
			fmt.Fprintf(b, `<polyline class="%s" points="`, m.Class)
			for i, p := range m.Points {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(number(p.X) + "," + number(p.Y))
			}
			b.WriteByte('"')
			closeMark(b, "polyline", m.Tip)
		case Dot:
			fmt.Fprintf(b, `<circle class="%s" cx="%s" cy="%s" r="%s"`, m.Class, number(m.X), number(m.Y), number(m.R))
			closeMark(b, "circle", m.Tip)
		case Text:
			fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, m.Class, number(m.X), number(m.Y), m.Anchor, escape(m.Text))
		}
	}
	b.WriteString("</svg>")
}

func closeMark(b *bufio.Writer, element, tip string) {
	if tip == "" {
		b.WriteString("/>")
		return
	}
	fmt.Fprintf(b, "><title>%s</title></%s>", escape(tip), element)
}

// number prints a coordinate to a tenth of a point.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// escape makes a text harmless inside an element or an attribute.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
