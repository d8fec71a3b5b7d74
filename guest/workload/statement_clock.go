package workload

import (
	"sync"
	"time"
)

// statementKind is what a statement of an OLTP event does.
type statementKind int

// The kinds of statements, in the order of an event; the last are whole transactions of tpcc and statements of other workloads.
const (
	kindBegin statementKind = iota
	kindPoint
	kindSimpleRange
	kindSumRange
	kindOrderRange
	kindDistinctRange
	kindUpdateKey
	kindUpdateC
	kindDelete
	kindInsert
	kindCommit
	kindCall
	kindNewOrder
	kindPayment
	kindOrderStatus
	kindDelivery
	kindStockLevel
	kindQuery
	kinds_
)

var kindNames = [kinds_]string{"begin", "point_select", "simple_range", "sum_range", "order_range", "distinct_range", "index_update", "non_index_update",
	"delete", "insert", "commit", "call", "new_order", "payment", "order_status", "delivery", "stock_level", "query"}

// statementTimes are the latencies of each kind of statement of a step, over all clients.
type statementTimes struct {
	kinds [kinds_]struct {
		mu      sync.Mutex
		latency *latency
	}
}

// statementClock times the statements of one client: one reading of the clock a statement, the end of one being the start
// of the next.
type statementClock struct {
	on   bool
	last time.Time
}

func (c *statementClock) start(on bool) {
	if c.on = on; on {
		c.last = time.Now()
	}
}

// restart leaves out what was done since the last statement.
func (c *statementClock) restart() { c.start(c.on) }

func (c *statementClock) lap(s *Session, kind statementKind) {
	if !c.on {
		return
	}
	now := time.Now()
	k := &s.times.kinds[kind]
	k.mu.Lock()
	if k.latency == nil {
		k.latency = newLatency()
	}
	k.latency.record(now.Sub(c.last))
	k.mu.Unlock()
	c.last = now
}
