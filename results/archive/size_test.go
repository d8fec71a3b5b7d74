package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"platter/results/store"
)

// Case B76: a run of so many trials, with results of 20 KB.
const (
	manyTrials  = 3000
	resultBytes = 20 << 10
	heapLimit   = 150 << 20
)

// bigRun is the fixture with many more trials.
func bigRun(t *testing.T, dir string) *store.Run {
	t.Helper()
	path := copyRun(t, dir).Path()
	var plan map[string]any
	text, err := os.ReadFile(filepath.Join(path, store.PlanFile))
	if err := errors.Join(err, json.Unmarshal(text, &plan)); err != nil {
		t.Fatal(err)
	}
	trials := plan["trials"].([]any)
	first := trials[0].(map[string]any)
	result, err := os.ReadFile(filepath.Join(path, "trials/000-ext4/1-1/result.json"))
	if err != nil {
		t.Fatal(err)
	}
	// A reader ignores fields it does not know.
	padding := []byte(`{"padding":"` + strings.Repeat("x", resultBytes) + `",`)
	for i := len(trials); i < manyTrials; i++ {
		id := fmt.Sprintf("%03d-ext4/1", i)
		trial := map[string]any{}
		for key, value := range first {
			trial[key] = value
		}
		trial["id"], trial["index"] = id, i
		trials = append(trials, trial)
		folder := filepath.Join(path, "trials", id+"-1")
		changed := bytes.Replace(bytes.Replace(result, []byte(`"000-ext4/1"`), []byte(`"`+id+`"`), 1), []byte("{"), padding, 1)
		err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, store.ResultFile), changed, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	plan["trials"] = trials
	text, err = json.Marshal(plan)
	if err := errors.Join(err, os.WriteFile(filepath.Join(path, store.PlanFile), text, 0o644)); err != nil {
		t.Fatal(err)
	}
	run, err := store.Resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Close(store.Done, ""); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

// peakHeap watches what is alive on the heap while do runs.
func peakHeap(do func()) int64 {
	runtime.GC()
	var peak atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var m runtime.MemStats
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), int64(m.HeapAlloc)))
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return peak.Load()
}

// TestManyTrials: listing, verifying, packing and unpacking thousands of results takes a bounded heap, and time that
// grows as they do; how long is logged.
func TestManyTrials(t *testing.T) {
	dir := t.TempDir()
	run := bigRun(t, filepath.Join(dir, "results"))
	packed := filepath.Join(dir, "big"+Suffix)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"list", func() error {
			n := 0
			for _, err := range run.Results() {
				if err != nil {
					return err
				}
				n++
			}
			if n != manyTrials {
				return fmt.Errorf("%d results", n)
			}
			return nil
		}},
		{"verify", func() error {
			if problems := run.Verify(); len(problems) > 0 {
				return fmt.Errorf("%d problems, the first: %w", len(problems), problems[0])
			}
			return nil
		}},
		{"pack", func() error { return Pack(packed, []*store.Run{run}, DefaultLimits()) }},
		{"unpack", func() error {
			_, err := Unpack(packed, filepath.Join(dir, "unpacked"), DefaultLimits())
			return err
		}},
	} {
		began := time.Now()
		peak := peakHeap(func() {
			if err := step.do(); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		})
		t.Logf("%s: %.1f s, %d MiB of heap at most", step.name, time.Since(began).Seconds(), peak>>20)
		if peak > heapLimit {
			t.Errorf("%s: %d MiB of heap, want at most %d", step.name, peak>>20, int64(heapLimit)>>20)
		}
	}
}
