package hypervisor

import (
	"math"
	"sync"
	"time"
)

// readCounter reads the processor's time stamp counter.
func readCounter() uint64

// counterWindow is long enough for an error of some microseconds to be one in ten thousand, and short beside any boot.
const counterWindow = 50 * time.Millisecond

// CounterKHz is the frequency of this host's time stamp counter, which QEMU shows its emulated machines as theirs; 0 where
// there is none. It is measured once.
//
// A kernel finds it by a timer that a busy host emulates late, or in a burst, and was then off by factors of 37 to 4000: a
// clock that much too fast.
var CounterKHz = sync.OnceValue(func() int64 {
	from, began := counterAt()
	time.Sleep(counterWindow)
	to, ended := counterAt()
	return int64(math.Round(float64(to-from) / ended.Sub(began).Seconds() / 1000))
})

// counterAt reads counter and clock at the same time: of several readings, that in which least went by between two looks at
// the counter.
func counterAt() (counter uint64, at time.Time) {
	least := uint64(math.MaxUint64)
	for range 10 {
		before := readCounter()
		now := time.Now()
		if took := readCounter() - before; took < least {
			least, counter, at = took, before+took/2, now
		}
	}
	return counter, at
}
