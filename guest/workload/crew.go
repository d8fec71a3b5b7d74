package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// counts is what one client has done. The client owns it; the crew publishes it after every event.
type counts struct {
	events, reads, writes, others int64
	retries                       int64 // deadlocks of 0.4, ignored errors of 1.0
	reconnects                    int64
}

func (c *counts) add(o counts) {
	c.events += o.events
	c.reads += o.reads
	c.writes += o.writes
	c.others += o.others
	c.retries += o.retries
	c.reconnects += o.reconnects
}

func (c counts) queries() int64 { return c.reads + c.writes + c.others }

// client is one client of a load. open connects and prepares, before the clock starts; event does one event, retries
// included, and counts into the returned counts' owner; close ends the connection, after the clock has stopped.
type client interface {
	open(context.Context) error
	event(context.Context) error
	close() error
	tally() *counts
	failures() map[uint16]int64 // errors that were tried again, by number; read after the run
}

// finisher is a client with work left after its last event that belongs inside the clock.
type finisher interface{ finish(context.Context) error }

// loop says how many events a load runs, for how long, and how fast they are asked for.
type loop struct {
	clients   int
	limit     int64         // events in all; 0 is no limit
	duration  time.Duration // 0 is no limit
	grace     time.Duration // after duration, before the run is ended as failed; 0 waits for ever
	rate      float64       // planned events a second; 0 is a closed loop
	seed      uint64        // of the planned starts
	lateShare float64       // share of planned events that may be missed; more is "not sustained"
	quiet     bool          // a warm-up: no samples
}

// outcome is what a load did.
type outcome struct {
	seconds  float64 // from the release of the clients to the end of the last
	counts   counts
	service  *latency
	response *latency // open loop only
	perEvent []clientSum
	failures map[uint16]int64
	open     openOutcome
	stalls   []stall
}

// clientSum is one client's share, for the fairness numbers.
type clientSum struct {
	events int64
	busy   time.Duration
}

// worker runs one client's events.
type worker struct {
	client    client
	published publishedCounts
	busy      time.Duration
	crew      *crew
	shard     *shard
}

// publishedCounts are the counts others may read while the client runs.
type publishedCounts struct {
	events, reads, writes, others, retries atomic.Int64
}

func (p *publishedCounts) publish(c *counts) {
	p.events.Store(c.events)
	p.reads.Store(c.reads)
	p.writes.Store(c.writes)
	p.others.Store(c.others)
	p.retries.Store(c.retries)
}

// crew is all clients of one load.
type crew struct {
	loop    loop
	workers []*worker
	shards  []*shard
	tickets atomic.Int64
	begin   time.Time
	plan    *plan // open loop
}

// runLoad opens the clients, runs the loop and closes the clients. newClient is called for 0 … clients-1. The first error
// of any client ends all.
func (s *Session) runLoad(ctx context.Context, l loop, newClient func(i int) client) (outcome, error) {
	caller := ctx
	ctx, stop := s.watched(ctx)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := newCrew(l, newClient)
	defer processorFor(l.clients)()
	defer c.close()
	if err := c.open(ctx); err != nil {
		return outcome{}, s.explain(caller, err)
	}
	release := make(chan struct{})
	var done sync.WaitGroup
	for _, w := range c.workers {
		done.Add(1)
		go func() {
			defer done.Done()
			<-release
			if err := w.work(ctx); err != nil {
				cancel(err)
			}
		}()
	}
	c.begin = time.Now()
	if l.rate > 0 {
		c.plan = newPlan(c.begin, l)
	}
	close(release)
	series := c.watch(s)
	end := c.forceEnd(cancel)
	done.Wait()
	seconds := time.Since(c.begin).Seconds()
	end()
	stalls := series()
	if err := context.Cause(ctx); err != nil {
		return c.outcome(seconds, stalls), s.explain(caller, err)
	}
	return c.outcome(seconds, stalls), nil
}

func newCrew(l loop, newClient func(i int) client) *crew {
	c := &crew{loop: l, shards: newShards(l.clients, l.rate > 0)}
	for i := range l.clients {
		c.workers = append(c.workers, &worker{client: newClient(i), crew: c, shard: c.shards[i%len(c.shards)]})
	}
	return c
}

// open connects every client; they connect side by side, as threads do.
func (c *crew) open(ctx context.Context) error {
	errs := make([]error, len(c.workers))
	var wg sync.WaitGroup
	for i, w := range c.workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = w.client.open(ctx)
		}()
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("client %d of %d: %w", i+1, len(errs), err)
		}
	}
	return nil
}

func (c *crew) close() {
	for _, w := range c.workers {
		_ = w.client.close() // the load is over; a connection that is gone is closed
	}
}

// forceEnd ends the run as failed when it outlives its time by the grace.
func (c *crew) forceEnd(cancel context.CancelCauseFunc) (stop func()) {
	if c.loop.grace <= 0 || c.loop.duration <= 0 {
		return func() {}
	}
	t := time.AfterFunc(c.loop.duration+c.loop.grace, func() {
		cancel(errors.New("forced shutdown: the last events did not end in time"))
	})
	return func() { t.Stop() }
}

// work is everything a client does inside the clock.
func (w *worker) work(ctx context.Context) error {
	run := w.run
	if w.crew.plan != nil {
		run = w.runPlanned
	}
	if err := run(ctx); err != nil {
		return err
	}
	if f, ok := w.client.(finisher); ok {
		return f.finish(ctx)
	}
	return nil
}

// run is the closed loop: the time is looked at only between events, before a ticket is taken, so the last events run to
// their end and the number of events is exact.
func (w *worker) run(ctx context.Context) error {
	l := w.crew.loop
	now := time.Now()
	for {
		if l.duration > 0 && now.Sub(w.crew.begin) >= l.duration {
			return nil
		}
		if l.limit > 0 && w.crew.tickets.Add(1) > l.limit {
			return nil
		}
		if err := w.client.event(ctx); err != nil {
			return err
		}
		end := time.Now()
		w.finish(end.Sub(now), 0)
		now = end
	}
}

// finish records one event.
func (w *worker) finish(service, response time.Duration) {
	t := w.client.tally()
	t.events++
	w.published.publish(t)
	w.busy += service
	w.shard.record(service, response)
}

func (c *crew) outcome(seconds float64, stalls []stall) outcome {
	o := outcome{seconds: seconds, failures: map[uint16]int64{}, stalls: stalls, service: newLatency()}
	if c.plan != nil {
		o.response = newLatency()
		o.open = c.plan.outcome(c.loop, seconds)
	}
	for _, s := range c.shards {
		o.service.merge(s.service)
		if s.response != nil {
			o.response.merge(s.response)
		}
	}
	for _, w := range c.workers {
		t := *w.client.tally()
		o.counts.add(t)
		o.perEvent = append(o.perEvent, clientSum{t.events, w.busy})
		for n, times := range w.client.failures() {
			o.failures[n] += times
		}
	}
	return o
}
