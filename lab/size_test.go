package lab

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"2GiB": 2 << 30, "1.5GiB": 3 << 29, "512 MiB": 512 << 20, "80GB": 80e9, "1TB": 1e12, "4KiB": 4096, "1kB": 1000, "512B": 512, "0B": 0,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "2", "2G", "2g", "2gib", "2 gigs", "-1GiB", "1e3MiB", "GiB", "1GiB ", "99999999999TiB", "0.1B", "١GiB"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestFormatSizeIsExact(t *testing.T) {
	for _, bytes := range []int64{1, 1023, 1024, 1 << 20, 3 << 29, 1 << 40, 80e9, 123456789} {
		if got, err := ParseSize(FormatSize(bytes)); err != nil || got != bytes {
			t.Errorf("FormatSize(%d) = %q reads back as %d, %v", bytes, FormatSize(bytes), got, err)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "500ms": 500 * time.Millisecond, "0s": 0} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "30", "5 minutes", "-1s", "1d"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("ParseDuration(%q) = %s, want an error", in, got)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"sise", "size"}, {"Size", "size"}, {"mariadb-11.9", "mariadb-11.8"}, {"ext5", "ext4"}, {"qqqq", ""}, {"", ""},
	} {
		if got := Nearest(c.word, []string{"size", "bus", "ext4", "xfs", "mariadb-11.8"}); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}
