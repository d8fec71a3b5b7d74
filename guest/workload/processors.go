package workload

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// processors holds what the runtime had before loads took more.
var processors struct {
	sync.Mutex
	loads      int
	before     int // processors
	percentage int // of the collector
}

// collectorPercentage lets the heap grow to about 40 MB between two collections while clients run. At the runtime's own 100
// a load of short statements collects several times a second: a tenth of the client's CPU time, and each time every client stops.
const collectorPercentage = 1000

// spareProcessors is how many processors the runtime keeps besides those clients wait in: for the series, the samplers and
// the collector.
const spareProcessors = 4

// processorFor gives the runtime a processor for every client, and the collector little to do, while a load runs; the
// returned function takes both away.
//
// Note: a client waits for its answers in system calls the scheduler is not told of, and keeps its processor meanwhile. With
// fewer processors than clients some would not run at all until the runtime takes a processor from another.
func processorFor(clients int) (restore func()) {
	processors.Lock()
	defer processors.Unlock()
	if processors.loads++; processors.loads == 1 {
		processors.before = runtime.GOMAXPROCS(0)
		processors.percentage = debug.SetGCPercent(collectorPercentage)
	}
	if want := clients + spareProcessors; want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
	return func() {
		processors.Lock()
		defer processors.Unlock()
		if processors.loads--; processors.loads == 0 {
			runtime.GOMAXPROCS(processors.before)
			debug.SetGCPercent(processors.percentage)
		}
	}
}
