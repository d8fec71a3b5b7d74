package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"platter/guest"
)

// insertIndexes are the secondary indexes, in the order they are made.
var insertIndexes = []struct{ name, columns string }{
	{"marketsegment", "productid, customerid, price"}, {"registersegment", "cashregisterid, customerid, price"}, {"pdc", "price, dateandtime, customerid"},
}

// Ranges of the columns.
const (
	insertRegisters = 1000
	insertProducts  = 10000
	insertCustomers = 100000
	insertPrices    = 500
)

// insertState is what goes from phase to phase: how many rows each table holds and where its key begins and ends.
type insertState struct {
	b      *Insert
	s      *Session
	rows   []int64
	low    []int64        // smallest key not yet asked to be deleted
	high   []atomic.Int64 // largest key inserted
	random []*rand.Rand   // of the inserters
}

func newInsertState(b *Insert, s *Session) *insertState {
	st := &insertState{b: b, s: s, rows: make([]int64, b.Clients), low: make([]int64, b.Clients), high: make([]atomic.Int64, b.Clients)}
	for i := range b.Clients {
		st.low[i] = 1
		st.random = append(st.random, rand.New(rand.NewPCG(s.Seed, uint64(i))))
	}
	return st
}

// phaseResult is what a phase did, over all clients.
type phaseResult struct {
	mu                        sync.Mutex
	inserts, deletes, queries *latency
	inserted, deleted         atomic.Int64 // rows
	insertSeconds             float64      // until the last inserter was done
}

func newPhaseResult() *phaseResult {
	return &phaseResult{inserts: newLatency(), deletes: newLatency(), queries: newLatency()}
}

func (r *phaseResult) merge(into *latency, l *latency) {
	r.mu.Lock()
	into.merge(l)
	r.mu.Unlock()
}

// phase runs one phase: inserters and deleters to the end of their rows, query threads until then.
func (st *insertState) phase(ctx context.Context, p insertPhase) error {
	if p.index {
		return st.makeIndexes(ctx, p)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newPhaseResult()
	finished := make(chan struct{}) // no more inserts
	var writers, others sync.WaitGroup
	begin := time.Now()
	run := func(wg *sync.WaitGroup, f func() error) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := f(); err != nil {
				cancel(err)
			}
		}()
	}
	for i := range st.b.Clients {
		var todo chan int
		if p.deletes {
			todo = make(chan int, 8) // the deleter lags at most so many statements
			run(&others, func() error { return st.deleter(ctx, i, todo, r) })
		}
		run(&writers, func() error { return st.inserter(ctx, i, p, begin, todo, r) })
		for n := range st.b.QueryThreads {
			if p.queries != 0 {
				run(&others, func() error { return st.querier(ctx, i, n, p, finished, r) })
			}
		}
	}
	writers.Wait()
	r.insertSeconds = time.Since(begin).Seconds()
	close(finished)
	others.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return st.report(p, r, time.Since(begin).Seconds())
}

// makeIndexes creates the secondary indexes of each table in one statement, all tables side by side.
func (st *insertState) makeIndexes(ctx context.Context, p insertPhase) error {
	var parts []string
	for _, x := range insertIndexes[:st.b.Indexes] {
		parts = append(parts, "ADD INDEX "+x.name+" ("+x.columns+")")
	}
	if len(parts) == 0 {
		return nil
	}
	begin := time.Now()
	errs := make(chan error, st.b.Clients)
	for i := range st.b.Clients {
		go func() {
			errs <- st.s.once(ctx, st.b.Schema, "ALTER TABLE "+insertTable(i)+" "+strings.Join(parts, ", "))
		}()
	}
	var first error
	for range st.b.Clients {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return first
	}
	m := metrics{step: st.s.Step, labels: map[string]string{"phase": p.name}}
	m.add("run_seconds", time.Since(begin).Seconds())
	st.s.Emit(guest.Measurement{Metrics: m.list})
	return nil
}

// missedRate is how far the insert rate may stay under its target.
const missedRate = 0.05

func (st *insertState) report(p insertPhase, r *phaseResult, seconds float64) error {
	labels := map[string]string{"phase": p.name}
	m := metrics{step: st.s.Step, labels: labels}
	m.add("run_seconds", seconds)
	m.add("rows_inserted_total", float64(r.inserted.Load()))
	m.add("rows_deleted_total", float64(r.deleted.Load()))
	m.rate("rows_inserted_per_second", r.inserted.Load(), r.insertSeconds)
	m.rate("rows_deleted_per_second", r.deleted.Load(), seconds)
	if p.queries != 0 {
		m.rate("queries_per_second", r.queries.count, r.insertSeconds)
		m.add("queries_total", float64(r.queries.count))
	}
	st.s.Emit(guest.Measurement{Metrics: m.list})
	if target := p.rate * float64(st.b.Clients); target > 0 {
		if reached := float64(r.inserted.Load()) / r.insertSeconds; reached < target*(1-missedRate) {
			st.s.flag("phase_failed", "phase %s: %.0f rows/s were inserted, the target is %.0f", p.name, reached, target)
		}
	}
	for _, part := range []struct {
		name string
		l    *latency
	}{{"insert", r.inserts}, {"delete", r.deletes}, {"query", r.queries}} {
		if part.l.count == 0 {
			continue
		}
		st.classes(p, part.name, part.l)
		if err := st.s.emitLatency(part.l, part.name+"/"+p.name, serviceTime, labels, 0); err != nil {
			return err
		}
	}
	return nil
}

// responseClasses are the upper ends of the classes the benchmark counts response times in; the last is open.
var responseClasses = []struct {
	name string
	to   time.Duration
}{
	{"256us", 256 * time.Microsecond}, {"1ms", time.Millisecond}, {"4ms", 4 * time.Millisecond}, {"16ms", 16 * time.Millisecond}, {"64ms", 64 * time.Millisecond},
	{"256ms", 256 * time.Millisecond}, {"1s", time.Second}, {"4s", 4 * time.Second}, {"16s", 16 * time.Second}, {"more", 1 << 62},
}

func (st *insertState) classes(p insertPhase, operation string, l *latency) {
	counts := make([]int64, len(responseClasses))
	for _, bar := range l.histogram.Distribution() {
		for i, c := range responseClasses {
			if time.Duration(bar.To)*time.Microsecond <= c.to || i == len(responseClasses)-1 {
				counts[i] += bar.Count
				break
			}
		}
	}
	var list metrics
	for i, c := range responseClasses {
		m := metrics{step: st.s.Step, labels: map[string]string{"phase": p.name, "operation": operation, "at_most": c.name}}
		m.add("responses_total", float64(counts[i]))
		list.list = append(list.list, m.list...)
	}
	st.s.Emit(guest.Measurement{Metrics: list.list})
}

func (st *insertState) connect(ctx context.Context) (*conn, error) {
	c, err := st.s.connect(ctx, st.b.Schema)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return c, nil
}
