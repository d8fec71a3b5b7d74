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
// the collector, and so that one is always idle, for as long as one is the runtime leaves a client's to it.
const spareProcessors = 4

// processorFor gives the runtime a processor for every client while a load runs; the returned function takes them away.
//
// Note: the clients wait for their answers in blocking system calls. With fewer processors than clients each call hands its
// processor on and must win one back, through the runtime's queue and on another thread.
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
