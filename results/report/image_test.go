package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"platter/results/report/drawing"
)

// TestImages decodes the sheet of a rich report: its size is the drawing's, it is white, and every series has its colour
// in it.
func TestImages(t *testing.T) {
	m := models(t)["rich"]
	var page bytes.Buffer
	if err := Write(&page, "png", m, Style{}); err != nil {
		t.Fatal(err)
	}
	image, err := png.Decode(&page)
	if err != nil {
		t.Fatal(err)
	}
	bounds := image.Bounds()
	if d := sheet(m); bounds.Dx() != int(2*d.Width) || bounds.Dy() < int(2*d.Height)-2 {
		t.Errorf("image of %v for a sheet of %v × %v", bounds, d.Width, d.Height)
	}
	colours := map[color.Color]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 3 {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			colours[color.NRGBAModel.Convert(image.At(x, y))]++
		}
	}
	for _, want := range []color.NRGBA{{0xff, 0xff, 0xff, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}} {
		if colours[want] == 0 {
			t.Errorf("the colour %v is nowhere", want)
		}
	}
}

// TestFiguresShowTheModel: every kind of figure is there, each is well-formed SVG with a name, and every trial has a dot.
func TestFiguresShowTheModel(t *testing.T) {
	m := models(t)["rich"]
	kinds := map[string]int{}
	ids := map[string]bool{}
	for _, f := range m.Figures() {
		kind, _, _ := strings.Cut(f.ID, "-")
		kinds[kind]++
		if ids[f.ID] || f.ID == "" || strings.ContainsAny(f.ID, "/ .") && kind != "latency" {
			t.Errorf("figure id %q", f.ID)
		}
		ids[f.ID] = true
		if f.Title == "" || f.Caption == "" || f.Drawing.Title == "" {
			t.Errorf("%s: no title, caption or name", f.ID)
		}
		var svg strings.Builder
		if err := f.Write(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		elements := elementsOf(t, svg.String())
		if kind == "bars" && elements["circle"] != 35 {
			t.Errorf("%s: %d dots for 35 valid trials", f.ID, elements["circle"])
		}
		if kind == "time" && elements["polyline"] < 9 {
			t.Errorf("%s: %d lines for 9 trials", f.ID, elements["polyline"])
		}
	}
	for kind, want := range map[string]int{"bars": 3, "time": 2, "latency": 2, "order": 1} {
		if kinds[kind] != want {
			t.Errorf("%d figures of kind %s, want %d", kinds[kind], kind, want)
		}
	}
}

func elementsOf(t *testing.T, document string) map[string]int {
	t.Helper()
	count := map[string]int{}
	decoder := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%v in\n%.400s", err, document)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
		}
	}
}

// TestStallsSurviveThinning: 100,000 samples become 300, and the three seconds of nothing are still nothing.
func TestStallsSurviveThinning(t *testing.T) {
	seconds, values := make([]float64, 100_000), make([]float64, 100_000)
	for i := range values {
		seconds[i], values[i] = float64(i)+5, 1000
	}
	values[70_001], values[70_002], values[70_003], values[123] = 0, 0, 0, 5000
	thinSeconds, thinValues := thin(seconds, values, seriesPoints)
	if len(thinValues) > seriesPoints || thinSeconds[0] != 0 {
		t.Fatalf("%d points, the first at %v", len(thinValues), thinSeconds[0])
	}
	zero, peak := false, false
	for i, v := range thinValues {
		zero = zero || v == 0
		peak = peak || v == 5000
		if i > 0 && thinSeconds[i] <= thinSeconds[i-1] {
			t.Fatalf("time runs backwards at point %d", i)
		}
	}
	if !zero || !peak {
		t.Errorf("the stall is there: %v, the peak is there: %v", zero, peak)
	}
}

// TestHostileSamples: lines that are not samples are left out, and the rest is read.
func TestHostileSamples(t *testing.T) {
	text := "seconds,step,source,name,value\nNaN,run,workload,transactions_per_second,5\n1,run,workload,transactions_per_second,Inf\n" +
		"1,run,workload\n\"unclosed,run,workload\n\x00\x01\x02\n2,run,workload,transactions_per_second,7\n3,run,workload,transactions_per_second,8\n"
	samples, err := parseSamples(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(samples.steps) != 1 || !slices.Equal(samples.steps[0].rates["transactions_per_second"].values, []float64{7, 8}) {
		t.Errorf("steps %+v, want one with 7 and 8", samples.steps)
	}
	if _, err := parseSamples(io.MultiReader(strings.NewReader("seconds,"), brokenReader{})); !errors.Is(err, errBroken) {
		t.Errorf("a broken file: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// TestHostileHistograms: what cannot be decoded is a problem of the report, not its end.
func TestHostileHistograms(t *testing.T) {
	for _, encoded := range []string{"", "x", "HISTFAAAAB", strings.Repeat("A", 100), "\x00\xff", strings.Repeat("A", histogramLimitBytes+4)} {
		f := rich()
		f.results[0].Histograms[0].Encoded = encoded
		m, err := Build([]Folder{f}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Problems) != 1 || !strings.Contains(m.Problems[0], "histogram of transaction") || m.Counts.OK != 35 {
			t.Errorf("%.20q: problems %v, counts %+v", encoded, m.Problems, m.Counts)
		}
	}
}

// TestFiguresFitAPhone: a page shows the narrow drawing of a figure whose columns have names that fit, and says the same
// in it; nothing is cut to make it fit.
func TestFiguresFitAPhone(t *testing.T) {
	texts := func(d *drawing.Drawing) (out []string) {
		for _, m := range d.Marks {
			if m.Shape == drawing.Text && m.Class == drawing.Strong {
				out = append(out, m.Text)
			}
			if m.Shape == drawing.Text && (m.X < 0 || m.X > d.Width) {
				t.Errorf("%s: %q is written at %v of %v", d.Title, m.Text, m.X, d.Width)
			}
		}
		return out
	}
	narrow := 0
	for _, f := range models(t)["rich"].Figures() {
		if f.Narrow == nil {
			continue
		}
		narrow++
		if f.Narrow.Width != narrowWidth || !slices.Equal(texts(f.Drawing), texts(f.Narrow)) {
			t.Errorf("%s: %v wide says %q, narrow says %q", f.ID, f.Narrow.Width, texts(f.Drawing), texts(f.Narrow))
		}
	}
	if narrow == 0 {
		t.Error("no figure fits a phone")
	}
	for _, f := range models(t)["hostile"].Figures() {
		if f.Narrow != nil {
			t.Errorf("%s: a narrow figure of names that do not fit", f.ID)
		}
	}
}

// TestPercentilesInOrder: what belongs to one operation stands together, from the smallest up, named as people write it.
func TestPercentilesInOrder(t *testing.T) {
	m := models(t)["rich"]
	var names []string
	for _, row := range percentilesOf(m).Rows {
		name, _, _ := strings.Cut(row[0], " · ")
		names = append(names, name)
	}
	if want := []string{"Latency mean", "Latency p95", "Latency p99", "Latency maximum"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if got := metricTitle("latency_p999_seconds"); got != "Latency p99.9" {
		t.Errorf("p99.9 is called %q", got)
	}
}
