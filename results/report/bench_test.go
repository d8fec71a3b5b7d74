package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"platter/results/store"
)

// The limits of a report of bigTrials trials, every format together, on two cores. Seconds are the processors' together,
// so that what else runs on the machine does not count.
const (
	bigTrials       = 5000
	bigSeconds      = 2 * 5.0
	bigSeries       = 20 // trials with samples of bigSamples seconds
	bigSamples      = 100_000
	bigLogBytes     = 500 << 20
	bigHeapBytes    = 300 << 20
	bigPageBytes    = 5 << 20
	bigResultBytes  = 20 << 10
	bigLevels       = 25 // of storage; 200 rounds
	bigRunDirectory = "20260131T021500Z-ext4-vs-xfs-7f3a9c"
)

// bigRun writes a run folder of many results of 20 KB, as a night of trials leaves it.
func bigRun(tb testing.TB, trials int) *store.Run {
	tb.Helper()
	values := map[string][]float64{}
	var order []string
	for i := range min(bigLevels, trials) {
		level := fmt.Sprintf("fs%02d", i)
		order = append(order, level)
		for round := range trials / min(bigLevels, trials) {
			values[level] = append(values[level], 8+float64(i)/10+float64((round*7919+i*104729)%100)/200)
		}
	}
	f := studyOf(values, order...)
	dir := filepath.Join(tb.TempDir(), bigRunDirectory)
	write := func(name string, document any) {
		data, err := json.Marshal(document)
		if err != nil {
			tb.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	write("run.json", store.Meta{Schema: store.RunSchema, ID: bigRunDirectory, Study: "ext4-vs-xfs", Status: store.Done})
	write("plan.json", f.plan)
	variables := map[string]string{}
	for i := 0; len(variables) < 500; i++ {
		variables[fmt.Sprintf("server_variable_number_%d", i)] = "value"
	}
	for _, r := range f.results {
		r.Server.Variables = variables
		name := filepath.Join("trials", r.TrialID+"-1", "result.json")
		write(name, r)
	}
	writeBigSamples(tb, dir, f)
	info, err := os.Stat(filepath.Join(dir, "trials", f.results[0].TrialID+"-1", "result.json"))
	if err != nil || info.Size() < bigResultBytes*9/10 {
		tb.Fatalf("a result of %d bytes, %v; want about %d", info.Size(), err, bigResultBytes)
	}
	run, err := store.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return run
}

// writeBigSamples gives some trials long series, and one a huge log, which no report may read.
func writeBigSamples(tb testing.TB, dir string, f *memory) {
	tb.Helper()
	if len(f.results) < bigTrials {
		return
	}
	for i := range bigSeries {
		attempt := filepath.Join(dir, "trials", f.results[i*(len(f.results)/bigSeries)].TrialID+"-1")
		file, err := os.Create(filepath.Join(attempt, store.SamplesFile))
		if err != nil {
			tb.Fatal(err)
		}
		out, err := zstd.NewWriter(file)
		if err != nil {
			tb.Fatal(err)
		}
		for second := range bigSamples {
			fmt.Fprintf(out, "%d,slap,workload,queries_per_second,%d\n", second, 100+(second*7919+i)%50)
		}
		if err := errors.Join(out.Close(), file.Close()); err != nil {
			tb.Fatal(err)
		}
	}
	log := filepath.Join(dir, "trials", f.results[0].TrialID+"-1", "logs", "server.log")
	if err := errors.Join(os.MkdirAll(filepath.Dir(log), 0o755), os.WriteFile(log, nil, 0o644), os.Truncate(log, bigLogBytes)); err != nil {
		tb.Fatal(err)
	}
}

// processorSeconds is what the process has used, user and system.
func processorSeconds(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// BenchmarkReport reads 5,000 results and prints them in every format. It fails beyond the stated limits.
func BenchmarkReport(b *testing.B) {
	run := bigRun(b, bigTrials)
	for b.Loop() {
		begin, clock := processorSeconds(b), time.Now()
		m, err := Build([]Folder{run}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if m.Counts.OK != bigTrials {
			b.Fatalf("counts %+v, problems %.3v", m.Counts, m.Problems)
		}
		build := processorSeconds(b) - begin
		b.ReportMetric(build, "processor-s/build")
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		largest, slowest := 0, 0.0
		for _, f := range Formats() {
			var page strings.Builder
			formatBegin := processorSeconds(b)
			if err := Write(io.Writer(&page), f.Name, m, Style{}); err != nil {
				b.Fatal(err)
			}
			slowest = max(slowest, processorSeconds(b)-formatBegin)
			b.ReportMetric(float64(page.Len()), f.Name+"-bytes")
			if f.People {
				largest = max(largest, page.Len())
			}
		}
		seconds := processorSeconds(b) - begin
		b.ReportMetric(seconds, "processor-s/all-formats")
		b.ReportMetric(build+slowest, "processor-s/one-format")
		b.ReportMetric(time.Since(clock).Seconds(), "s/report")
		b.ReportMetric(float64(heap.Sys), "memory-bytes")
		if seconds > bigSeconds || heap.Sys > bigHeapBytes || largest > bigPageBytes {
			b.Errorf("%.1f s, %d bytes of memory, page of %d bytes; the limits are %v s, %d, %d", seconds, heap.Sys, largest, bigSeconds, bigHeapBytes, bigPageBytes)
		}
	}
}
