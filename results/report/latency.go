package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"platter/results"
)

// Latency is the distribution of one operation over all valid trials of a cell, merged for the picture. The percentiles
// of tables come from single trials, never from here.
type Latency struct {
	Row       string         `json:"row"`
	Column    string         `json:"column"`
	Step      string         `json:"step,omitempty"`
	Operation string         `json:"operation"`
	Kind      string         `json:"kind"` // service or response
	Trials    int            `json:"trials"`
	Count     int64          `json:"count"`
	Points    []LatencyPoint `json:"points"`
}

// LatencyPoint says which share of the events took longer than Seconds.
type LatencyPoint struct {
	Seconds float64 `json:"seconds"`
	Beyond  float64 `json:"beyond_ratio"`
}

const (
	histogramLimitBytes = 4 << 20 // of one, encoded
	latencyPoints       = 200
	eventsBeyond        = 10 // a share needs as many events beyond it to be drawn
)

// merged is one distribution while it is put together.
type merged struct {
	latency   Latency
	histogram *hdrhistogram.Histogram
}

// latencyKey tells distributions apart.
type latencyKey struct{ row, column, step, operation, kind string }

// decode turns a trial's histograms into ones that can be merged. Broken ones become problems.
func decodeHistograms(encoded []results.Histogram) ([]*hdrhistogram.Histogram, error) {
	out := make([]*hdrhistogram.Histogram, len(encoded))
	for i, h := range encoded {
		if len(h.Encoded) > histogramLimitBytes {
			return nil, fmt.Errorf("histogram of %s: %d bytes, the limit is %d", h.Operation, len(h.Encoded), histogramLimitBytes)
		}
		decoded, err := safeDecode(h.Encoded)
		if err != nil {
			return nil, fmt.Errorf("histogram of %s: %w", h.Operation, err)
		}
		out[i] = decoded
	}
	return out, nil
}

// safeDecode shields from a decoder that trusts its input.
func safeDecode(text string) (h *hdrhistogram.Histogram, err error) {
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("cannot be decoded: %v", p)
		}
	}()
	return hdrhistogram.Decode(bytes.Clone([]byte(text)))
}

// latencies merges the histograms of each cell.
func (b *builder) latencies() []Latency {
	all := map[latencyKey]*merged{}
	for _, t := range b.trials {
		if t.status != results.StatusOK {
			continue
		}
		for i, h := range t.histograms {
			meta := t.histogramsOf[i]
			key := latencyKey{t.row, t.column, meta.Step, meta.Operation, meta.Kind}
			m := all[key]
			if m == nil {
				m = &merged{Latency{Row: key.row, Column: key.column, Step: key.step, Operation: key.operation, Kind: key.kind},
					hdrhistogram.New(h.LowestTrackableValue(), h.HighestTrackableValue(), int(h.SignificantFigures()))}
				all[key] = m
			}
			if dropped := m.histogram.Merge(h); dropped > 0 {
				b.problems = append(b.problems, fmt.Sprintf("%s: trial %s: %d latencies of %s lie outside the range of the other trials", t.run, t.id, dropped, meta.Operation))
			}
			m.latency.Trials++
		}
	}
	var out []Latency
	rank := func(l Latency) int {
		return slices.Index(b.rowSet, l.Row)*len(b.colSet) + slices.Index(b.colSet, l.Column)
	}
	for _, m := range slices.Collect(maps.Values(all)) {
		m.latency.Count, m.latency.Points = m.histogram.TotalCount(), beyond(m.histogram)
		out = append(out, m.latency)
	}
	slices.SortFunc(out, func(x, y Latency) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Step, y.Step), cmp.Compare(x.Operation, y.Operation), cmp.Compare(x.Kind, y.Kind))
	})
	return out
}

// beyond returns the complementary distribution, thinned, down to the share with ten events beyond it.
func beyond(h *hdrhistogram.Histogram) []LatencyPoint {
	total := h.TotalCount()
	var points []LatencyPoint
	seen := int64(0)
	for _, bar := range h.Distribution() {
		seen += bar.Count
		left := total - seen
		if bar.Count == 0 || left < eventsBeyond {
			continue
		}
		p := LatencyPoint{float64(bar.To) / 1e6, float64(left) / float64(total)}
		if n := len(points); n > 1 && points[n-2].Beyond-p.Beyond < 1.0/latencyPoints*p.Beyond {
			points[n-1] = p // too close to be told apart in a picture
			continue
		}
		points = append(points, p)
	}
	return points
}
