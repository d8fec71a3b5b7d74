package remote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Requirement is one thing that must be true before a machine can be used.
type Requirement struct {
	Name string
	Hint string // what to look at when it is not met

	// Check returns nil when the requirement is met. It may block, but must
	// end with its context. An error wrapped by Final is not tried again.
	Check func(ctx context.Context) error

	// Watch keeps the check running beside all later ones. Its first failure
	// ends Await at once.
	Watch bool

	// Attempt bounds one call of Check, before scaling; 0 means no own bound.
	Attempt time.Duration
}

// State is where a requirement stands.
type State int

// The states in which Options.Progress shows a requirement.
const (
	Waiting State = iota
	Met
	Failed
)

func (s State) String() string { return [...]string{"waiting", "met", "failed"}[s] }

// Options tune Await.
type Options struct {
	Timeout time.Duration // for the whole list, before scaling; 0 means 30 s
	Scale   float64       // multiplies Timeout and Attempt: 1 with KVM, 20 with TCG; 0 means 1
	Poll    time.Duration // shortest pause between two checks, not scaled; 0 means 25 ms

	// Progress is told of every change, with the time since Await began. It is
	// called from Await's goroutine and may be nil.
	Progress func(r Requirement, s State, waited time.Duration)
}

// NotReadyError names the requirement that kept a machine from being ready.
// The caller adds the console's tail.
type NotReadyError struct {
	Requirement string
	Pending     string // what was being waited for when a watched requirement failed
	Hint        string
	Waited      time.Duration
	TimedOut    bool
	Err         error // last error of the check
}

func (e *NotReadyError) Error() string {
	how := "failed"
	if e.TimedOut {
		how = "not met"
	}
	message := fmt.Sprintf("wait for %s: %s after %s: %v", e.Requirement, how, e.Waited.Round(10*time.Millisecond), e.Err)
	if e.Pending != "" {
		message += " (while waiting for " + e.Pending + ")"
	}
	if e.Hint != "" {
		message += "; " + e.Hint
	}
	return message
}

// Unwrap gives the last error of the check.
func (e *NotReadyError) Unwrap() error { return e.Err }

// errDeadline ends Await's own context, as opposed to the caller's.
var errDeadline = errors.New("deadline of the readiness list")

// Await meets the requirements in order. It fails with a *NotReadyError, or
// with the cause of ctx if the caller gave up.
func Await(ctx context.Context, requirements []Requirement, o Options) error {
	w := &waiter{o: o.withDefaults(), caller: ctx, begin: time.Now()}
	ctx, cancel := context.WithTimeoutCause(ctx, w.scaled(w.o.Timeout), errDeadline)
	defer cancel()
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	for _, r := range requirements {
		w.tell(r, Waiting)
		if err := w.meet(ctx, r); err != nil {
			w.tell(r, Failed)
			return err
		}
		w.tell(r, Met)
		if r.Watch {
			go w.watch(ctx, r)
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.Poll == 0 {
		o.Poll = 25 * time.Millisecond
	}
	return o
}

// waiter is one run of Await.
type waiter struct {
	o      Options
	caller context.Context
	stop   context.CancelCauseFunc
	begin  time.Time
}

func (w *waiter) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * w.o.Scale)
}

func (w *waiter) tell(r Requirement, s State) {
	if w.o.Progress != nil {
		w.o.Progress(r, s, time.Since(w.begin))
	}
}

// meet repeats the check until it is met, cannot be met, or time is over.
func (w *waiter) meet(ctx context.Context, r Requirement) error {
	last := errors.New("not checked yet")
	for {
		asked := time.Now()
		err := w.check(ctx, r)
		if err == nil && ctx.Err() == nil {
			return nil
		}
		if ctx.Err() != nil {
			return w.ended(ctx, r, last)
		}
		last = err
		if r.Watch || isFinal(err) {
			return &NotReadyError{Requirement: r.Name, Hint: r.Hint, Waited: time.Since(w.begin), Err: err}
		}
		// A login that fails costs a booting guest as much as one that
		// succeeds: pause as long as the check took.
		waitOr(ctx, max(w.o.Poll, min(time.Since(asked), time.Second)))
	}
}

func (w *waiter) check(ctx context.Context, r Requirement) error {
	if r.Attempt == 0 {
		return r.Check(ctx)
	}
	bound := w.scaled(r.Attempt)
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("no answer within %s", bound))
	defer cancel()
	return r.Check(ctx)
}

// watch repeats a met check until Await ends, and ends Await when it fails.
func (w *waiter) watch(ctx context.Context, r Requirement) {
	for ctx.Err() == nil {
		waitOr(ctx, 4*w.o.Poll)
		if err := w.check(ctx, r); err != nil && ctx.Err() == nil {
			w.stop(&NotReadyError{Requirement: r.Name, Hint: r.Hint, Waited: time.Since(w.begin), Err: err})
		}
	}
}

// ended tells apart who ended the waiting.
func (w *waiter) ended(ctx context.Context, r Requirement, last error) error {
	var watched *NotReadyError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &watched):
		watched.Pending = r.Name
		return watched
	case errors.Is(cause, errDeadline):
		return &NotReadyError{Requirement: r.Name, Hint: r.Hint, Waited: time.Since(w.begin), TimedOut: true, Err: last}
	default:
		return fmt.Errorf("wait for %s: %w", r.Name, context.Cause(w.caller))
	}
}
