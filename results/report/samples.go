package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Limits on what a trial's samples may hold: a guest wrote them, and may have written anything. A job has a handful of
// steps, a step a handful of rates, and half a million seconds are six days.
const (
	samplesMaxLines    = 5_000_000
	samplesMaxSteps    = 1000
	samplesMaxRates    = 100 // of one step
	samplesMaxReadings = 500_000
)

// samplesOf is what one trial's samples.csv holds for a report: its measured steps, in order.
type samplesOf struct {
	steps    []*stepSamples
	byName   map[string]*stepSamples
	readings int
	warmup   map[string]*rate // of a warm-up, until the step it warms up for begins
	asked    *asked           // the server's last count of statements
}

type asked struct{ seconds, count float64 }

// stepSamples is one measured step.
type stepSamples struct {
	name   string
	rates  map[string]*rate
	kernel []reading
}

// statements is the rate of statements by the server's own count, for workloads that keep no series.
const statements = "statements_per_second"

// rate is a rate over time: first the warm-up, if there was one, then the measured window from index measured on.
type rate struct {
	seconds, values []float64
	warmup          float64 // length of the warm-up
	measured        int
}

// counters are the samples that a report needs: source/name; disks are summed.
var counters = []string{
	"cpu/user_seconds_total", "cpu/nice_seconds_total", "cpu/system_seconds_total", "cpu/idle_seconds_total", "cpu/iowait_seconds_total",
	"cpu/irq_seconds_total", "cpu/softirq_seconds_total", "cpu/steal_seconds_total",
	"system/running_processes", "system/blocked_processes", "system/interrupts_total", "system/context_switches_total",
	"memory/free_bytes", "memory/buffers_bytes", "memory/cached_bytes", "memory/slab_reclaimable_bytes", "memory/dirty_bytes", "memory/swap_total_bytes", "memory/swap_free_bytes",
	"paging/swapped_in_bytes_total", "paging/swapped_out_bytes_total",
	"disk/read_bytes_total", "disk/written_bytes_total", "disk/flushes_total",
	"server/Innodb_os_log_written", "server/Innodb_data_written", "server/Innodb_data_fsyncs",
}

// maxCounters is the room for counters in a reading: arrays, because a long trial has a hundred thousand readings.
const maxCounters = 27

// placeOf finds a counter without making a string of its parts.
var placeOf = func() map[[2]string]int {
	places := map[[2]string]int{}
	for i, c := range counters {
		source, name, _ := strings.Cut(c, "/")
		places[[2]string{source, name}] = i
	}
	return places
}()

// reading is all counters at one time of a step that is measured.
type reading struct {
	seconds float64
	values  [maxCounters]float64
	seen    [maxCounters]bool
}

// value is a counter's, and whether it was sampled.
func (r *reading) value(counter string) (float64, bool) {
	source, name, _ := strings.Cut(counter, "/")
	i, known := placeOf[[2]string{source, name}]
	return r.values[i], known && r.seen[i]
}

// rate is the step's most telling one, nil when there is none: transactions say more than statements.
func (s *stepSamples) rate() (string, *rate) {
	for _, name := range []string{"transactions_per_second", "queries_per_second", statements} {
		if r := s.rates[name]; r != nil {
			return name, r
		}
	}
	return "", nil
}

// mainStep is the step that was sampled longest.
func (s *samplesOf) mainStep() *stepSamples {
	main := &stepSamples{}
	for _, step := range s.steps {
		if len(step.kernel) > len(main.kernel) {
			main = step
		}
	}
	return main
}

// parseSamples reads samples.csv: one value a line, "seconds,step,source,name,value". Lines that are not so are left out,
// and a line is taken for itself, so that an open quote spoils no other.
func parseSamples(r io.Reader) (*samplesOf, error) {
	out := &samplesOf{warmup: map[string]*rate{}, byName: map[string]*stepSamples{}}
	in := bufio.NewScanner(r)
	for n := 0; n < samplesMaxLines && in.Scan(); n++ {
		fields := [5]string{}
		if !splitLine(in.Text(), &fields) {
			continue
		}
		seconds, err1 := strconv.ParseFloat(fields[0], 64)
		value, err2 := strconv.ParseFloat(fields[4], 64)
		if err1 == nil && err2 == nil && !math.IsNaN(value+seconds) && !math.IsInf(value+seconds, 0) {
			out.add(fields[1], fields[2], fields[3], seconds, value)
		}
		if err := out.tooMuch(fields[1]); err != nil {
			return out, err
		}
	}
	return out, in.Err()
}

