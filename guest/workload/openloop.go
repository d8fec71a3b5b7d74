package workload

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// plan gives every event of an open loop its start, computed from the run's start and the rate, never from the event
// before: gaps are exponential (Poisson arrivals) from a seed. An event that starts late because all clients were busy keeps
// its planned start, and its response time counts from there; none is skipped or merged.
type plan struct {
	mu      sync.Mutex
	random  *rand.Rand
	gap     float64 // mean, ns
	begin   time.Time
	next    float64 // ns after begin
	started int64
	limit   int64
	until   float64 // ns after begin
	delay   time.Duration
}

func newPlan(begin time.Time, l loop) *plan {
	p := &plan{begin: begin, gap: 1e9 / l.rate, limit: l.limit, until: math.Inf(1), random: planRandom(l.seed)}
	if l.duration > 0 {
		p.until = float64(l.duration)
	}
	p.next = p.random.ExpFloat64() * p.gap
	return p
}

func planRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x0A11)) }

// take gives the next planned start; ok is false when the plan or the time is over. An event planned before the end and
// not begun by then is never begun: it is counted as missed.
func (p *plan) take() (start time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= p.until || p.limit > 0 && p.started >= p.limit || float64(time.Since(p.begin)) >= p.until {
		return time.Time{}, false
	}
	start = p.begin.Add(time.Duration(p.next))
	p.next += p.random.ExpFloat64() * p.gap
	p.started++
	return start, true
}

func (p *plan) late(d time.Duration) {
	p.mu.Lock()
	p.delay = max(p.delay, d)
	p.mu.Unlock()
}

// openOutcome is what only an open loop has.
type openOutcome struct {
	planned, started int64
	largestDelay     time.Duration
	sustained        bool
}

// missed are the events planned within the time that never began.
func (o openOutcome) missed() int64 { return o.planned - o.started }

func (p *plan) outcome(l loop, seconds float64) openOutcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := openOutcome{started: p.started, planned: p.started, largestDelay: p.delay}
	for next := p.next; next < math.Min(p.until, seconds*1e9) && (p.limit == 0 || o.planned < p.limit); next += p.random.ExpFloat64() * p.gap {
		o.planned++
	}
	o.sustained = float64(o.missed()) <= l.lateShare*float64(o.planned)
	return o
}

// runPlanned is the open loop of one client: wait for a planned start, do the event, record its time from the plan.
func (w *worker) runPlanned(ctx context.Context) error {
	for {
		planned, ok := w.crew.plan.take()
		if !ok {
			return nil
		}
		if err := sleepUntil(ctx, planned); err != nil {
			return err
		}
		begin := time.Now()
		w.crew.plan.late(begin.Sub(planned))
		if err := w.client.event(ctx); err != nil {
			return err
		}
		end := time.Now()
		w.finish(end.Sub(begin), end.Sub(planned))
	}
}

// timerSlack is how late the runtime's timers may be: they sleep in whole milliseconds.
const timerSlack = 1500 * time.Microsecond

// sleepUntil waits for a time, exactly enough that the generator adds no millisecond of its own: the last stretch is left
// to the kernel's fine timer.
func sleepUntil(ctx context.Context, t time.Time) error {
	if d := time.Until(t); d > timerSlack {
		if err := pause(ctx, (d - timerSlack).Seconds()); err != nil {
			return err
		}
	}
	if d := time.Until(t); d > 0 {
		nanosleep(d)
	}
	return context.Cause(ctx)
}
