package results

import (
	"errors"
	"fmt"
	"math"
)

// overheadSlack is how far OverheadSeconds may lie from WallSeconds - GuestSeconds: a microsecond for rounding.
const overheadSlack = 1e-6

// Validate returns every fault of a result, joined, or nil: shape that the schema cannot express (sums, finite numbers,
// reasons for what is missing). It changes nothing. results/schema checks the shape of the written file.
func (r *Result) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if r.Schema != Schema {
		fault("schema: %q, want %q", r.Schema, Schema)
	}
	for name, value := range map[string]string{"run_id": r.RunID, "study": r.Study, "trial": r.Trial,
		"trial_id": r.TrialID, "cell_id": r.CellID, "env_id": r.EnvID, "software_id": r.SoftwareID} {
		if value == "" {
			fault("%s: is empty", name)
		}
	}
	if r.Round < 1 || r.Attempt < 1 || r.Index < 0 {
		fault("round %d, attempt %d, index %d: rounds and attempts count from 1, indexes from 0", r.Round, r.Attempt, r.Index)
	}
	if len(r.Factors) == 0 {
		fault("factors: is empty")
	}
	if r.StartedAt.IsZero() {
		fault("started_at: is not set")
	}
	faults = append(faults, r.checkStatus()...)
	faults = append(faults, r.checkTimes()...)
	faults = append(faults, r.checkMetrics()...)
	return errors.Join(faults...)
}

// checkStatus wants a reason for every end that is not good.
func (r *Result) checkStatus() []error {
	switch r.Status {
	case StatusOK:
		if r.ErrorKind != "" {
			return []error{fmt.Errorf("error_kind: %q on a trial with status ok", r.ErrorKind)}
		}
	case StatusFailed, StatusInvalid, StatusSkipped, StatusLost, StatusInterrupted:
		if r.Reason == "" {
			return []error{fmt.Errorf("reason: is empty, and status %q needs one", r.Status)}
		}
	default:
		return []error{fmt.Errorf("status: %q is none of ok, failed, invalid, skipped, lost, interrupted", r.Status)}
	}
	return nil
}

// checkTimes wants durations that are finite and not negative, and the overhead to be what its name says.
func (r *Result) checkTimes() []error {
	var faults []error
	for _, d := range []struct {
		name  string
		value *float64
	}{{"wall_seconds", r.WallSeconds}, {"boot_seconds", r.BootSeconds},
		{"guest_seconds", r.GuestSeconds}, {"overhead_seconds", r.OverheadSeconds}} {
		if d.value == nil {
			if r.Status == StatusOK {
				faults = append(faults, fmt.Errorf("%s: is null on a trial with status ok", d.name))
			}
			continue
		}
		if !finite(*d.value) || *d.value < 0 {
			faults = append(faults, fmt.Errorf("%s: %v is not a duration", d.name, *d.value))
		}
	}
	if r.WallSeconds != nil && r.GuestSeconds != nil && r.OverheadSeconds != nil {
		want := *r.WallSeconds - *r.GuestSeconds
		if !(math.Abs(*r.OverheadSeconds-want) <= overheadSlack) {
			faults = append(faults, fmt.Errorf("overhead_seconds: %v, but wall_seconds - guest_seconds is %v", *r.OverheadSeconds, want))
		}
	}
	return faults
}

// checkMetrics wants base units in names, finite values, a reason for what is missing, and no key twice.
func (r *Result) checkMetrics() []error {
	var faults []error
	seen := map[string]bool{}
	for _, m := range r.Metrics {
		key := m.Key()
		if seen[key] {
			faults = append(faults, fmt.Errorf("metrics: %s is there twice", key))
		}
		seen[key] = true
		if err := CheckMetricName(m.Name); err != nil {
			faults = append(faults, err)
		}
		switch {
		case m.Value == nil && m.Reason == "":
			faults = append(faults, fmt.Errorf("metric %s: value is null without a reason", key))
		case m.Value != nil && !finite(*m.Value):
			faults = append(faults, fmt.Errorf("metric %s: %v is not a finite number", key, *m.Value))
		}
	}
	for _, p := range r.Probes {
		for name, v := range p.Values {
			if v != nil && !finite(*v) {
				faults = append(faults, fmt.Errorf("probe %s: %s is %v, not a finite number", p.Name, name, *v))
			}
		}
	}
	return faults
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
