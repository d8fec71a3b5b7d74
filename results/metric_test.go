package results

import (
	"strings"
	"testing"
)

// TestRegistryConforms holds every row of the registry to the rules that readers of a result rely on.
func TestRegistryConforms(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("%s: is there twice", m.Name)
		}
		seen[m.Name] = true
		if err := CheckMetricName(m.Name); err != nil {
			t.Error(err)
		}
		if !suffixAllows(m.Name, m.Unit) {
			t.Errorf("%s: unit %q does not fit its suffix", m.Name, m.Unit)
		}
		if m.Help == "" || strings.HasSuffix(m.Help, ".") {
			t.Errorf("%s: help %q must be a phrase without a full stop", m.Name, m.Help)
		}
		switch m.Direction {
		case HigherBetter, LowerBetter:
			if m.ToleranceRatio <= 0 || m.ToleranceRatio >= 1 {
				t.Errorf("%s: tolerance %v of a judged metric must lie between 0 and 1", m.Name, m.ToleranceRatio)
			}
		case Neutral:
			if m.ToleranceRatio != 0 || m.Headline {
				t.Errorf("%s: a neutral metric has neither tolerance nor headline", m.Name)
			}
		default:
			t.Errorf("%s: direction %q", m.Name, m.Direction)
		}
		if got, known := LookupMetric(m.Name); !known || got != m {
			t.Errorf("LookupMetric(%s) = %+v, %v", m.Name, got, known)
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d metrics are registered", len(seen))
	}
}

func suffixAllows(name string, unit Unit) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			for _, u := range s.units {
				if u == unit {
					return true
				}
			}
		}
	}
	return false
}

func TestLookupUnknownMetric(t *testing.T) {
	info, known := LookupMetric("unheard_of_seconds")
	if known || info.Unit != Seconds || info.Direction != Neutral {
		t.Errorf("LookupMetric(unheard_of_seconds) = %+v, %v; want neutral seconds, unknown", info, known)
	}
}

func TestCheckMetricName(t *testing.T) {
	for name, good := range map[string]bool{
		"run_seconds": true, "queries_per_second": true, "x_bytes": true,
		"seconds": false, "_seconds": false, "latency_ms": false, "Run_seconds": false, "a\x1b[31m_total": false, "": false,
	} {
		if err := CheckMetricName(name); (err == nil) != good {
			t.Errorf("CheckMetricName(%q) = %v, want good = %v", name, err, good)
		}
	}
}

func TestKey(t *testing.T) {
	m := Metric{Name: "run_seconds", Step: "slap", Labels: map[string]string{"engine": "innodb", "clients": "10"}}
	if got, want := m.Key(), "run_seconds@slap{clients=10,engine=innodb}"; got != want {
		t.Errorf("Key() = %s, want %s", got, want)
	}
	if got := (Metric{Name: "mkfs_seconds"}).Key(); got != "mkfs_seconds" {
		t.Errorf("Key() = %s, want the bare name", got)
	}
}

func TestPercentileMetric(t *testing.T) {
	for p, want := range map[float64]struct{ name, help string }{
		95: {"latency_p95_seconds", "95 %"}, 99.9: {"latency_p999_seconds", "99.9 %"}, 99.5: {"latency_p995_seconds", "99.5 %"},
		90: {"latency_p90_seconds", "90 %"}, 5: {"latency_p05_seconds", "5 %"}, 100: {"latency_p100_seconds", "100 %"}, 50: {"latency_p50_seconds", "half"},
	} {
		name := PercentileMetric(p)
		if info, known := LookupMetric(name); name != want.name || !known || info.Unit != Seconds || info.Direction != LowerBetter || !strings.HasPrefix(info.Help, want.help+" ") {
			t.Errorf("%g: %s is %+v (known %v), want %s, help %s", p, name, info, known, want.name, want.help)
		}
		if err := CheckMetricName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"latency_p_seconds", "latency_p9_seconds", "latency_pxx_seconds", "latency_p95_total"} {
		if _, known := LookupMetric(name); known {
			t.Errorf("%s is no percentile", name)
		}
	}
}
