package workload

import (
	"maps"
	"sort"
	"strconv"

	"platter/results"
)

// metrics collects the numbers of a step under one set of labels.
type metrics struct {
	step   string
	labels map[string]string
	list   []results.Metric
}

func (m *metrics) add(name string, value float64) {
	m.list = append(m.list, results.Metric{Name: name, Step: m.step, Labels: m.labels, Value: &value})
}

// missing says that there is no number, and why.
func (m *metrics) missing(name, reason string) {
	m.list = append(m.list, results.Metric{Name: name, Step: m.step, Labels: m.labels, Reason: reason})
}

// rate adds n per second, or says that nothing happened.
func (m *metrics) rate(name string, n int64, seconds float64) {
	switch {
	case n == 0:
		m.missing(name, noEvents)
	case seconds <= 0:
		m.missing(name, "no time passed")
	default:
		m.add(name, float64(n)/seconds)
	}
}

// errors adds the number of errors of each server error number; none is one zero without a label.
func (m *metrics) errors(byNumber map[uint16]int64) {
	if len(byNumber) == 0 {
		m.add("errors_total", 0)
		return
	}
	numbers := make([]int, 0, len(byNumber))
	for n := range byNumber {
		numbers = append(numbers, int(n))
	}
	sort.Ints(numbers)
	for _, n := range numbers {
		count := float64(byNumber[uint16(n)])
		m.list = append(m.list, results.Metric{Name: "errors_total", Step: m.step, Labels: with(m.labels, "error", strconv.Itoa(n)), Value: &count})
	}
}

// with is a copy of labels with one more.
func with(labels map[string]string, name, value string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	out[name] = value
	return out
}
