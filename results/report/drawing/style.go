package drawing

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
)

// look is how a class is painted where no page says otherwise.
type look struct {
	color color.NRGBA
	width float64 // of lines
	bold  bool
}

// The eight colours of Okabe and Ito (2008), which people with any kind of colour vision can tell apart; the yellow is
// darkened to be seen on white.
var palette = [seriesCount]color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0xb8, 0xa8, 0x00, 0xff}, {0x55, 0x55, 0x55, 0xff},
}

// looks returns how every class is painted.
func looks() map[Class]look {
	all := map[Class]look{
		Axis: {color.NRGBA{0x66, 0x66, 0x66, 0xff}, 1, false}, Grid: {color.NRGBA{0xe3, 0xe3, 0xe3, 0xff}, 1, false},
		Label: {color.NRGBA{0x55, 0x55, 0x55, 0xff}, 1, false}, Strong: {color.NRGBA{0x1a, 0x1a, 0x1a, 0xff}, 1, true},
		Bound: {color.NRGBA{0x1a, 0x1a, 0x1a, 0xff}, 1.5, false}, Shade: {color.NRGBA{0x80, 0x80, 0x80, 0x28}, 1, false},
	}
	for i, c := range palette {
		all[Series(i)] = look{c, 1.5, false}
		c.A = 0x66
		all[Faint(i)] = look{c, 1, false}
	}
	return all
}

// fileStyle is the style sheet of a lone SVG file.
func fileStyle() string {
	var b strings.Builder
	fmt.Fprintf(&b, "text{font:%gpx sans-serif}polyline{fill:none}", FontSize)
	all := looks()
	var classes []Class
	for class := range all {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	for _, class := range classes {
		l := all[class]
		rgb := fmt.Sprintf("rgba(%d,%d,%d,%.2f)", l.color.R, l.color.G, l.color.B, float64(l.color.A)/255)
		fmt.Fprintf(&b, "polyline.%s{stroke:%s;stroke-width:%g}rect.%s,circle.%s,text.%s{fill:%s}", class, rgb, l.width, class, class, class, rgb)
		if l.bold {
			fmt.Fprintf(&b, "text.%s{font-weight:bold}", class)
		}
	}
	return b.String()
}
