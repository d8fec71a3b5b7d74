package blockdev

import (
	"errors"
	"testing"
)

const nvmeSays = `{"smart_support":{"available":true,"enabled":true},"smart_status":{"passed":true},"temperature":{"current":41},"power_on_time":{"hours":2},
"nvme_smart_health_information_log":{"critical_warning":0,"percentage_used":3,"available_spare":100,"media_errors":0,"data_units_written":10,"warning_temp_time":5,"critical_comp_time":0}}`

// TestHealth reads what smartctl prints, and says when heat got in the way.
func TestHealth(t *testing.T) {
	h, err := parseHealth("/dev/nvme0", []byte(nvmeSays))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"temperature_celsius": 41, "power_on_seconds": 7200, "endurance_used_ratio": 0.03, "written_bytes": 5_120_000,
		"warning_temperature_seconds": 300, "self_assessment_passed_total": 1, "critical_warning_bits": 0} {
		if h[name] == nil || *h[name] != want {
			t.Errorf("%s is %v, want %v", name, h[name], want)
		}
	}
	for _, says := range []string{`{"smartctl":{"exit_status":2}}`, `{}`} {
		if _, err := parseHealth("/dev/loop0", []byte(says)); !errors.Is(err, ErrNoSMART) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := parseHealth("/dev/sda", []byte("no JSON")); err == nil || errors.Is(err, ErrNoSMART) {
		t.Errorf("garbage: %v", err)
	}
	with := func(name string, v float64) Health { return Health{name: &v} }
	for _, c := range []struct {
		before, after Health
		hot           bool
	}{
		{h, h, false},
		{with("warning_temperature_seconds", 300), with("warning_temperature_seconds", 360), true},
		{nil, with("critical_warning_bits", 2), true},
		{nil, with("critical_warning_bits", 5), false},
		{nil, with("temperature_celsius", 71), true},
		{nil, nil, false},
	} {
		if how, hot := Throttled(c.before, c.after); hot != c.hot {
			t.Errorf("from %v to %v: %v %s", c.before, c.after, hot, how)
		}
	}
}
