package workload

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"platter/guest"
	"platter/results"
)

// The range of every latency histogram: 1 µs to an hour in 3 significant digits.
const (
	lowestMicros  = 1
	highestMicros = int64(time.Hour / time.Microsecond)
	digits        = 3
)

// latency records the times of one operation of one client. Nothing is clamped silently: what does not fit the range is
// counted and the exact largest and smallest times and the sum are kept beside the histogram.
type latency struct {
	histogram *hdrhistogram.Histogram
	smallest  time.Duration
	largest   time.Duration
	sum       time.Duration
	count     int64
	outside   int64 // over the range, counted at its end
}

func newLatency() *latency {
	return &latency{histogram: hdrhistogram.New(lowestMicros, highestMicros, digits)}
}

// record adds one time. Times are rounded to the nearest microsecond, and those under one count as one.
func (l *latency) record(d time.Duration) {
	micros := int64((d + time.Microsecond/2) / time.Microsecond)
	if micros > highestMicros {
		micros = highestMicros
		l.outside++
	}
	_ = l.histogram.RecordValue(max(micros, lowestMicros)) // in range by now
	if l.count == 0 || d < l.smallest {
		l.smallest = d
	}
	l.largest = max(l.largest, d)
	l.sum += d
	l.count++
}

// merge adds the times of another client.
func (l *latency) merge(o *latency) {
	if o.count == 0 {
		return
	}
	l.histogram.Merge(o.histogram)
	if l.count == 0 || o.smallest < l.smallest {
		l.smallest = o.smallest
	}
	l.largest = max(l.largest, o.largest)
	l.sum += o.sum
	l.count += o.count
	l.outside += o.outside
}

// percentile is the smallest recorded time whose cumulative count reaches p per cent; nil with a reason when fewer than
// ten events lie beyond it.
func (l *latency) percentile(p float64) (seconds *float64, reason string) {
	if p >= 100 {
		return nil, "nothing lies beyond the largest; it is latency_maximum_seconds"
	}
	if beyond := float64(l.count) * (100 - p) / 100; beyond < eventsBeyond-1e-9 {
		return nil, fmt.Sprintf("%d events; a p%g needs %.0f", l.count, p, eventsBeyond*100/(100-p))
	}
	v := float64(l.histogram.ValueAtPercentile(p)) / 1e6
	return &v, ""
}

// eventsBeyond is how many events must lie beyond a percentile for it to mean something.
const eventsBeyond = 10

// export gives the histogram's stored form.
func (l *latency) export(operation, step, kind string) (results.Histogram, error) {
	encoded, err := l.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return results.Histogram{}, fmt.Errorf("encode the latencies of %s: %w", operation, err)
	}
	h := results.Histogram{Operation: operation, Step: step, Kind: kind, Count: l.count, Encoded: string(encoded)}
	if l.count > 0 {
		seconds := l.largest.Seconds()
		h.MaxSeconds = &seconds
	}
	return h, nil
}

// Kinds of latency.
const (
	serviceTime  = "service"  // from the actual start: what a closed loop can measure
	responseTime = "response" // from the intended start
)

// namedPercentile is a percentile and the metric that holds it.
type namedPercentile struct {
	name string
	p    float64
}

// percentiles are those every latency is summed up by.
var percentiles = []namedPercentile{{"latency_p50_seconds", 50}, {"latency_p95_seconds", 95}, {"latency_p99_seconds", 99}, {"latency_p999_seconds", 99.9}}

// emitLatency emits a histogram and its summary metrics; percentile is one more besides the usual ones, 0 for none.
func (s *Session) emitLatency(l *latency, operation, kind string, labels map[string]string, percentile float64) error {
	m := metrics{step: s.Step, labels: with(with(labels, "operation", operation), "kind", kind)}
	for _, p := range percentilesWith(percentile) {
		if v, reason := l.percentile(p.p); v != nil {
			m.add(p.name, *v)
		} else {
			m.missing(p.name, reason)
		}
	}
	return s.emitSummary(&m, l, operation, kind)
}

// emitLatencyUnless is emitLatency, with a reason instead of percentiles when there is one.
func (s *Session) emitLatencyUnless(reason string, l *latency, operation, kind string, percentile float64) error {
	if reason == "" {
		return s.emitLatency(l, operation, kind, nil, percentile)
	}
	m := metrics{step: s.Step, labels: map[string]string{"operation": operation, "kind": kind}}
	for _, p := range percentilesWith(percentile) {
		m.missing(p.name, reason)
	}
	return s.emitSummary(&m, l, operation, kind)
}

func (s *Session) emitSummary(m *metrics, l *latency, operation, kind string) error {
	h, err := l.export(operation, s.Step, kind)
	if err != nil {
		return err
	}
	if l.count == 0 {
		for _, name := range []string{"latency_mean_seconds", "latency_minimum_seconds", "latency_maximum_seconds"} {
			m.missing(name, noEvents)
		}
	} else {
		m.add("latency_mean_seconds", l.sum.Seconds()/float64(l.count))
		m.add("latency_minimum_seconds", l.smallest.Seconds())
		m.add("latency_maximum_seconds", l.largest.Seconds())
	}
	s.Emit(guest.Measurement{Metrics: m.list, Histograms: []results.Histogram{h}})
	if l.outside > 0 {
		s.flag("latency_over_range", "%s: %d events took over an hour; their exact maximum is kept", operation, l.outside)
	}
	return nil
}

// noEvents is the reason of a number that does not exist because nothing happened.
const noEvents = "no events"
