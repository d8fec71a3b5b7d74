package results

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Direction says which way a metric gets better.
type Direction string

// The directions. A neutral metric is shown and never judged.
const (
	HigherBetter Direction = "higher"
	LowerBetter  Direction = "lower"
	Neutral      Direction = "neutral"
)

// Unit is what a metric counts, and so how it is printed.
type Unit string

// The units of the registry. Share is a ratio between 0 and 1 that people read as per cent.
const (
	Seconds   Unit = "s"
	Bytes     Unit = "B"
	PerSecond Unit = "/s"
	Count     Unit = "count"
	Ratio     Unit = "ratio"
	Share     Unit = "share"
)

// suffixes are the base units a metric's name may end with, and the units they allow.
var suffixes = []struct {
	suffix string
	units  []Unit
}{
	{"_per_second", []Unit{PerSecond}},
	{"_seconds", []Unit{Seconds}},
	{"_bytes", []Unit{Bytes}},
	{"_total", []Unit{Count}},
	{"_ratio", []Unit{Ratio, Share}},
}

// MetricInfo describes one metric of the registry.
type MetricInfo struct {
	Name           string    `json:"name"`
	Unit           Unit      `json:"unit"`
	Direction      Direction `json:"direction"`
	ToleranceRatio float64   `json:"tolerance_ratio"` // changes inside ±this are of no interest; 0 for neutral metrics
	Headline       bool      `json:"headline"`        // shown in a report without asking
	Help           string    `json:"help"`
}

// LookupMetric returns the registry's row of a name.
//
// A name that is not in the registry is no error: a newer platter may have written it. LookupMetric then returns a neutral
// row with the unit its suffix says, and false.
func LookupMetric(name string) (MetricInfo, bool) {
	if info, ok := byName[name]; ok {
		return info, true
	}
	if p, ok := Percentile(name); ok {
		return MetricInfo{name, Seconds, LowerBetter, 0.10, false, p + " % of the events took at most this long"}, true
	}
	info := MetricInfo{Name: name, Unit: Count, Direction: Neutral, Help: "not in this version's registry"}
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			info.Unit = s.units[0]
			break
		}
	}
	return info, false
}

// PercentileMetric names the metric of a latency percentile: two digits before the point, then those after it, so 95 is
// latency_p95_seconds and 99.5 latency_p995_seconds.
func PercentileMetric(p float64) string {
	text := strconv.FormatFloat(p, 'f', -1, 64)
	whole, rest, _ := strings.Cut(text, ".")
	if len(whole) < 2 {
		whole = "0" + whole
	}
	return "latency_p" + whole + rest + "_seconds"
}

// Percentile reads a name that PercentileMetric gave: latency_p995_seconds is "99.5".
func Percentile(name string) (p string, ok bool) {
	digits, ok := strings.CutPrefix(name, "latency_p")
	if !ok {
		return "", false
	}
	if digits, ok = strings.CutSuffix(digits, "_seconds"); !ok || len(digits) < 2 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	whole, rest := digits[:2], digits[2:]
	if digits == "100" {
		whole, rest = digits, ""
	}
	if whole = strings.TrimPrefix(whole, "0"); whole == "" {
		whole = "0"
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole, true
}

// Metrics returns the registry in the order reports show it. The slice is the caller's own.
func Metrics() []MetricInfo { return append([]MetricInfo(nil), registry...) }

// CheckMetricName returns an error when a name lacks a base unit or holds anything but lower-case words.
func CheckMetricName(name string) error {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_') {
			return fmt.Errorf("metric %q: only a-z, 0-9 and _ are allowed in a name", name)
		}
	}
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) && len(name) > len(s.suffix) {
			return nil
		}
	}
	return fmt.Errorf("metric %q: the name must end in a base unit (_seconds, _bytes, _total, _ratio, _per_second)", name)
}

// Key identifies a metric within a trial: name@step{label=value,…} with labels in order. Two metrics of one result
// never share a key.
func (m Metric) Key() string {
	var b strings.Builder
	b.WriteString(m.Name)
	if m.Step != "" {
		b.WriteString("@" + m.Step)
	}
	if len(m.Labels) > 0 {
		names := make([]string, 0, len(m.Labels))
		for name := range m.Labels {
			names = append(names, name)
		}
		sort.Strings(names)
		for i, name := range names {
			names[i] = name + "=" + m.Labels[name]
		}
		b.WriteString("{" + strings.Join(names, ",") + "}")
	}
	return b.String()
}
