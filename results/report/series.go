package report

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Series is a rate over the time of one trial, thinned for drawing: each part of the time keeps its smallest and its
// largest value, so that neither stalls nor peaks are lost.
type Series struct {
	Row     string    `json:"row"`
	Column  string    `json:"column"`
	Trial   string    `json:"trial"`
	Round   int       `json:"round"`
	Name    string    `json:"name"` // transactions_per_second or queries_per_second
	Warmup  float64   `json:"warmup_seconds"`
	Seconds []float64 `json:"seconds"` // since the first sample
	Values  []float64 `json:"values"`
}

const (
	seriesTrials    = 60  // trials with a series in one report
	seriesPerCell   = 3   // of each cell
	seriesPoints    = 300 // of each trial
	samplesMaxLines = 5_000_000
)

// Kernel is a few seconds of a trial as vmstat and sar would print them.
type Kernel struct {
	Row    string       `json:"row"`
	Column string       `json:"column"`
	Trial  string       `json:"trial"`
	Lines  []KernelLine `json:"lines"`
}

// KernelLine is one second. Rates are per second, sizes bytes, shares of all processors' time.
type KernelLine struct {
	Seconds         float64 `json:"seconds"`
	Running         float64 `json:"running_processes"`
	Blocked         float64 `json:"blocked_processes"`
	FreeBytes       float64 `json:"free_bytes"`
	BuffersBytes    float64 `json:"buffers_bytes"`
	CachedBytes     float64 `json:"cached_bytes"`
	DirtyBytes      float64 `json:"dirty_bytes"`
	ReadBytes       float64 `json:"read_bytes_per_second"`
	WrittenBytes    float64 `json:"written_bytes_per_second"`
	Flushes         float64 `json:"flushes_per_second"`
	Interrupts      float64 `json:"interrupts_per_second"`
	ContextSwitches float64 `json:"context_switches_per_second"`
	User            float64 `json:"user_ratio"`
	Nice            float64 `json:"nice_ratio"`
	System          float64 `json:"system_ratio"`
	Idle            float64 `json:"idle_ratio"`
	IOWait          float64 `json:"iowait_ratio"`
	Steal           float64 `json:"steal_ratio"`
}

// samplesOf is what one trial's samples.csv holds for a report.
type samplesOf struct {
	rates  map[string]*rate
	kernel []reading
	asked  reading // the server's last count of statements
}

// statements is the rate of statements by the server's own count, for workloads that keep no series.
const statements = "statements_per_second"

type rate struct {
	seconds, values []float64
	warmup          float64 // time of the last sample of a warm-up step
}

// reading is all counters at one time of the step that is measured.
type reading struct {
	seconds float64
	values  map[string]float64 // source/name; disks are summed
}

// readSamples fills series and kernel tables for the first rounds of each cell, up to a limit of trials.
func (b *builder) readSamples(folders []Folder, m *Model) {
	byID := map[string]Folder{}
	for _, f := range folders {
		byID[clean(f.ID())] = f
	}
	perCell := map[[2]string]int{}
	read := 0
	for _, t := range b.trials {
		place := [2]string{t.row, t.column}
		folder := byID[t.run]
		if folder == nil || t.status != "ok" || perCell[place] >= seriesPerCell || read >= seriesTrials {
			continue
		}
		samples, err := readSamplesFile(folder, t)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			m.Problems = append(m.Problems, oneLine(clean(t.run+": samples of "+t.id+": "+err.Error())))
			continue
		}
		read++
		if perCell[place]++; perCell[place] == 1 && len(samples.kernel) > 1 {
			m.Kernel = append(m.Kernel, Kernel{Row: t.row, Column: t.column, Trial: t.id, Lines: kernelLines(samples.kernel)})
		}
		for _, name := range []string{"transactions_per_second", "queries_per_second", statements} {
			if r := samples.rates[name]; r != nil && len(r.values) > 1 {
				seconds, values := thin(r.seconds, r.values, seriesPoints)
				m.Series = append(m.Series, Series{Row: t.row, Column: t.column, Trial: t.id, Round: t.round, Name: name, Warmup: r.warmup, Seconds: seconds, Values: values})
				break // transactions say more than statements
			}
		}
	}
}

func readSamplesFile(folder Folder, t *trial) (*samplesOf, error) {
	file, err := folder.Samples(t.id, t.attempt)
	if err != nil {
		return nil, err
	}
	samples, err := parseSamples(file)
	return samples, errors.Join(err, file.Close())
}

