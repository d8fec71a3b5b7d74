package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"platter/results"
)

// rich is a run with everything a report can show: two factors, rates and percentiles, costs, series with a stall,
// histograms, claims, and a trial that failed.
func rich() *memory {
	random := rand.New(rand.NewPCG(5, 6))
	rates := map[string]float64{"ext4small": 640, "ext4large": 2270, "xfssmall": 615, "xfslarge": 2325, "btrfssmall": 380, "btrfslarge": 1490}
	f := &memory{id: "20260131T021500Z-oltp-7f3a9c", status: "done", samples: map[string]string{}}
	var trials []map[string]any
	for round := range 6 {
		for _, config := range []string{"small", "large"} {
			for _, storage := range []string{"ext4", "xfs", "btrfs"} {
				n := len(trials)
				id := fmt.Sprintf("%03d-%s-%s/%d", n, storage, config, round+1)
				factors := map[string]string{"storage": storage, "config": config}
				trials = append(trials, map[string]any{"id": id, "index": n, "round": round + 1, "factors": factors})
				rate := rates[storage+config] * (1 + 0.02*random.NormFloat64()) * (1 - float64(n)/2500)
				f.results = append(f.results, richTrial(f.id, id, n, round+1, factors, rate, random))
				f.samples[id+"-1"] = richSamples(rate, random, round == 0)
			}
		}
	}
	lost := &f.results[7]
	lost.Status, lost.ErrorKind, lost.Reason, lost.Metrics, lost.Histograms = results.StatusFailed, "job", "server died with signal 9: out of memory", nil, nil
	lost.Evidence = "[ 41.2] mariadbd invoked oom-killer: gfp_mask=0x140cca\n[ 41.2] Out of memory: Killed process 412 (mariadbd)"
	for i := range f.results {
		r := &f.results[i]
		for _, when := range []string{"before", "after"} {
			loop := 0.5 * (1 + 0.01*random.Float64())
			r.Probes = append(r.Probes, results.Probe{Name: "noise", When: when, Values: map[string]*float64{"cpu_loop_seconds": &loop}})
		}
	}
	published := 1.03
	f.plan = map[string]any{"study": "oltp", "scale": "laptop", "rounds": 6, "seed": 42, "trials": trials,
		"question": "Which filesystem carries more OLTP transactions, with a large and with a small buffer pool?",
		"factors":  []Factor{{"storage", []string{"ext4", "xfs", "btrfs"}}, {"config", []string{"small", "large"}}},
		"notes":    []string{"the disk is a file on the host's own disk"},
		"claims": []claim{
			{ID: "order", Text: "ext4 beats xfs, and xfs beats btrfs, when the pool is small", Metric: "transactions_per_second", Factor: "storage",
				Order: []string{"ext4", "xfs", "btrfs"}, Where: map[string]string{"config": "small"}, Ratio: &published, Source: "a write-up of 2009"},
			{ID: "equal", Text: "ext4 and xfs are equal when everything is cached", Metric: "transactions_per_second", Factor: "storage",
				Order: []string{"xfs", "ext4"}, Where: map[string]string{"config": "large"}, Equal: true},
		}}
	return f
}

func richTrial(run, id string, index, round int, factors map[string]string, rate float64, random *rand.Rand) results.Result {
	r := trialOf(run, id, factors["storage"], index, round, 60, 0)
	r.Study, r.Scale, r.Factors = "oltp", "laptop", factors
	p := func(v float64) *float64 { return &v }
	latency := 16 / rate
	r.Metrics = []results.Metric{
		{Name: "transactions_per_second", Step: "run", Value: p(rate)}, {Name: "queries_per_second", Step: "run", Value: p(rate * 21)},
		{Name: "latency_p95_seconds", Step: "run", Value: p(latency * 2.4)}, {Name: "latency_p99_seconds", Step: "run", Value: p(latency * 4)},
		{Name: "latency_mean_seconds", Step: "run", Value: p(latency)}, {Name: "latency_maximum_seconds", Step: "run", Value: p(latency * 40)},
		{Name: "load_seconds", Step: "prepare", Value: p(24 * (1 + 0.03*random.NormFloat64()))},
		{Name: "flushes_per_transaction_ratio", Step: "run", Value: p(1.02 + 0.01*random.Float64())},
		{Name: "written_bytes_per_transaction_ratio", Step: "run", Value: p(18_000 + 200*random.Float64())},
		{Name: "cpu_user_ratio", Step: "run", Value: p(0.31)}, {Name: "cpu_system_ratio", Step: "run", Value: p(0.21)},
		{Name: "cpu_iowait_ratio", Step: "run", Value: p(0.04)}, {Name: "cpu_idle_ratio", Step: "run", Value: p(0.44)},
		{Name: "context_switches_per_second", Step: "run", Value: p(rate * 40)}, {Name: "server_start_seconds", Value: p(2.2)},
	}
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	for range 5000 {
		micros := int64(latency * 1e6 * math.Exp(0.5*random.NormFloat64()))
		if random.IntN(200) == 0 {
			micros *= 12
		}
		if err := h.RecordValue(max(1, micros)); err != nil {
			panic(err)
		}
	}
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	largest := float64(h.Max()) / 1e6
	r.Histograms = []results.Histogram{{Operation: "transaction", Step: "run", Kind: "service", Count: h.TotalCount(), MaxSeconds: &largest, Encoded: string(encoded)}}
	return r
}

// richSamples is a samples.csv of a warm-up of 10 s and a run of 60 s, which may stall for 3 s: then it is not steady.
func richSamples(rate float64, random *rand.Rand, stalls bool) string {
	var b strings.Builder
	b.WriteString("seconds,step,source,name,value\n")
	switches, user, written := 0.0, 0.0, 0.0
	for second := range 70 {
		step := "run"
		if second < 10 {
			step = "warmup"
		}
		value := rate * (1 + 0.06*random.NormFloat64()) * math.Min(1, 0.4+float64(second)/12)
		if stalls && second > 40 && second < 44 {
			value = 0
		}
		switches, user, written = switches+value*40, user+0.62, written+value*18_000
		at := float64(second) + 0.25
		for _, line := range []string{
			fmt.Sprintf("workload,transactions_per_second,%.3f", value), fmt.Sprintf("system,context_switches_total,%.0f", switches),
			fmt.Sprintf("cpu,user_seconds_total,%.2f", user), fmt.Sprintf("cpu,idle_seconds_total,%.2f", 2*at-user),
			fmt.Sprintf("disk:data,written_bytes_total,%.0f", written), "memory,free_bytes,123456789", "system,running_processes,3",
			fmt.Sprintf("server,Innodb_os_log_written,%.0f", written/20), fmt.Sprintf("server,Innodb_data_written,%.0f", written*0.8),
			fmt.Sprintf("server,Innodb_data_fsyncs,%.0f", switches/40), fmt.Sprintf("cpu,system_seconds_total,%.2f", user/2),
		} {
			fmt.Fprintf(&b, "%.3f,%s,%s\n", at, step, line)
		}
	}
	return b.String()
}
