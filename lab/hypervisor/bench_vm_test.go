package hypervisor

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"platter/lab/domain"
)

// BenchmarkMachine measures what of a trial is ours and libvirt's: opening the
// host, starting a machine with an image and a data disk, ending it.
//
//	go test ./lab/hypervisor -run '^$' -bench Machine -benchtime 5x -vm
func BenchmarkMachine(b *testing.B) {
	dir := storageRoot(b)
	code := bootCode("hello\n", false)
	var open, start, destroy time.Duration
	for b.Loop() {
		begin := time.Now()
		h, err := Open(b.Context(), Options{StorageDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		info, err := h.Info(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		open += time.Since(begin)
		accel, err := info.Accel("auto")
		if err != nil {
			b.Fatal(err)
		}
		opened := 0
		kernel, err := h.Stage(b.Context(), "kernel", digestOf(code), opener(code, &opened))
		if err != nil {
			b.Fatal(err)
		}
		v, err := h.CreateVolume(b.Context(), VolumeSpec{Tag: domain.Tag{Run: "bench"}, Name: "data0", SizeBytes: 64 << 20})
		if err != nil {
			b.Fatal(err)
		}
		begin = time.Now()
		m, err := h.Start(b.Context(), domain.Spec{
			Name: "platter-bench", CPUs: 2, MemoryBytes: 512 << 20, Accel: accel, Kernel: kernel, Tag: domain.Tag{Run: "bench"},
			Disks: []domain.Disk{domain.ImageDisk("root", kernel), domain.DataDisk("data0", v.Path, v.SizeBytes)},
		})
		if err != nil {
			b.Fatal(err)
		}
		start += time.Since(begin)
		begin = time.Now()
		if err := m.Destroy(b.Context()); err != nil {
			b.Fatal(err)
		}
		destroy += time.Since(begin)
		if err := h.RemoveRun("bench"); err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
	n := float64(b.N)
	b.ReportMetric(open.Seconds()/n, "open-s")
	b.ReportMetric(start.Seconds()/n, "start-s")
	b.ReportMetric(destroy.Seconds()/n, "destroy-s")
	b.ReportMetric(peakRSS(b), "peak-rss-MiB")
}

// peakRSS is the most memory this process ever had.
func peakRSS(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("no VmHWM in /proc/self/status")
	return 0
}
