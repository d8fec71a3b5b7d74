package report

import (
	"maps"
	"slices"

	"platter/results"
)

// costs are ratios that a trial's own totals give: what one transaction (or statement, where there are no transactions)
// cost the devices. A workload that measured them itself is left alone.
var costs = []struct{ name, total string }{
	{"flushes_per_transaction_ratio", "device_flushes_total"},
	{"written_bytes_per_transaction_ratio", "device_written_bytes"},
}

// derive returns a trial's metrics with costs added, and its probes as metrics labelled by probe.
func derive(r results.Result) []results.Metric {
	metrics := slices.Clone(r.Metrics)
	for _, step := range rowsOf(r.Metrics, func(m results.Metric) string { return m.Step }) {
		work := total(r.Metrics, step, "transactions_total")
		if work == 0 {
			work = total(r.Metrics, step, "queries_total")
		}
		for _, cost := range costs {
			spent := total(r.Metrics, step, cost.total)
			if work > 0 && spent > 0 && total(r.Metrics, step, cost.name) == 0 {
				ratio := spent / work
				metrics = append(metrics, results.Metric{Name: cost.name, Step: step, Value: &ratio})
			}
		}
	}
	for _, probe := range r.Probes {
		for _, name := range slices.Sorted(maps.Keys(probe.Values)) {
			m := results.Metric{Name: name, Labels: map[string]string{probeLabel: probe.Name, "when": probe.When}, Value: probe.Values[name]}
			if probe.Note != "" {
				m.Labels["note"] = probe.Note
			}
			if m.Value == nil {
				m.Reason = "the probe has no value"
			}
			metrics = append(metrics, m)
		}
	}
	return metrics
}

// probeLabel marks metrics that are of the laboratory, not of the subject.
const probeLabel = "probe"

// total sums a metric of a step over its labels; a disk's own share is part of the sum already.
func total(metrics []results.Metric, step, name string) float64 {
	sum := 0.0
	for _, m := range metrics {
		if m.Name == name && m.Step == step && m.Value != nil && m.Labels["disk"] == "" {
			sum += *m.Value
		}
	}
	return sum
}
