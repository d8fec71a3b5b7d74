package sampler

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"platter/results"
)

// kernel writes a /proc with known counters.
func kernel(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{
		"proc/stat": "cpu  1000 0 500 8000 400 50 50 0 0 0\ncpu0 1000 0 500 8000 400 50 50 0 0 0\nintr 777 0\nctxt 12345\nbtime 1\nprocesses 5\nprocs_running 2\nprocs_blocked 1\n",
		"proc/diskstats": "   8       0 vda 1 0 8 1 1 0 8 1 0 1 2 0 0 0 0 0 0\n" +
			" 254      32 vdc 100 10 800 250 200 20 1600 500 3 700 750 4 0 64 5 33 90\n",
		"proc/meminfo":     "MemTotal: 1000 kB\nMemFree: 500 kB\nMemAvailable: 600 kB\nBuffers: 20 kB\nCached: 100 kB\nSwapTotal: 64 kB\nSwapFree: 60 kB\nDirty: 8 kB\nWriteback: 4 kB\nSReclaimable: 30 kB\n",
		"proc/vmstat":      "nr_free_pages 1\npgpgin 10\npgpgout 20\npswpin 0\npswpout 0\npgmajfault 7\noom_kill 0\n",
		"proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n",
		"sys/block/.keep":  "",
	}
	for k, v := range files {
		all[k] = v
	}
	for name, text := range all {
		path := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func source(t *testing.T, root string) *Source {
	t.Helper()
	s, err := NewSource(root, map[string]string{"vdc": "data"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadGivesBaseUnits(t *testing.T) {
	r, err := source(t, kernel(t, nil)).Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Value{
		{"cpu", "user_seconds_total", 10}, {"cpu", "iowait_seconds_total", 4}, {"system", "context_switches_total", 12345},
		{"system", "running_processes", 2}, {"system", "blocked_processes", 1},
		{"disk:data", "reads_total", 100}, {"disk:data", "read_bytes_total", 800 * 512}, {"disk:data", "read_seconds_total", 0.25},
		{"disk:data", "written_bytes_total", 1600 * 512}, {"disk:data", "in_flight", 3}, {"disk:data", "busy_seconds_total", 0.7},
		{"disk:data", "discarded_bytes_total", 64 * 512}, {"disk:data", "flushes_total", 33}, {"disk:data", "flush_seconds_total", 0.09},
		{"memory", "total_bytes", 1024000}, {"memory", "dirty_bytes", 8192}, {"memory", "writeback_bytes", 4096},
		{"paging", "paged_in_bytes_total", 10240}, {"paging", "major_faults_total", 7},
		{"pressure", "io_some_seconds_total", 2.5}, {"pressure", "io_full_seconds_total", 1.5},
	} {
		if got, ok := r.Get(want.Source, want.Name); !ok || got != want.Value {
			t.Errorf("%s %s = %g (%v), want %g", want.Source, want.Name, got, ok, want.Value)
		}
	}
	for _, v := range r {
		if v.Source == "disk:vda" || v.Source == "disk:" {
			t.Errorf("a disk that was not asked for: %+v", v)
		}
	}
}

func TestUsageOfAStep(t *testing.T) {
	root := kernel(t, nil)
	s := source(t, root)
	before, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"proc/stat":      "cpu  1100 0 550 8200 420 50 50 30 0 0\nintr 800 0\nctxt 12545\nprocs_running 2\nprocs_blocked 1\n",
		"proc/diskstats": " 254      32 vdc 150 10 900 250 260 20 2600 500 3 900 750 4 0 64 5 53 90\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	after, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range Usage("run", before, after, 2) {
		if m.Step != "run" || m.Value == nil || len(m.Labels) != 0 {
			t.Errorf("metric %+v", m)
			continue
		}
		if _, known := results.LookupMetric(m.Name); !known {
			t.Errorf("%s is not in the registry", m.Name)
		}
		got[m.Name] = *m.Value
	}
	for name, want := range map[string]float64{
		"cpu_user_ratio": 0.25, "cpu_system_ratio": 0.125, "cpu_idle_ratio": 0.5, "cpu_iowait_ratio": 0.05, "cpu_steal_ratio": 0.075,
		"context_switches_per_second": 100, "device_reads_total": 50, "device_writes_total": 60, "device_flushes_total": 20,
		"device_read_bytes": 51200, "device_written_bytes": 512000, "device_busy_ratio": 0.1,
	} {
		if diff := got[name] - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s = %g, want %g", name, got[name], want)
		}
	}
}

func TestUsageShorterThanATickIsNotMeasured(t *testing.T) {
	r, err := source(t, kernel(t, nil)).Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Usage("run", r, r, 0.001) {
		if m.Name == "cpu_user_ratio" && (m.Value != nil || m.Reason == "") {
			t.Errorf("%+v", m)
		}
	}
}

// buffer is written by the sampler's goroutine.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func TestSamplerWritesOneValueALine(t *testing.T) {
	var out buffer
	s, err := Start(&out, source(t, kernel(t, nil)), Options{
		Period: 20 * time.Millisecond,
		More: func(context.Context) ([]Value, error) {
			return []Value{{"server", "Questions", 5}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Step("run")
	s.Add("workload", map[string]float64{"b_per_second": 2, "a_per_second": 1})
	time.Sleep(110 * time.Millisecond)
	summary, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if summary.Samples < 3 || summary.MaxGapSeconds <= 0 || summary.MaxGapSeconds > 5 {
		t.Errorf("summary %+v", summary)
	}
	rows, err := csv.NewReader(&out.b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[0]; len(got) != 5 || got[0] != "seconds" || got[4] != "value" {
		t.Errorf("header %v", got)
	}
	last, seen := -1.0, map[string]bool{}
	for _, row := range rows[1:] {
		at, err := strconv.ParseFloat(row[0], 64)
		if err != nil || at < last {
			t.Fatalf("row %v: seconds %v after %g", row, err, last)
		}
		last = at
		seen[row[1]+" "+row[2]+" "+row[3]] = true
	}
	for _, want := range []string{" cpu user_seconds_total", "run disk:data flushes_total", "run server Questions", "run workload a_per_second"} {
		if !seen[want] {
			t.Errorf("no row %q", want)
		}
	}
}

func TestSamplerKeepsItsFirstError(t *testing.T) {
	root := kernel(t, nil)
	s, err := Start(&buffer{}, source(t, root), Options{Period: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(root, "proc/stat"))
	time.Sleep(50 * time.Millisecond)
	if _, err := s.Stop(); err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := NewSource(filepath.Join(root, "nowhere"), nil); err == nil {
		t.Error("a source without /proc")
	}
}

// TestVmstatAndSarColumns: every column of both tools is sampled, from a real kernel too.
func TestVmstatAndSarColumns(t *testing.T) {
	columns := []Value{
		{"system", "running_processes", 2}, {"system", "blocked_processes", 1}, // r b
		{"memory", "swap_total_bytes", 65536}, {"memory", "swap_free_bytes", 61440}, // swpd
		{"memory", "free_bytes", 512000}, {"memory", "buffers_bytes", 20480}, {"memory", "cached_bytes", 102400}, {"memory", "slab_reclaimable_bytes", 30720},
		{"paging", "swapped_in_bytes_total", 0}, {"paging", "swapped_out_bytes_total", 0}, // si so
		{"paging", "paged_in_bytes_total", 10240}, {"paging", "paged_out_bytes_total", 20480}, // bi bo
		{"system", "interrupts_total", 777}, {"system", "context_switches_total", 12345}, // in cs
		{"cpu", "user_seconds_total", 10}, {"cpu", "nice_seconds_total", 0}, {"cpu", "system_seconds_total", 5}, {"cpu", "irq_seconds_total", 0.5},
		{"cpu", "softirq_seconds_total", 0.5}, {"cpu", "idle_seconds_total", 80}, {"cpu", "iowait_seconds_total", 4}, {"cpu", "steal_seconds_total", 0},
	}
	r, err := source(t, kernel(t, nil)).Read()
	if err != nil {
		t.Fatal(err)
	}
	real, err := NewSource("/", nil)
	if err != nil {
		t.Fatal(err)
	}
	here, err := real.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range columns {
		if got, ok := r.Get(want.Source, want.Name); !ok || got != want.Value {
			t.Errorf("%s %s = %g (%v), want %g", want.Source, want.Name, got, ok, want.Value)
		}
		if _, ok := here.Get(want.Source, want.Name); !ok {
			t.Errorf("this machine's kernel gives no %s %s", want.Source, want.Name)
		}
	}
}
