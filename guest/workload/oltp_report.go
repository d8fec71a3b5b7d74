package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"platter/guest"
	"platter/results"
)

// emitOLTP reports a load the way sysbench sums it up, in base units. percentile is reported beside the usual ones; rows
// is nil when they were not counted.
func (s *Session) emitOLTP(o outcome, percentile float64, rows *int64) error {
	m := metrics{step: s.Step}
	c := o.counts
	if c.events == 0 {
		m.missing("run_seconds", noEvents)
	} else {
		m.add("run_seconds", o.seconds)
	}
	m.add("transactions_total", float64(c.events))
	m.rate("transactions_per_second", c.events, o.seconds)
	m.add("reads_total", float64(c.reads))
	m.add("writes_total", float64(c.writes))
	m.add("others_total", float64(c.others))
	m.add("queries_total", float64(c.queries()))
	m.rate("queries_per_second", c.queries(), o.seconds)
	m.rate("requests_per_second", c.reads+c.writes, o.seconds)
	m.add("deadlocks_total", float64(c.retries))
	m.add("reconnects_total", float64(c.reconnects))
	if rows != nil {
		m.add("rows_total", float64(*rows))
	}
	m.errors(o.failures)
	m.fairness(o.perEvent)
	s.Emit(guest.Measurement{Metrics: m.list})
	s.flagStalls(o.stalls)
	return s.emitLatencies(o, percentile)
}

// fairness is how evenly the clients were served; the standard deviation is the population's.
func (m *metrics) fairness(clients []clientSum) {
	events, busy := make([]float64, len(clients)), make([]float64, len(clients))
	for i, c := range clients {
		events[i], busy[i] = float64(c.events), c.busy.Seconds()
	}
	mean, deviation := meanAndDeviation(events)
	m.add("events_per_thread_mean_total", mean)
	m.add("events_per_thread_stddev_total", deviation)
	mean, deviation = meanAndDeviation(busy)
	m.add("thread_mean_seconds", mean)
	m.add("thread_stddev_seconds", deviation)
}

func meanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

func (s *Session) emitLatencies(o outcome, percentile float64) error {
	unsustained := ""
	if o.response != nil {
		unsustained = s.reportOpenLoop(o)
	}
	if err := s.emitLatencyUnless(unsustained, o.service, "transaction", serviceTime, percentile); err != nil {
		return err
	}
	if o.response != nil {
		if err := s.emitLatencyUnless(unsustained, o.response, "transaction", responseTime, percentile); err != nil {
			return err
		}
	}
	for kind := range kinds_ {
		if l := s.times.kinds[kind].latency; l != nil {
			if err := s.emitLatency(l, kindNames[kind], serviceTime, nil, percentile); err != nil {
				return err
			}
		}
	}
	s.times = statementTimes{}
	return nil
}

// reportOpenLoop gives what only an open loop has, and the reason its percentiles are no result when the rate was not
// sustained.
func (s *Session) reportOpenLoop(o outcome) (unsustained string) {
	m := metrics{step: s.Step}
	m.add("planned_total", float64(o.open.planned))
	m.add("missed_total", float64(o.open.missed()))
	m.add("start_delay_maximum_seconds", o.open.largestDelay.Seconds())
	s.Emit(guest.Measurement{Metrics: m.list})
	if o.open.sustained {
		return ""
	}
	unsustained = fmt.Sprintf("not sustained: %d of %d planned events never began", o.open.missed(), o.open.planned)
	s.flag("not_sustained", "%s; the largest start delay was %.3f s", unsustained, o.open.largestDelay.Seconds())
	return unsustained
}

func (s *Session) flagStalls(stalls []stall) {
	if len(stalls) == 0 {
		return
	}
	var parts []string
	for _, st := range stalls {
		parts = append(parts, fmt.Sprintf("%.1f–%.1f s", st.from, st.to))
	}
	s.flag("stalls", "no event ended during %s", strings.Join(parts, ", "))
}

// emitFailure says that there is no number, why, and which errors the server sent.
func (s *Session) emitFailure(o outcome, err error) {
	m := metrics{step: s.Step}
	reason := shorten(err.Error())
	m.missing("run_seconds", reason)
	m.missing("transactions_per_second", reason)
	failures := map[uint16]int64{}
	for n, times := range o.failures {
		failures[n] = times
	}
	if n := errorNumber(err); n != 0 {
		failures[n]++
	}
	if len(failures) > 0 {
		m.errors(failures)
	}
	s.Emit(guest.Measurement{Metrics: m.list})
	s.times = statementTimes{}
}

// percentilesWith are the usual percentiles and one more.
func percentilesWith(p float64) []namedPercentile {
	out := slices.Clone(percentiles)
	if p > 0 && !slices.ContainsFunc(out, func(n namedPercentile) bool { return n.p == p }) {
		out = append(out, namedPercentile{results.PercentileMetric(p), p})
	}
	return out
}
