package workload

import (
	"math"

	"platter/guest"
)

// grid is the logarithmic scale on which a tool counts its response times: its percentiles can only be lowest·ratioⁱ.
type grid struct {
	lowest float64 // seconds
	step   float64 // ln(ratio)
}

// The scales of the tools: 1024 values from 1 µs to 100 s, 1.8 % apart, and 100000 from 1 ns to 10¹³ ns, 0.03 % apart.
var (
	sysbenchGrid = grid{lowest: 1e-6, step: math.Log(1e8) / 1023}
	legacyGrid   = grid{lowest: 1e-9, step: math.Log(1e13) / 99999}
)

// snap gives the value of the scale a time is counted at.
func (g grid) snap(seconds float64) float64 {
	i := math.Max(0, math.Floor(math.Log(seconds/g.lowest)/g.step+0.5))
	return g.lowest * math.Exp(i*g.step)
}

// emitPrinted reports a run's percentile as the tool would print it, to stand beside printed figures: by its rank rule (the
// first value whose cumulative count reaches n·p/100, rounded) and on its scale. Ours is the percentile without it.
//
// Note: sysbench 0.4 itself prints ten million ms for runs of up to about ten events; that is left out.
func (s *Session) emitPrinted(l *latency, percentile float64, g grid) {
	if percentile == 0 {
		return
	}
	m := metrics{step: s.Step}
	if l.count == 0 {
		m.missing("printed_percentile_seconds", noEvents)
	} else {
		m.add("printed_percentile_seconds", g.snap(float64(l.histogram.ValueAtPercentile(percentile))/1e6))
	}
	s.Emit(guest.Measurement{Metrics: m.list})
}