// tooMuch tells whether the samples, step's among them, are over their limits.
func (s *samplesOf) tooMuch(step string) error {
	rates := len(s.warmup)
	if at := s.byName[step]; at != nil {
		rates = max(rates, len(at.rates))
	}
	switch {
	case len(s.steps) > samplesMaxSteps:
		return fmt.Errorf("samples of more than %d steps", samplesMaxSteps)
	case rates > samplesMaxRates:
		return fmt.Errorf("samples of more than %d rates in one step", samplesMaxRates)
	case s.readings > samplesMaxReadings:
		return fmt.Errorf("samples of more than %d moments", samplesMaxReadings)
	}
	return nil
}

// splitLine splits a line into five fields and reports whether it has as many.
func splitLine(line string, fields *[5]string) bool {
	if strings.ContainsRune(line, '"') {
		parsed, err := csv.NewReader(strings.NewReader(line)).Read()
		return err == nil && copy(fields[:], parsed) == len(fields) && len(parsed) == len(fields)
	}
	for i := range fields[:4] {
		var ok bool
		if fields[i], line, ok = strings.Cut(line, ","); !ok {
			return false
		}
	}
	fields[4] = line
	return !strings.Contains(line, ",")
}

// add files one value.
func (s *samplesOf) add(step, source, name string, seconds, value float64) {
	if !isMeasured(step) && !isWarmup(step) {
		return
	}
	if source == "server" && name == "Questions" {
		s.addQuestions(step, seconds, value)
	}
	if source == "workload" {
		s.addRate(step, name, seconds, value)
		return
	}
	if isWarmup(step) {
		return
	}
	source, _, _ = strings.Cut(source, ":")
	place, ok := placeOf[[2]string{source, name}]
	if !ok {
		return
	}
	at := s.step(step)
	if n := len(at.kernel); n == 0 || at.kernel[n-1].seconds != seconds {
		at.kernel = append(at.kernel, reading{seconds: seconds})
		s.readings++
	}
	now := &at.kernel[len(at.kernel)-1]
	now.values[place] += value
	now.seen[place] = true
}

// step finds a step, or begins it.
func (s *samplesOf) step(name string) *stepSamples {
	if n := len(s.steps); n > 0 && s.steps[n-1].name == name {
		return s.steps[n-1]
	}
	if step := s.byName[name]; step != nil {
		return step
	}
	step := &stepSamples{name: name, rates: map[string]*rate{}}
	s.steps, s.byName[name] = append(s.steps, step), step
	return step
}

// isMeasured tells the steps whose load is measured from those that prepare it.
func isMeasured(step string) bool {
	return step != "" && !strings.Contains(step, "prepare") && !strings.Contains(step, "cleanup") && !isWarmup(step)
}

func isWarmup(step string) bool { return strings.Contains(step, "warmup") }

// addRate continues a rate. That of a warm-up becomes the beginning of the step that follows.
func (s *samplesOf) addRate(step, name string, seconds, value float64) {
	rates := s.warmup
	if !isWarmup(step) {
		rates = s.step(step).rates
	}
	r := rates[name]
	if r == nil {
		r = &rate{}
		if warm := s.warmup[name]; warm != nil && !isWarmup(step) {
			r = warm
			r.warmup, r.measured = r.seconds[len(r.seconds)-1]-r.seconds[0], len(r.seconds)
			delete(s.warmup, name)
		}
		rates[name] = r
	}
	r.seconds, r.values = append(r.seconds, seconds), append(r.values, value)
}

// addQuestions turns the server's count of statements into a rate.
func (s *samplesOf) addQuestions(step string, seconds, count float64) {
	if last := s.asked; last != nil && seconds > last.seconds && count >= last.count {
		s.addRate(step, statements, seconds, (count-last.count)/(seconds-last.seconds))
	}
	s.asked = &asked{seconds, count}
}
