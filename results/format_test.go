package results

import (
	"math"
	"testing"
)

func TestFormatValue(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit Unit
		want string
	}{
		{8.280, Seconds, "8.280 s"}, {0.068, Seconds, "68.00 ms"}, {1256.6566, Seconds, "1,257 s"}, {0, Seconds, "0 s"},
		{0.0000617, Seconds, "61.70 µs"}, {2e-9, Seconds, "2.000 ns"}, {0.99996, Seconds, "1,000 ms"},
		{1843.4, PerSecond, "1,843/s"}, {63.42, PerSecond, "63.42/s"}, {17829.56, PerSecond, "17,830/s"},
		{0, Bytes, "0 B"}, {512, Bytes, "512.0 B"}, {225132544, Bytes, "214.7 MiB"},
		{11202828, Count, "11,202,828"}, {-1234.5, Count, "-1,234"}, {999.96, Count, "1,000"},
		{0.0971, Share, "9.710 %"}, {2.01, Ratio, "2.010"}, {1e-7, Ratio, "1.000e-07"},
		{math.NaN(), Seconds, "n/a ns"}, {math.Inf(1), Count, "n/a"},
	} {
		if got := FormatValue(c.v, c.unit); got != c.want {
			t.Errorf("FormatValue(%v, %s) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// TestScaleIsShared shows why a scale is chosen for a group: the two sides of a ratio of 121 stay in one unit.
func TestScaleIsShared(t *testing.T) {
	s := ScaleOf(Seconds, 8.280, 0.068)
	if got := s.Format(8.280) + " | " + s.Format(0.068); got != "8.280 s | 0.06800 s" {
		t.Errorf("got %s", got)
	}
}

func TestFormatChange(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  string
	}{
		{0.926, "-7.4%"}, {1.21, "+21.0%"}, {1, "0.0%"}, {0.99999, "0.0%"}, {121.76, "×122"}, {1210, "×1,210"},
		{0.0082, "÷122"}, {2, "×2.00"}, {0, "n/a"}, {-1, "n/a"}, {math.NaN(), "n/a"}, {math.Inf(1), "n/a"},
	} {
		if got := FormatChange(c.ratio); got != c.want {
			t.Errorf("FormatChange(%v) = %q, want %q", c.ratio, got, c.want)
		}
	}
}

func TestFormatP(t *testing.T) {
	for p, want := range map[float64]string{1.0 / 3: "p=.333", 0.0022: "p=.002", 0.0001: "p<.001", 1: "p=1"} {
		if got := FormatP(p); got != want {
			t.Errorf("FormatP(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := FormatCount(n); got != want {
			t.Errorf("FormatCount(%d) = %q, want %q", n, got, want)
		}
	}
}
