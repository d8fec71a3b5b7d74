package workload

import (
	"runtime"
	"sync"
	"time"
)

// shard holds the latencies of a few clients: a histogram for each of hundreds of clients would take a fifth of a
// megabyte apiece, and one for all would be fought over.
type shard struct {
	mu       sync.Mutex
	service  *latency
	response *latency // nil in a closed loop
	interval time.Duration
	_        [64]byte // keeps neighbours off this cache line
}

// newShards makes one shard for each pair of clients and CPUs, at least one.
func newShards(clients int, open bool) []*shard {
	n := max(1, min(clients, 2*runtime.NumCPU()))
	shards := make([]*shard, n)
	for i := range shards {
		shards[i] = &shard{service: newLatency()}
		if open {
			shards[i].response = newLatency()
		}
	}
	return shards
}

func (s *shard) record(service, response time.Duration) {
	s.mu.Lock()
	s.service.record(service)
	if s.response != nil {
		s.response.record(response)
	}
	s.interval = max(s.interval, service, response)
	s.mu.Unlock()
}

// takeInterval returns the longest event since it was last called.
func (s *shard) takeInterval() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.interval
	s.interval = 0
	return d
}
