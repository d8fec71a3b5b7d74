package workload

import (
	"runtime"
	"sync"
)

// processors holds the number of processors the runtime had before a load took some away.
var processors struct {
	sync.Mutex
	loads  int
	before int
}

// fewProcessors leaves half of the runtime's processors to it while a load runs, at least one; the returned function gives
// the rest back.
//
// Note: a client spends far less CPU time on a statement than its server, and most of it in the kernel. With a processor
// for every CPU the runtime wakes and parks threads for each answer, to find that another thread has taken it.
func fewProcessors() (restore func()) {
	processors.Lock()
	defer processors.Unlock()
	if processors.loads++; processors.loads == 1 {
		processors.before = runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
	return func() {
		processors.Lock()
		defer processors.Unlock()
		if processors.loads--; processors.loads == 0 {
			runtime.GOMAXPROCS(processors.before)
		}
	}
}
