package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"platter/results"
)

// recomputed are the metrics that a stored latency distribution gives again.
var recomputed = map[string]float64{
	"latency_p50_seconds": 50, "latency_p95_seconds": 95, "latency_p99_seconds": 99, "latency_p999_seconds": 99.9,
}

// distribution names what a latency metric and its histogram are of.
type distribution struct{ step, operation, kind string }

// recompute holds a result's latency metrics against the distributions stored beside them: each percentile and maximum
// must follow from one of its step, operation and kind, and each distribution must hold as many events as it says.
func recompute(r results.Result) error {
	var faults []error
	decoded := map[distribution][]*hdrhistogram.Histogram{}
	largest := map[distribution][]float64{}
	for _, h := range r.Histograms {
		key := distribution{h.Step, h.Operation, h.Kind}
		histogram, err := decodeHistogram(h.Encoded)
		if err != nil {
			faults = append(faults, fmt.Errorf("histogram of %s: %w", h.Operation, err))
			continue
		}
		if n := histogram.TotalCount(); n != h.Count {
			faults = append(faults, fmt.Errorf("histogram of %s: holds %d events, says %d", h.Operation, n, h.Count))
		}
		decoded[key] = append(decoded[key], histogram)
		if h.MaxSeconds != nil {
			largest[key] = append(largest[key], *h.MaxSeconds)
		}
	}
	for _, m := range r.Metrics {
		key := distribution{m.Step, m.Labels["operation"], m.Labels["kind"]}
		if m.Value == nil || len(decoded[key]) == 0 {
			continue
		}
		var candidates []float64
		if percent, ok := recomputed[m.Name]; ok {
			for _, h := range decoded[key] {
				candidates = append(candidates, float64(h.ValueAtPercentile(percent))/1e6)
			}
		} else if m.Name == "latency_maximum_seconds" {
			candidates = largest[key]
		}
		if len(candidates) > 0 && !anyClose(candidates, *m.Value) {
			faults = append(faults, fmt.Errorf("metric %s is %v, its distribution gives %v", m.Key(), *m.Value, candidates))
		}
	}
	return errors.Join(faults...)
}

func anyClose(candidates []float64, value float64) bool {
	for _, c := range candidates {
		if math.Abs(c-value) <= 1e-9*math.Max(1, math.Abs(c)) {
			return true
		}
	}
	return false
}

const histogramLimitBytes = 4 << 20 // of one, encoded

// decodeHistogram shields from a decoder that trusts its input.
func decodeHistogram(text string) (h *hdrhistogram.Histogram, err error) {
	if len(text) > histogramLimitBytes {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(text), histogramLimitBytes)
	}
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("cannot be decoded: %v", p)
		}
	}()
	return hdrhistogram.Decode(bytes.Clone([]byte(text)))
}
