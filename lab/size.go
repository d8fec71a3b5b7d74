package lab

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
)

// SizeUnits says which sizes ParseSize takes, for error messages and the schema.
const SizeUnits = "a number with KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB, TB (powers of 1000) or B"

// SizePattern is the shape of a size; the schema of the study language shows it to editors.
const SizePattern = `^([0-9]+(?:\.[0-9]+)?) ?(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB)$`

var sizeShape = regexp.MustCompile(SizePattern)

// ParseSize reads a size such as "2GiB" into bytes. Units must be spelt out: what "2G" means differs between tools.
func ParseSize(s string) (int64, error) {
	m := sizeShape.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("size %q is not %s", s, SizeUnits)
	}
	parse := units.FromHumanSize
	if strings.Contains(m[2], "i") {
		parse = units.RAMInBytes
	}
	bytes, err := parse(m[1] + m[2])
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	if number, _ := strconv.ParseFloat(m[1], 64); bytes < 0 || number > 0 && bytes == 0 || bytes == math.MaxInt64 {
		return 0, fmt.Errorf("size %q is out of range", s)
	}
	return bytes, nil
}

// FormatSize writes bytes for a reader, exactly: in the largest unit of 1024 that divides it.
func FormatSize(bytes int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"TiB", units.TiB}, {"GiB", units.GiB}, {"MiB", units.MiB}, {"KiB", units.KiB}} {
		if bytes >= u.size && bytes%u.size == 0 {
			return fmt.Sprintf("%d%s", bytes/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", bytes)
}

// DurationUnits says which durations ParseDuration takes.
const DurationUnits = "a number with ms, s, m or h, e.g. 30s"

// DurationPattern is the shape of a duration, for the schema.
const DurationPattern = `^([0-9]+(\.[0-9]+)?(us|µs|ms|s|m|h))+$`

// ParseDuration reads a duration such as "30s". It is never negative.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || s == "0" {
		return 0, fmt.Errorf("duration %q is not %s", s, DurationUnits)
	}
	return d, nil
}
