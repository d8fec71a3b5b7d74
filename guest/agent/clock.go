package agent

import (
	"fmt"
	"math"
	"time"
)

const (
	// clockStepSeconds is how far wall and monotonic clock may part in one job before it is rejected.
	clockStepSeconds = 2.0
	// A hardware clock tells whole seconds, so two readings of it may be off by one.
	hardwareSlackSeconds = 3.0
	// hardwareSlackShare forgives a hardware clock that the host disciplines while the guest's runs free.
	hardwareSlackShare = 0.01
)

// clocks are the readings of one moment.
type clocks struct {
	monotonic time.Time // carries the monotonic clock
	wall      time.Time // the wall clock alone, to see it step
	hardware  int64     // seconds of the machine's real-time clock, 0 where it has none
}

func (s System) clocks() clocks {
	now := time.Now()
	return clocks{monotonic: now, wall: now.Round(0), hardware: s.number("/sys/class/rtc/rtc0/since_epoch")}
}

// faults names why durations between two readings cannot be trusted: somebody set the wall clock, or all clocks of the
// kernel ran at a wrong rate. The latter needs a clock from outside the kernel: where processors are emulated on a busy
// host, the kernel's calibration of the TSC at boot can be wrong by a factor of 37 and nothing else in the guest tells.
func (c clocks) faults(now clocks) []string {
	var out []string
	elapsed := now.monotonic.Sub(c.monotonic).Seconds()
	if step := now.wall.Sub(c.wall).Seconds() - elapsed; math.Abs(step) > clockStepSeconds {
		out = append(out, fmt.Sprintf("the wall clock stepped by %.1f s against the monotonic clock", step))
	}
	if c.hardware == 0 || now.hardware == 0 {
		return out
	}
	hardware := float64(now.hardware - c.hardware)
	if math.Abs(hardware-elapsed) > hardwareSlackSeconds+hardwareSlackShare*math.Max(hardware, elapsed) {
		out = append(out, fmt.Sprintf("the job took %.0f s by the machine's hardware clock and %.1f s by its kernel's", hardware, elapsed))
	}
	return out
}
