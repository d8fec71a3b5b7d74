package workload

import (
	"time"
)

// stall is a time in which no event ended.
type stall struct{ from, to float64 }

// sampleEvery is the interval of a load's series.
const sampleEvery = time.Second

// watch samples the load each second until the returned function is called, which gives the stalls seen. Seconds in which
// nothing ended are samples too, with zeros.
func (c *crew) watch(s *Session) (finish func() []stall) {
	if c.loop.quiet {
		return func() []stall { return nil }
	}
	stop, done := make(chan struct{}), make(chan struct{})
	w := seriesWatcher{crew: c, session: s}
	go func() {
		defer close(done)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.sample()
			case <-stop:
				return
			}
		}
	}()
	return func() []stall {
		close(stop)
		<-done
		return w.stalls
	}
}

type seriesWatcher struct {
	crew    *crew
	session *Session
	last    counts
	seconds float64
	stalls  []stall
}

func (w *seriesWatcher) sample() {
	now := time.Since(w.crew.begin).Seconds()
	var sum counts
	for _, worker := range w.crew.workers {
		p := &worker.published
		sum.add(counts{events: p.events.Load(), reads: p.reads.Load(), writes: p.writes.Load(), others: p.others.Load(), retries: p.retries.Load()})
	}
	var longest time.Duration
	for _, s := range w.crew.shards {
		longest = max(longest, s.takeInterval())
	}
	interval := now - w.seconds
	per := func(n int64) float64 { return float64(n) / interval }
	if sum.events == w.last.events {
		w.stalled(now)
	}
	if w.session.Sample != nil {
		w.session.Sample(Sample{Step: w.session.Step, Seconds: now, Values: map[string]float64{
			"transactions_per_second": per(sum.events - w.last.events), "queries_per_second": per(sum.queries() - w.last.queries()),
			"reads_per_second": per(sum.reads - w.last.reads), "writes_per_second": per(sum.writes - w.last.writes),
			"others_per_second": per(sum.others - w.last.others), "deadlocks_per_second": per(sum.retries - w.last.retries),
			"latency_maximum_seconds": longest.Seconds(),
		}})
	}
	w.progress(now, sum.events)
	w.last, w.seconds = sum, now
}

func (w *seriesWatcher) stalled(now float64) {
	if n := len(w.stalls); n > 0 && w.stalls[n-1].to == w.seconds {
		w.stalls[n-1].to = now
		return
	}
	w.stalls = append(w.stalls, stall{w.seconds, now})
}

func (w *seriesWatcher) progress(now float64, events int64) {
	l := w.crew.loop
	share := 0.0
	if l.duration > 0 {
		share = now / l.duration.Seconds()
	}
	if l.limit > 0 && float64(events)/float64(l.limit) > share {
		w.session.progress(float64(events), float64(l.limit), "events")
		return
	}
	w.session.progress(min(now, l.duration.Seconds()), l.duration.Seconds(), "s")
}
