package workload

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Merged histograms: counts add up, the maximum is the largest of the parts, and a percentile is the smallest value whose
// cumulative count reaches its rank, within the histogram's precision.
func TestLatencyMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	all := newLatency()
	var times []time.Duration
	for range 5 {
		part := newLatency()
		for range 1000 {
			d := time.Duration(random.ExpFloat64() * float64(3*time.Millisecond))
			part.record(d)
			times = append(times, d)
		}
		all.merge(part)
	}
	all.merge(newLatency())
	slices.Sort(times)
	if all.count != 5000 || all.largest != times[4999] || all.smallest != times[0] || all.histogram.TotalCount() != 5000 {
		t.Errorf("count %d largest %v smallest %v", all.count, all.largest, all.smallest)
	}
	for _, p := range []float64{50, 95, 99} {
		got, reason := all.percentile(p)
		want := times[int(p*50)-1].Seconds()
		if got == nil || *got < want*0.998 || *got > want*1.002 {
			t.Errorf("p%g %v (%s), want %.6f", p, got, reason, want)
		}
	}
}

// A percentile needs ten events beyond it; fewer give no number and say why.
func TestPercentileNeedsEvents(t *testing.T) {
	l := newLatency()
	for range 999 {
		l.record(time.Millisecond)
	}
	if v, reason := l.percentile(99); v != nil || !strings.Contains(reason, "999 events") || !strings.Contains(reason, "1000") {
		t.Errorf("p99 of 999 events: %v %q", v, reason)
	}
	l.record(time.Millisecond)
	if v, _ := l.percentile(99); v == nil {
		t.Error("no p99 of 1000 events")
	}
}

// Nothing is clamped silently: two hours are counted as outside, and kept exactly as the maximum.
func TestLatencyOutside(t *testing.T) {
	l := newLatency()
	l.record(2 * time.Hour)
	l.record(10 * time.Nanosecond)
	if l.outside != 1 || l.largest != 2*time.Hour || l.smallest != 10*time.Nanosecond {
		t.Errorf("outside %d, largest %v, smallest %v", l.outside, l.largest, l.smallest)
	}
	h, err := l.export("x", "run", serviceTime)
	if err != nil || *h.MaxSeconds != 7200 {
		t.Fatalf("%v %v", h, err)
	}
	back, err := hdrhistogram.Decode([]byte(h.Encoded))
	if err != nil || back.TotalCount() != 2 {
		t.Errorf("decoded %v, %v", back, err)
	}
}

// K11: percentiles are never averaged. Three runs of p95 10, 10 and 1000 ms, the last of ten events only, are together one
// of 10 ms, where a mean would say 340; a run of five events has no p99 at all.
func TestPercentilesAreMerged(t *testing.T) {
	all := newLatency()
	for _, run := range []struct {
		events int
		p95    time.Duration
	}{{10000, 10 * time.Millisecond}, {10000, 10 * time.Millisecond}, {10, time.Second}} {
		part := newLatency()
		for range run.events {
			part.record(run.p95)
		}
		all.merge(part)
	}
	if p95, reason := all.percentile(95); p95 == nil || *p95 < 0.00999 || *p95 > 0.01001 {
		t.Errorf("p95 of all %v (%s), want 10 ms", p95, reason)
	}
	if all.largest != time.Second {
		t.Errorf("largest %v", all.largest)
	}
	five := newLatency()
	for range 5 {
		five.record(time.Millisecond)
	}
	if v, reason := five.percentile(99); v != nil || !strings.Contains(reason, "5 events; a p99 needs 1000") {
		t.Errorf("p99 of five events: %v %q", v, reason)
	}
}
