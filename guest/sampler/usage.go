package sampler

import (
	"strings"

	"platter/results"
)

// Usage returns what a step used between two readings, as metrics of the registry. A counter that is
// missing gives a metric without a value and the reason.
func Usage(step string, before, after Reading, seconds float64) []results.Metric {
	metrics := cpuUsage(step, before, after)
	if n, ok := after.Since(before, "system", "context_switches_total"); ok && seconds > 0 {
		metrics = append(metrics, metric(step, "context_switches_per_second", nil, n/seconds))
	}
	return append(metrics, diskUsage(step, before, after, seconds)...)
}

// diskUsage sums over the disks, and with several disks also gives each, labelled; busy is that of the busiest.
func diskUsage(step string, before, after Reading, seconds float64) []results.Metric {
	var all, each []results.Metric
	sources := diskSources(after)
	for _, m := range []struct{ metric, counter string }{
		{"device_reads_total", "reads_total"}, {"device_writes_total", "writes_total"},
		{"device_flushes_total", "flushes_total"}, {"device_read_bytes", "read_bytes_total"},
		{"device_written_bytes", "written_bytes_total"}, {"device_busy_ratio", "busy_seconds_total"},
	} {
		sum, known := 0.0, false
		for _, source := range sources {
			n, ok := after.Since(before, source, m.counter)
			if !ok {
				continue
			}
			if m.metric == "device_busy_ratio" {
				if seconds <= 0 {
					continue
				}
				n = min(1, n/seconds)
				sum = max(sum, n)
			} else {
				sum += n
			}
			known = true
			each = append(each, metric(step, m.metric, map[string]string{"disk": strings.TrimPrefix(source, "disk:")}, n))
		}
		if known {
			all = append(all, metric(step, m.metric, nil, sum))
		}
	}
	if len(sources) < 2 {
		return all
	}
	return append(all, each...)
}

func cpuUsage(step string, before, after Reading) []results.Metric {
	parts := map[string]float64{}
	total := 0.0
	for _, name := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
		n, _ := after.Since(before, "cpu", name+"_seconds_total")
		parts[name] = max(0, n) // iowait may run backwards by a tick
		total += parts[name]
	}
	var metrics []results.Metric
	for _, m := range []struct {
		name  string
		value float64
	}{
		{"cpu_user_ratio", parts["user"] + parts["nice"]},
		{"cpu_system_ratio", parts["system"] + parts["irq"] + parts["softirq"]},
		{"cpu_iowait_ratio", parts["iowait"]}, {"cpu_steal_ratio", parts["steal"]}, {"cpu_idle_ratio", parts["idle"]},
	} {
		if total == 0 {
			metrics = append(metrics, results.Metric{Name: m.name, Step: step, Reason: "shorter than a tick of the kernel's clock"})
			continue
		}
		metrics = append(metrics, metric(step, m.name, nil, m.value/total))
	}
	return metrics
}

func metric(step, name string, labels map[string]string, value float64) results.Metric {
	return results.Metric{Name: name, Step: step, Labels: labels, Value: &value}
}

func diskSources(r Reading) []string {
	var sources []string
	for _, v := range r {
		if strings.HasPrefix(v.Source, "disk:") && v.Name == "reads_total" {
			sources = append(sources, v.Source)
		}
	}
	return sources
}
