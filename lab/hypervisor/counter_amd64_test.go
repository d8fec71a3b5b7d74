package hypervisor

import (
	"math"
	"testing"
	"time"
)

// TestCounter: by its frequency the counter tells the same time as the clock.
func TestCounter(t *testing.T) {
	khz := CounterKHz()
	if khz < 100_000 || khz > 100_000_000 {
		t.Fatalf("%d kHz is no processor's", khz)
	}
	if CounterKHz() != khz {
		t.Error("it was measured twice")
	}
	from, began := counterAt()
	time.Sleep(counterWindow)
	to, ended := counterAt()
	if counted, clock := float64(to-from)/float64(khz)/1000, ended.Sub(began).Seconds(); math.Abs(counted-clock) > clock/100 {
		t.Errorf("%.6f s by the counter of %d kHz, %.6f s by the clock", counted, khz, clock)
	}
}
