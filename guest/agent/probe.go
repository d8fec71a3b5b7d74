package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"platter/guest"
	"platter/results"

	"golang.org/x/sys/unix"
)

// Probes measure the lab, never the subject. They write to a scratch extent in the middle of a disk
// before anything is made on it.
const (
	probeBlock  = 4096
	probeWrites = 64
	probeLimit  = 5 * time.Second // a slow disk gets fewer writes, not more time
	cpuRounds   = 16              // MiB hashed by the processor loop
)

// probeNames are what a job may ask for.
var probeNames = []string{"noise", "flush"}

func (t *trial) wants(probe string) bool { return slices.Contains(t.job.Probes, probe) }

func (t *trial) checkProbes() error {
	for _, p := range t.job.Probes {
		if !slices.Contains(probeNames, p) {
			return fmt.Errorf("unknown probe %q; there are noise, flush", p)
		}
	}
	return nil
}

// probeBefore runs the asked probes on the bare disks.
func (t *trial) probeBefore(ctx context.Context) error {
	var probes []results.Probe
	for i, w := range t.job.Disks {
		if !t.wants("flush") && i > 0 {
			break // noise needs one disk
		}
		latencies, flushes, err := t.syncWrites(ctx, w)
		if err != nil {
			return fmt.Errorf("probe disk %s: %w", w.Name, err)
		}
		values := map[string]*float64{
			"sync_writes_total": number(float64(len(latencies))), "sync_write_median_seconds": number(latencies[len(latencies)/2]),
			"sync_write_maximum_seconds": number(latencies[len(latencies)-1]),
		}
		if t.wants("noise") && i == 0 {
			noise := map[string]*float64{"cpu_loop_seconds": number(cpuLoop())}
			for k, v := range values {
				noise[k] = v
			}
			probes = append(probes, results.Probe{Name: "noise", When: "before", Values: noise, Note: "disk " + w.Name})
		}
		if t.wants("flush") {
			flush := map[string]*float64{"guest_flushes_total": flushes}
			for k, v := range values {
				flush[k] = v
			}
			probes = append(probes, results.Probe{Name: "flush:" + w.Name, When: "before", Values: flush, Note: t.flushNote(w.Name)})
		}
	}
	return t.measure(guest.Measurement{Probes: probes})
}

// probeAfter repeats the processor loop and tells the guest's count of flushes since the machine started,
// which the host holds against the hypervisor's.
func (t *trial) probeAfter(context.Context) error {
	var probes []results.Probe
	if t.wants("noise") {
		probes = append(probes, results.Probe{Name: "noise", When: "after", Values: map[string]*float64{"cpu_loop_seconds": number(cpuLoop())}})
	}
	if t.wants("flush") {
		r, err := t.source.Read()
		if err != nil {
			return err
		}
		for _, w := range t.job.Disks {
			var total *float64
			if n, ok := r.Get("disk:"+w.Name, "flushes_total"); ok {
				total = &n
			}
			probes = append(probes, results.Probe{Name: "flush:" + w.Name, When: "after",
				Values: map[string]*float64{"guest_flushes_total": total}, Note: t.flushNote(w.Name)})
		}
	}
	return t.measure(guest.Measurement{Probes: probes})
}

// flushNote says whether the guest sends flushes at all: it does not to a disk without a write cache.
func (t *trial) flushNote(disk string) string {
	return "write cache as the guest sees it: " + t.disks[disk].WriteCache
}

// syncWrites writes blocks and waits for each to be on the disk. It returns the latencies in order of
// size and how many flushes the guest sent, nil when its kernel does not count them.
func (t *trial) syncWrites(ctx context.Context, w guest.Disk) (latencies []float64, flushes *float64, err error) {
	fd, err := unix.Open(t.disks[w.Name].Node, unix.O_WRONLY|unix.O_EXCL|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), w.Name)
	defer func() { err = errors.Join(err, f.Close()) }()
	before, err := t.source.Read()
	if err != nil {
		return nil, nil, err
	}
	base := w.SizeBytes / 2 / fillBlock * fillBlock
	block, zeros, begin := newFiller(t.job.Seed).at(base)[:probeBlock], aligned(probeWrites*probeBlock), time.Now()
	for i := int64(0); i < probeWrites && time.Since(begin) < probeLimit && ctx.Err() == nil; i++ {
		at := time.Now()
		if _, err := f.WriteAt(block, base+i*probeBlock); err != nil {
			return nil, nil, err
		}
		if err := unix.Fdatasync(fd); err != nil {
			return nil, nil, err
		}
		latencies = append(latencies, time.Since(at).Seconds())
	}
	if len(latencies) == 0 {
		return nil, nil, errors.Join(context.Cause(ctx), errors.New("no write ended in time"))
	}
	after, err := t.source.Read()
	if err != nil {
		return nil, nil, err
	}
	if n, ok := after.Since(before, "disk:"+w.Name, "flushes_total"); ok {
		flushes = &n
	}
	slices.Sort(latencies)
	_, err = f.WriteAt(zeros, base)
	return latencies, flushes, err
}

// cpuLoop times a fixed amount of work for one processor.
func cpuLoop() float64 {
	buffer, begin := make([]byte, 1<<20), time.Now()
	for range cpuRounds {
		sum := sha256.Sum256(buffer)
		copy(buffer, sum[:])
	}
	return time.Since(begin).Seconds()
}

func number(v float64) *float64 { return &v }
