package workload

import (
	"fmt"
	"math"
	"testing"
	"time"

	"platter/guest"
	"platter/results"
)

// Row 13: what sysbench 1.0 can print is 0.001·rⁱ ms with r = 1.0181696, to two decimals; the values of the specification
// follow each other.
func TestSysbenchGrid(t *testing.T) {
	if r := math.Exp(sysbenchGrid.step); math.Abs(r-1.0181696) > 5e-8 {
		t.Errorf("r is %.7f", r)
	}
	at := sysbenchGrid.snap(0.00956)
	for _, want := range []string{"9.56", "9.73", "9.91", "10.09"} {
		if got := fmt.Sprintf("%.2f", at*1e3); got != want {
			t.Errorf("%s ms, want %s", got, want)
		}
		at = sysbenchGrid.snap(at * 1.0181696)
	}
	for _, ms := range []float64{0.0004, 0.001, 0.35, 1, 7.3, 99999} {
		got := sysbenchGrid.snap(ms/1e3) * 1e3
		i := math.Log(got/0.001) / sysbenchGrid.step
		if math.Abs(i-math.Round(i)) > 1e-6 || i < 0 || ms >= 0.001 && math.Abs(got/ms-1) > 0.0092 {
			t.Errorf("%g ms is counted at %g, which is 0.001·r^%g", ms, got, i)
		}
	}
	if got := legacyGrid.snap(0.012345); math.Abs(got/0.012345-1) > 0.00016 {
		t.Errorf("0.4: 12.345 ms is counted at %g", got)
	}
}

// The rank rule: the first value whose cumulative count reaches n·p/100, rounded; nothing of nothing.
func TestPrintedPercentile(t *testing.T) {
	for _, c := range []struct {
		events, slow int
		p            float64
		wantMillis   float64
	}{{100, 5, 95, 1}, {100, 6, 95, 20}, {1, 1, 95, 20}, {10, 1, 95, 20}, {10, 1, 94, 1}, {1000, 10, 99, 1}} {
		l := newLatency()
		for i := range c.events {
			if i < c.slow {
				l.record(20 * time.Millisecond)
			} else {
				l.record(time.Millisecond)
			}
		}
		var got []results.Metric
		s := &Session{Emit: func(m guest.Measurement) { got = append(got, m.Metrics...) }}
		s.emitPrinted(l, c.p, sysbenchGrid)
		if len(got) != 1 || got[0].Value == nil || math.Abs(*got[0].Value*1e3/c.wantMillis-1) > 0.01 {
			t.Errorf("p%g of %d events, %d of them 20 ms: %+v, want about %g ms", c.p, c.events, c.slow, got, c.wantMillis)
		}
	}
	var got []results.Metric
	s := &Session{Emit: func(m guest.Measurement) { got = append(got, m.Metrics...) }}
	s.emitPrinted(newLatency(), 95, legacyGrid)
	if len(got) != 1 || got[0].Value != nil || got[0].Reason != noEvents {
		t.Errorf("of no events: %+v", got)
	}
}
