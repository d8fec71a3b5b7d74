package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"platter/results"
	"platter/results/stats"
)

// Series is a rate over the time of one trial, thinned for drawing: each part of the time keeps its smallest and its
// largest value, so that neither stalls nor peaks are lost.
type Series struct {
	Row     string    `json:"row"`
	Column  string    `json:"column"`
	Trial   string    `json:"trial"`
	Round   int       `json:"round"`
	Step    string    `json:"step"`
	Name    string    `json:"name"` // transactions_per_second or queries_per_second
	Warmup  float64   `json:"warmup_seconds"`
	Seconds []float64 `json:"seconds"` // since the first sample
	Values  []float64 `json:"values"`
}

const (
	seriesMost    = 180  // in one report
	seriesPerCell = 3    // trials of each cell
	seriesPoints  = 300  // of each series
	steadyTrials  = 1000 // whose samples are read at all: a page must not take a minute
)

// sampled is what the samples of all trials come to.
type sampled struct {
	series []Series
	kernel []Kernel
}

// readSamples reads the samples of the trials: all of them say how steady they were and what the server asked of the
// filesystem, the first rounds of each cell are drawn.
func (b *builder) readSamples(folders []Folder) {
	byID := map[string]Folder{}
	for _, f := range folders {
		byID[clean(f.ID())] = f
	}
	perCell := map[[2]string]int{}
	read, left := 0, 0
	for _, t := range b.trials {
		folder := byID[t.run]
		if folder == nil || t.status != results.StatusOK {
			continue
		}
		if read >= steadyTrials {
			left++
			continue
		}
		samples, err := readSamplesFile(folder, t)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			b.problems = append(b.problems, oneLine(clean(t.run+": samples of "+t.id+": "+err.Error())))
			continue
		}
		read++
		t.steady, t.metrics = samples.steady(), append(t.metrics, samples.costs(t.metrics)...)
		if place := [2]string{t.row, t.column}; perCell[place] < seriesPerCell && len(b.sampled.series) < seriesMost {
			perCell[place]++
			b.sampled.draw(t, samples, perCell[place] == 1)
		}
	}
	if left > 0 {
		b.notes.add("samples_limit", fmt.Sprintf("the samples of %d trials were not read: whether they were steady is not known", left))
	}
}

// draw keeps what figures show of a trial.
func (s *sampled) draw(t *trial, samples *samplesOf, first bool) {
	if main := samples.mainStep(); first && len(main.kernel) > 1 {
		s.kernel = append(s.kernel, Kernel{Row: t.row, Column: t.column, Trial: t.id, Step: main.name, Lines: kernelLines(main.kernel)})
	}
	for _, step := range samples.steps {
		if name, r := step.rate(); r != nil && len(r.values) > 1 {
			seconds, values := thin(r.seconds, r.values, seriesPoints)
			s.series = append(s.series, Series{Row: t.row, Column: t.column, Trial: t.id, Round: t.round, Step: step.name, Name: name,
				Warmup: r.warmup, Seconds: seconds, Values: values})
		}
	}
}

// steady judges each measured step: true, false, or absent where nobody knows.
func (s *samplesOf) steady() map[string]bool {
	out := map[string]bool{}
	for _, step := range s.steps {
		if _, r := step.rate(); r != nil {
			if steady := stats.Steady(r.values[r.measured:]); steady != nil {
				out[step.name] = *steady
			}
		}
	}
	return out
}

// askedCosts are what the server asked of the filesystem, by its own counters.
var askedCosts = []struct{ name, counter string }{
	{"log_bytes_per_transaction_ratio", "server/Innodb_os_log_written"},
	{"asked_bytes_per_transaction_ratio", "server/Innodb_data_written"},
	{"asked_flushes_per_transaction_ratio", "server/Innodb_data_fsyncs"},
}

// costs divides the server's counters by the work of the same time: rate over rate, so that the samples' edges, up to a
// second from those of the step, do not matter.
func (s *samplesOf) costs(metrics []results.Metric) []results.Metric {
	var out []results.Metric
	for _, step := range s.steps {
		work := total(metrics, step.name, "transactions_per_second")
		if work == 0 {
			work = total(metrics, step.name, "queries_per_second")
		}
		if n := len(step.kernel); n > 1 && work > 0 {
			first, last := step.kernel[0], step.kernel[n-1]
			for _, cost := range askedCosts {
				spent, ok := last.value(cost.counter)
				before, _ := first.value(cost.counter)
				if spent -= before; ok && spent > 0 && last.seconds > first.seconds {
					ratio := spent / (last.seconds - first.seconds) / work
					out = append(out, results.Metric{Name: cost.name, Step: step.name, Value: &ratio})
				}
			}
		}
	}
	return out
}

func readSamplesFile(folder Folder, t *trial) (*samplesOf, error) {
	file, err := folder.Samples(t.id, t.attempt)
	if err != nil {
		return nil, err
	}
	samples, err := parseSamples(file)
	return samples, errors.Join(err, file.Close())
}

// thin keeps the smallest and the largest value of each of points/2 parts, in the order they came, and makes the time
// begin at 0.
func thin(seconds, values []float64, points int) ([]float64, []float64) {
	var outSeconds, outValues []float64
	add := func(i int) {
		outSeconds, outValues = append(outSeconds, round(seconds[i]-seconds[0], 3)), append(outValues, values[i])
	}
	if len(values) <= points {
		for i := range values {
			add(i)
		}
		return outSeconds, outValues
	}
	parts := points / 2
	for part := range parts {
		from, to := part*len(values)/parts, (part+1)*len(values)/parts
		low, high := from, from
		for i := from; i < to; i++ {
			if values[i] < values[low] {
				low = i
			}
			if values[i] > values[high] {
				high = i
			}
		}
		add(min(low, high))
		if low != high {
			add(max(low, high))
		}
	}
	return outSeconds, outValues
}

func round(v float64, decimals int) float64 {
	shift := math.Pow(10, float64(decimals))
	return math.Round(v*shift) / shift
}
