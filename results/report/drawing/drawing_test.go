package drawing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

func TestSVG(t *testing.T) {
	d := Drawing{Width: 100, Height: 50, Title: `a "<b>" & c`}
	d.Add(Mark{Shape: Rect, Class: Faint(1), X: 1, Y: 2, W: 3, H: 4.25, Tip: "<script>"})
	d.HLine(Grid, 0, 10, 5)
	d.Add(Mark{Shape: Dot, Class: Series(9), X: 1.04, Y: 2.06, R: 3})
	d.Write(Label, 5, 6, End, "x < y")
	want := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" role="img" aria-label="a &#34;&lt;b&gt;&#34; &amp; c">` +
		`<rect class="f1" x="1" y="2" width="3" height="4.2"><title>&lt;script&gt;</title></rect>` +
		`<polyline class="grid" points="0,5 10,5"/><circle class="s1" cx="1" cy="2.1" r="3"/>` +
		`<text class="label" x="5" y="6" text-anchor="end">x &lt; y</text></svg>`
	if got := d.InlineSVG(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var file bytes.Buffer
	if err := d.WriteSVG(&file); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(&file)
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryClassHasALook: a mark of any class is seen in a lone file and in an image.
func TestEveryClassHasALook(t *testing.T) {
	style := fileStyle()
	classes := []Class{Axis, Grid, Label, Strong, Bound, Shade}
	for i := range seriesCount + 2 {
		classes = append(classes, Series(i), Faint(i))
	}
	for _, class := range classes {
		if looks()[class].color.A == 0 || !strings.Contains(style, "rect."+string(class)+",") {
			t.Errorf("class %s has no look", class)
		}
	}
}

func TestPNG(t *testing.T) {
	d := Drawing{Width: 100, Height: 50}
	d.Add(Mark{Shape: Rect, Class: Series(0), X: 10, Y: 10, W: 20, H: 20})
	d.HLine(Axis, 0, 100, 45)
	d.Add(Mark{Shape: Dot, Class: Series(1), X: 70, Y: 20, R: 8})
	d.Write(Strong, 50, 40, Middle, "größe")
	var file bytes.Buffer
	if err := d.WritePNG(&file); err != nil {
		t.Fatal(err)
	}
	painted, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	if b := painted.Bounds(); b.Dx() != 200 || b.Dy() != 100 {
		t.Fatalf("%v, want twice the sheet", b)
	}
	for _, c := range []struct {
		x, y    int
		r, g, b uint32
	}{{40, 40, 0x00, 0x72, 0xb2}, {140, 40, 0xd5, 0x5e, 0x00}, {5, 5, 0xff, 0xff, 0xff}} { // the rectangle, the dot, the paper
		r, g, b, _ := painted.At(c.x, c.y).RGBA()
		if r>>8 != c.r || g>>8 != c.g || b>>8 != c.b {
			t.Errorf("at %d,%d: %x %x %x, want %x %x %x", c.x, c.y, r>>8, g>>8, b>>8, c.r, c.g, c.b)
		}
	}
}

// TestPNGBands: where a band ends, nothing is cut, shifted or painted twice.
func TestPNGBands(t *testing.T) {
	d := Drawing{Width: 60, Height: 3*bandRows/2 + 10.3}
	d.Add(Mark{Shape: Rect, Class: Axis, X: 10, Y: 10, W: 4, H: d.Height - 20},
		Mark{Shape: Rect, Class: Faint(1), X: 20, Y: bandRows/2 - 5, W: 10, H: 10},
		Mark{Shape: Dot, Class: Series(0), X: 45, Y: bandRows / 2, R: 6})
	d.VLine(Axis, 55, 5, d.Height)
	painted := bands{drawing: &d, looks: looks(), bounds: image.Rect(0, 0, pixels(d.Width), pixels(d.Height))}
	if dy := painted.Bounds().Dy(); dy != 3*bandRows+21 {
		t.Fatalf("%d rows, want those of three bands and 21", dy)
	}
	ink, line, shade, paper := painted.At(24, 20), painted.At(110, 20), painted.At(50, bandRows), painted.At(0, 0)
	for y := 20; y < pixels(d.Height)-21; y++ {
		area := paper
		if y >= bandRows-10 && y < bandRows+10 {
			area = shade
		}
		if painted.At(24, y) != ink || painted.At(110, y) != line || painted.At(50, y) != area {
			t.Fatalf("row %d: %v, %v, %v, want %v, %v, %v", y, painted.At(24, y), painted.At(110, y), painted.At(50, y), ink, line, area)
		}
	}
	if ink == paper || line == paper || shade == paper {
		t.Error("nothing is painted")
	}
	for x := 72; x < 108; x++ {
		if above, below := painted.At(x, bandRows-4), painted.At(x, bandRows+3); above != below {
			t.Errorf("the dot at %d is %v above its middle and %v below", x, above, below)
		}
	}
}

func TestScale(t *testing.T) {
	linear := Scale{Low: 0, High: 10, From: 100, To: 200}
	log := Scale{Low: 1, High: 100, From: 0, To: 100, Log: true}
	for _, c := range []struct {
		s    Scale
		v    float64
		want float64
	}{{linear, 5, 150}, {linear, -1, 100}, {linear, 99, 200}, {log, 10, 50}, {log, 0, 0}, {Scale{From: 7, To: 9}, 3, 7}} {
		if got := c.s.At(c.v); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("At(%v) = %v, want %v", c.v, got, c.want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, s := range []Scale{{Low: 0, High: 8.6}, {Low: -0.02, High: 0.02}, {Low: 0.001, High: 10, Log: true}, {Low: 3, High: 4, Log: true}, {Low: 5, High: 5}} {
		labels := 0
		for _, tick := range s.Ticks() {
			if tick.Value < s.Low-1e-9 || tick.Value > s.High*1.0001+1e-9 {
				t.Errorf("%+v: tick at %v lies outside", s, tick.Value)
			}
			if tick.Label {
				labels++
			}
		}
		if labels == 0 || labels > 12 {
			t.Errorf("%+v: %d labels", s, labels)
		}
	}
}
