package workload

import (
	"math"
	"testing"
	"time"
)

// The plan hangs on the run's start, the rate and the seed, never on when events are taken: the same starts again, about
// rate·time of them, with the exponential's mean and deviation between them.
func TestPlan(t *testing.T) {
	begin := time.Now()
	l := loop{rate: 1000, seed: 3, limit: 20000}
	a, b := newPlan(begin, l), newPlan(begin, l)
	var last time.Time
	var sum, squares float64
	for i := range 20000 {
		x, ok := a.take()
		y, okB := b.take()
		if !ok || !okB || !x.Equal(y) {
			t.Fatalf("start %d: %v %v, %v %v", i, x, ok, y, okB)
		}
		if i > 0 {
			gap := x.Sub(last).Seconds()
			sum += gap
			squares += gap * gap
		}
		last = x
	}
	if _, ok := a.take(); ok {
		t.Error("the plan goes on after its limit")
	}
	mean := sum / 19999
	deviation := math.Sqrt(squares/19999 - mean*mean)
	if math.Abs(mean-0.001) > 0.00004 || math.Abs(deviation-0.001) > 0.00006 {
		t.Errorf("gaps have mean %.6f and deviation %.6f, want 0.001 each", mean, deviation)
	}
}

// Events planned within the time that nobody began are missed, and too many of them are "not sustained".
func TestPlanOutcome(t *testing.T) {
	l := loop{rate: 1000, seed: 3, duration: time.Second, lateShare: 0.01}
	p := newPlan(time.Now(), l)
	for range 10 {
		if _, ok := p.take(); !ok {
			t.Fatal("no start left")
		}
	}
	o := p.outcome(l, 1)
	if o.started != 10 || math.Abs(float64(o.planned)-1000) > 4*math.Sqrt(1000) || o.missed() != o.planned-10 || o.sustained {
		t.Errorf("%+v", o)
	}
	l.lateShare = 1
	if p := newPlan(time.Now(), l); !p.outcome(l, 1).sustained {
		t.Error("a share of 1 is missed, and 1 is allowed")
	}
}
