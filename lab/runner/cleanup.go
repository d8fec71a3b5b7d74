package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// undoTimeout bounds one step of clean-up, so that a hung daemon cannot keep the others from running.
const undoTimeout = 60 * time.Second

// cleanup undoes what was done, last first. Every step runs whatever the others did, on a context of its own that a
// cancelled run does not reach.
type cleanup struct {
	log   *slog.Logger
	steps []undo
}

type undo struct {
	what string
	do   func(context.Context) error
}

// add registers how to undo what is about to be done, or was just done.
func (c *cleanup) add(what string, do func(context.Context) error) {
	c.steps = append(c.steps, undo{what, do})
}

// run undoes everything and joins the errors; each names what is left.
func (c *cleanup) run(ctx context.Context) error {
	var errs []error
	for i := len(c.steps) - 1; i >= 0; i-- {
		step := c.steps[i]
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
		if err := step.do(ctx); err != nil {
			c.log.Warn("clean-up", "step", step.what, "error", err)
			errs = append(errs, fmt.Errorf("%s (run `platter clean` to remove what is left): %w", step.what, err))
		}
		cancel()
	}
	c.steps = nil
	return errors.Join(errs...)
}
