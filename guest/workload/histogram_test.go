package workload_test

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// countAbove decodes a stored histogram and counts the events longer than d.
func countAbove(t *testing.T, encoded string, d time.Duration) int {
	t.Helper()
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, b := range h.Distribution() {
		if b.From > d.Microseconds() {
			n += b.Count
		}
	}
	return int(n)
}