// parseSamples reads samples.csv: one value a line, "seconds,step,source,name,value". Lines that are not so are left out.
func parseSamples(r io.Reader) (*samplesOf, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	out := &samplesOf{rates: map[string]*rate{}}
	var now reading
	for range samplesMaxLines {
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var malformed *csv.ParseError
		if err != nil && !errors.As(err, &malformed) {
			return nil, err
		}
		if err != nil || len(line) != 5 {
			continue
		}
		seconds, err1 := strconv.ParseFloat(line[0], 64)
		value, err2 := strconv.ParseFloat(line[4], 64)
		if err1 != nil || err2 != nil || math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(seconds) || math.IsInf(seconds, 0) {
			continue
		}
		step, source := line[1], line[2]
		if source == "server" && line[3] == "Questions" && (isMeasured(step) || isWarmup(step)) {
			out.addQuestions(step, seconds, value)
		}
		if source == "workload" {
			out.addRate(step, line[3], seconds, value)
		} else if isMeasured(step) {
			if seconds != now.seconds && now.values != nil {
				out.kernel = append(out.kernel, now)
				now = reading{}
			}
			if now.values == nil {
				now = reading{seconds, map[string]float64{}}
			}
			source, _, _ = strings.Cut(source, ":")
			now.values[source+"/"+strings.Clone(line[3])] += value
		}
	}
	if now.values != nil {
		out.kernel = append(out.kernel, now)
	}
	return out, nil
}

// isMeasured tells the steps whose load is measured from those that prepare it.
func isMeasured(step string) bool {
	return step != "" && !strings.Contains(step, "prepare") && !strings.Contains(step, "cleanup") && !isWarmup(step)
}

func isWarmup(step string) bool { return strings.Contains(step, "warmup") }

func (s *samplesOf) addRate(step, name string, seconds, value float64) {
	r := s.rates[name]
	if r == nil {
		r = &rate{}
		s.rates[strings.Clone(name)] = r
	}
	first := seconds
	if len(r.seconds) > 0 {
		first = r.seconds[0]
	}
	r.seconds, r.values = append(r.seconds, seconds), append(r.values, value)
	if isWarmup(step) {
		r.warmup = seconds - first
	}
}

// addQuestions turns the server's count of statements into a rate.
func (s *samplesOf) addQuestions(step string, seconds, count float64) {
	if interval := seconds - s.asked.seconds; s.asked.values != nil && interval > 0 && count >= s.asked.values["Questions"] {
		s.addRate(step, statements, seconds, (count-s.asked.values["Questions"])/interval)
	}
	s.asked = reading{seconds, map[string]float64{"Questions": count}}
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

// kernelRows is how many seconds the originals of the published studies printed.
const kernelRows = 10

// kernelLines turns counters into the ten seconds from the middle of the measured step.
func kernelLines(readings []reading) []KernelLine {
	var lines []KernelLine
	from := max(1, (len(readings)-kernelRows)/2)
	for i := from; i < len(readings) && len(lines) < kernelRows; i++ {
		lines = append(lines, kernelLine(readings[i-1], readings[i]))
	}
	return slices.Clip(lines)
}

func kernelLine(before, after reading) KernelLine {
	interval := after.seconds - before.seconds
	per := func(name string) float64 {
		if interval <= 0 {
			return 0
		}
		return math.Max(0, after.values[name]-before.values[name]) / interval
	}
	total := 0.0
	for _, part := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
		total += per("cpu/" + part + "_seconds_total")
	}
	share := func(parts ...string) float64 {
		sum := 0.0
		for _, part := range parts {
			sum += per("cpu/" + part + "_seconds_total")
		}
		if total == 0 {
			return 0
		}
		return round(sum/total, 6)
	}
	return KernelLine{
		Seconds: round(after.seconds, 3), Running: after.values["system/running_processes"], Blocked: after.values["system/blocked_processes"],
		FreeBytes: after.values["memory/free_bytes"], BuffersBytes: after.values["memory/buffers_bytes"],
		CachedBytes: after.values["memory/cached_bytes"], DirtyBytes: after.values["memory/dirty_bytes"],
		ReadBytes: per("disk/read_bytes_total"), WrittenBytes: per("disk/written_bytes_total"), Flushes: per("disk/flushes_total"),
		Interrupts: per("system/interrupts_total"), ContextSwitches: per("system/context_switches_total"),
		User: share("user"), Nice: share("nice"), System: share("system", "irq", "softirq"), Idle: share("idle"), IOWait: share("iowait"), Steal: share("steal"),
	}
}
