package store

import (
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"platter/results"
)

// timed is a result with one distribution of 1000 events, from 1 to 1000 ms, and metrics that follow from it.
func timed(t *testing.T) results.Result {
	t.Helper()
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	for i := int64(1); i <= 1000; i++ {
		if err := h.RecordValue(i * 1000); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	p95, largest := float64(h.ValueAtPercentile(95))/1e6, 1.0
	labels := map[string]string{"operation": "insert", "kind": "service"}
	r := result("000-ext4/1")
	r.Histograms = []results.Histogram{{Operation: "insert", Step: "run", Kind: "service", Count: 1000, MaxSeconds: &largest, Encoded: string(encoded)}}
	r.Metrics = append(r.Metrics,
		results.Metric{Name: "latency_p95_seconds", Step: "run", Labels: labels, Value: &p95},
		results.Metric{Name: "latency_maximum_seconds", Step: "run", Labels: labels, Value: &largest})
	return r
}

func TestRecompute(t *testing.T) {
	if err := recompute(timed(t)); err != nil {
		t.Error(err)
	}
	wrong := 0.5
	for _, c := range []struct {
		name  string
		spoil func(*results.Result)
		want  string
	}{
		{"a percentile", func(r *results.Result) { r.Metrics[1].Value = &wrong }, "latency_p95_seconds"},
		{"a maximum", func(r *results.Result) { r.Metrics[2].Value = &wrong }, "latency_maximum_seconds"},
		{"a count", func(r *results.Result) { r.Histograms[0].Count++ }, "holds 1000 events, says 1001"},
		{"no histogram", func(r *results.Result) { r.Histograms[0].Encoded = "HISTFAAAA" }, "histogram of insert"},
		{"a histogram without end", func(r *results.Result) { r.Histograms[0].Encoded = strings.Repeat("A", histogramLimitBytes+1) }, "the limit is"},
	} {
		r := timed(t)
		c.spoil(&r)
		if err := recompute(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestVerifyRecomputes: a number that was altered, digests and all, is still found.
func TestVerifyRecomputes(t *testing.T) {
	run := create(t, t.TempDir())
	finish(t, run, "000-ext4/1", 1)
	dir, err := run.Trial("001-xfs/1", 1)
	if err != nil {
		t.Fatal(err)
	}
	r := timed(t)
	r.TrialID, r.Factors = "001-xfs/1", map[string]string{"storage": "xfs"}
	*r.Metrics[1].Value /= 2
	if err := dir.Finish(r); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(Done, ""); err != nil {
		t.Fatal(err)
	}
	problems := run.Verify()
	if len(problems) != 1 || problems[0].Kind != Invalid || !strings.Contains(problems[0].Error(), "001-xfs/1-1/result.json: invalid: metric latency_p95_seconds") {
		t.Errorf("problems: %v", problems)
	}
}
