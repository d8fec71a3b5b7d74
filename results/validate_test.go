package results

import (
	"math"
	"strings"
	"testing"
	"time"
)

func ptr(v float64) *float64 { return &v }

// valid is the smallest result that Validate accepts.
func valid() Result {
	return Result{
		Schema: Schema, RunID: "r", Study: "s", Trial: "t", TrialID: "000-a/1", Round: 1, Attempt: 1,
		Factors: map[string]string{"storage": "ext4"}, CellID: "sha256:1", EnvID: "sha256:2", SoftwareID: "sha256:3",
		Status: StatusOK, StartedAt: time.Date(2026, 1, 31, 2, 15, 0, 0, time.UTC),
		WallSeconds: ptr(10), BootSeconds: ptr(3), GuestSeconds: ptr(6.5), OverheadSeconds: ptr(3.5),
		Metrics: []Metric{{Name: "run_seconds", Value: ptr(1)}},
	}
}

func TestValidate(t *testing.T) {
	good := valid()
	if err := good.Validate(); err != nil {
		t.Fatalf("a valid result is refused: %v", err)
	}
	for _, c := range []struct {
		name  string
		spoil func(*Result)
		want  string
	}{
		{"schema", func(r *Result) { r.Schema = "platter.result/2" }, "schema:"},
		{"no id", func(r *Result) { r.CellID = "" }, "cell_id: is empty"},
		{"no factors", func(r *Result) { r.Factors = nil }, "factors:"},
		{"round 0", func(r *Result) { r.Round = 0 }, "rounds and attempts count from 1"},
		{"no start", func(r *Result) { r.StartedAt = time.Time{} }, "started_at"},
		{"status", func(r *Result) { r.Status = "fine" }, "status:"},
		{"failed without reason", func(r *Result) { r.Status = StatusFailed }, "reason: is empty"},
		{"ok with error kind", func(r *Result) { r.ErrorKind = "job" }, "error_kind"},
		{"ok without boot time", func(r *Result) { r.BootSeconds = nil }, "boot_seconds: is null"},
		{"negative time", func(r *Result) { r.BootSeconds = ptr(-1) }, "boot_seconds: -1"},
		{"NaN time", func(r *Result) { r.WallSeconds = ptr(math.NaN()) }, "wall_seconds: NaN"},
		{"overhead", func(r *Result) { r.OverheadSeconds = ptr(3) }, "wall_seconds - guest_seconds is 3.5"},
		{"infinite metric", func(r *Result) { r.Metrics[0].Value = ptr(math.Inf(1)) }, "not a finite number"},
		{"null metric without reason", func(r *Result) { r.Metrics[0].Value = nil }, "null without a reason"},
		{"no unit", func(r *Result) { r.Metrics[0].Name = "latency_ms" }, "base unit"},
		{"twice", func(r *Result) { r.Metrics = append(r.Metrics, r.Metrics[0]) }, "there twice"},
		{"probe", func(r *Result) {
			r.Probes = []Probe{{Name: "noise", Values: map[string]*float64{"x_seconds": ptr(math.NaN())}}}
		}, "probe noise"},
	} {
		r := valid()
		c.spoil(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestValidateReportsAllFaultsAtOnce(t *testing.T) {
	r := valid()
	r.Schema, r.Round, r.Metrics[0].Value = "", 0, nil
	if got := strings.Count(r.Validate().Error(), "\n") + 1; got != 3 {
		t.Errorf("%d faults, want 3: %v", got, r.Validate())
	}
}

// TestFailedTrialNeedsNoNumbers: a trial that never booted is a result too.
func TestFailedTrialNeedsNoNumbers(t *testing.T) {
	r := valid()
	r.Status, r.Reason, r.ErrorKind = StatusLost, "guest never answered", "boot"
	r.BootSeconds, r.GuestSeconds, r.OverheadSeconds, r.Metrics = nil, nil, nil, nil
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
}
