package lab

import (
	"testing"
	"time"
)

// K11, units and locale: a number with its unit is read whole into one base unit, or refused: no digit is dropped, no comma
// is guessed at, no unit assumed.
func TestUnitsAreReadWholeOrRefused(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"999.9us": 999900 * time.Nanosecond, "1.0ms": time.Millisecond, "1.00s": time.Second, "1m0.01s": time.Minute + 10*time.Millisecond,
		"1h2m3s": time.Hour + 2*time.Minute + 3*time.Second,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"1.00 s", "1 min 0.01 sec", "1:02:03", "12,5", "12,5s", "1.234,5", "1e-05", "1e-05s", "4.0K", "1,234.5", "1,234.5s", "5", "NaN", "inf", "-1s"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want it refused", text, got)
		}
	}
	for _, text := range []string{"12,5GiB", "1.234,5MB", "1e-05B", "4.0K", "1,234.5MB", "1:02", "2G", "1 min", "-1MiB", "NaN", "0x10B"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want it refused", text, got)
		}
	}
}
