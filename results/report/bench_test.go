package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"platter/results/store"
)

// The limits of a report of bigTrials trials, every format together, on two cores. Seconds are the processors' together,
// so that what else runs on the machine does not count.
const (
	bigTrials       = 5000
	bigSeconds      = 2 * 5.0
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
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		var largest int
		for _, f := range Formats() {
			var page strings.Builder
			if err := Write(io.Writer(&page), f.Name, m, Style{}); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(page.Len()), f.Name+"-bytes")
			if f.People {
				largest = max(largest, page.Len())
			}
		}
		seconds := processorSeconds(b) - begin
		b.ReportMetric(seconds, "processor-s/report")
		b.ReportMetric(time.Since(clock).Seconds(), "s/report")
		b.ReportMetric(float64(heap.Sys), "memory-bytes")
		if seconds > bigSeconds || heap.Sys > bigHeapBytes || largest > bigPageBytes {
			b.Errorf("%.1f s, %d bytes of memory, page of %d bytes; the limits are %v s, %d, %d", seconds, heap.Sys, largest, bigSeconds, bigHeapBytes, bigPageBytes)
		}
	}
}
