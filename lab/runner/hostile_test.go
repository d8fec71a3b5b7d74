package runner

import (
	"fmt"
	"strings"
	"testing"

	"platter/guest"
	"platter/results"
	"platter/results/store"
)

// TestHostileGuest: a guest that tells too much, or what is no result, costs its own trial and nothing else. The second
// trial of each run goes well.
func TestHostileGuest(t *testing.T) {
	value := 1.0
	metrics := func(n int, name string) (out []results.Metric) {
		for range n {
			out = append(out, results.Metric{Name: name, Value: &value})
		}
		return out
	}
	tell := func(times int, m guest.Measurement) func(*guest.Encoder) {
		return func(e *guest.Encoder) {
			for range times {
				if err := e.Encode(guest.Event{Measurement: &m}); err != nil {
					t.Error(err)
				}
			}
			e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusOK, GuestSeconds: e.Seconds()}})
		}
	}
	long := strings.Repeat("x", 6<<20)
	for name, c := range map[string]struct {
		script func(*guest.Encoder)
		reason string
	}{
		"metrics without end":      {tell(30, guest.Measurement{Metrics: metrics(10_000, "queries_per_second")}), "told more than 200000 steps and values"},
		"a metric that is none":    {tell(1, guest.Measurement{Metrics: metrics(1, "../no metric")}), "makes no result"},
		"a metric twice":           {tell(2, guest.Measurement{Metrics: metrics(1, "queries_per_second")}), "makes no result"},
		"a result of 36 megabytes": {tell(1, guest.Measurement{Flags: flags(6, long)}), "makes no result"},
		"a class that is none":     {tell(1, guest.Measurement{Durability: "eternal"}), "makes no result"},
		"a job of negative seconds": {func(e *guest.Encoder) {
			e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusOK, GuestSeconds: -1e300}})
		}, "makes no result"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machines := 0
			f := newFakeRun(t, 2, func(g *fakeGuest) {
				if machines++; machines == 1 || machines == 3 { // the first trial's both attempts
					g.script = c.script
				}
			})
			summary, found, err := f.carryOut(t, t.Context())
			if err != nil || summary.OK != 1 || summary.Lost != 1 || len(found) != 3 {
				t.Fatalf("%+v, %v, %d results: a hostile guest ended the run", summary, err, len(found))
			}
			for _, r := range found {
				if r.Status == results.StatusOK {
					continue
				}
				if r.Status != results.StatusLost || r.ErrorKind != "infra" || !strings.Contains(r.Reason, c.reason) || len(r.Metrics)+len(r.Flags) > 0 {
					t.Errorf("%s, kind %q, %d metrics, %d flags: %s", r.Status, r.ErrorKind, len(r.Metrics), len(r.Flags), r.Reason)
				}
				if len(r.Reason) > 1000 {
					t.Errorf("a reason of %d bytes", len(r.Reason))
				}
			}
			if err := f.store.Close(store.Done, ""); err != nil {
				t.Error(err)
			}
			if problems := f.store.Verify(); len(problems) > 0 {
				t.Errorf("verify: %v", problems)
			}
		})
	}
}

// TestEntries: everything that is remembered counts.
func TestEntries(t *testing.T) {
	one := guest.Measurement{Disks: make([]results.DiskFacts, 1), Settings: make([]results.Setting, 1), Metrics: make([]results.Metric, 1),
		Histograms: make([]results.Histogram, 1), Probes: make([]results.Probe, 1), Flags: make([]results.Flag, 1)}
	for want, e := range map[int]guest.Event{6: {Measurement: &one}, 1: {Step: &guest.StepEvent{}}, 0: {Log: &guest.Log{}}} {
		if got := entries(e); got != want {
			t.Errorf("%+v counts as %d, want %d", e, got, want)
		}
	}
}

func flags(n int, detail string) (out []results.Flag) {
	for i := range n {
		out = append(out, results.Flag{Name: fmt.Sprintf("flag_%d", i), Detail: detail})
	}
	return out
}
