package workload

import (
	"runtime"
	"sync"
)

// processors holds the number of processors the runtime had before loads took more.
var processors struct {
	sync.Mutex
	loads  int
	before int
}

// spareProcessors is how many processors the runtime keeps besides those clients wait in: for the series, the samplers and
// the collector.
const spareProcessors = 4

// processorFor gives the runtime a processor for every client while a load runs; the returned function takes them away.
//
// Note: a client waits for its answers in system calls the scheduler is not told of, and keeps its processor meanwhile. With
// fewer processors than clients some would not run at all until the runtime takes a processor from another.
func processorFor(clients int) (restore func()) {
	processors.Lock()
	defer processors.Unlock()
	if processors.loads++; processors.loads == 1 {
		processors.before = runtime.GOMAXPROCS(0)
	}
	if want := clients + spareProcessors; want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
	return func() {
		processors.Lock()
		defer processors.Unlock()
		if processors.loads--; processors.loads == 0 {
			runtime.GOMAXPROCS(processors.before)
		}
	}
}
