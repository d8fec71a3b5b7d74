package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// undoTimeout bounds one step of clean-up, so that a hung daemon cannot keep the others from running.
const undoTimeout = 60 * time.Second

// cleanup undoes what was done, last first. Every step runs whatever the others did, on a context of its own that a
// cancelled run does not reach.
type cleanup struct {
	log   *slog.Logger
	left  *Left
	of    string // whose clean-up, for people; "" is the run's
	steps []undo
}

type undo struct {
	what string
	do   func(context.Context) error
	done func() // takes it from what is left
}

// add registers how to undo what is about to be done, or was just done.
func (c *cleanup) add(what string, do func(context.Context) error) {
	text := what
	if c.of != "" {
		text += " of " + c.of
	}
	c.steps = append(c.steps, undo{what, do, c.left.note(text)})
}

// include makes another clean-up a step of this one, unless it was run before.
func (c *cleanup) include(inner *cleanup) {
	c.steps = append(c.steps, undo{do: inner.run, done: func() {}})
}

// run undoes everything and joins the errors; each names what is left.
func (c *cleanup) run(ctx context.Context) error {
	var errs []error
	for i := len(c.steps) - 1; i >= 0; i-- {
		step := c.steps[i]
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		if err := step.do(ctx); err != nil && step.what == "" { // an included one, which has named its steps
			errs = append(errs, err)
		} else if err != nil {
			c.log.Warn("clean-up", "step", step.what, "error", err)
			errs = append(errs, fmt.Errorf("%s (run `platter clean` to remove what is left): %w", step.what, err))
		} else {
			step.done()
		}
		cancel()
	}
	c.steps = nil
	return errors.Join(errs...)
}

// Left knows at any moment what a run would leave behind if its process ended now. It is safe for concurrent use; a nil
// *Left keeps nothing.
type Left struct {
	mu   sync.Mutex
	what []*string
}

// note remembers something to undo until the returned function is called.
func (l *Left) note(what string) (done func()) {
	if l == nil {
		return func() {}
	}
	entry := &what
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what = append(l.what, entry)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.what = slices.DeleteFunc(l.what, func(e *string) bool { return e == entry })
	}
}

// Steps are the clean-up steps that were not done yet, in the order in which they would be.
func (l *Left) Steps() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, e := range slices.Backward(l.what) {
		out = append(out, *e)
	}
	return out
}
