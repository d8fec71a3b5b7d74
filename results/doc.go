// Package results owns the nouns of what platter measures: Result, Metric, Histogram, Setting, the registry of metrics,
// the three fingerprints (cell, environment, software) and the way numbers are printed.
//
// It holds plain types and pure functions only. The guest fills Measurements, the host assembles one Result a trial,
// results/store keeps it on disk, results/schema checks its shape, results/stats compares and results/report prints.
// It imports nothing of platter, and stays light because the guest binary carries it.
//
// Rules every field keeps: base units in the name (_seconds, _bytes, _total, _ratio, _per_second); nil is "not measured",
// never 0, -1 or NaN; failures are results with a status and a reason; durations come from the monotonic clock.
package results
