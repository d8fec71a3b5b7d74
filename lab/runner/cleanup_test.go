package runner

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// TestCleanup: steps run last first, each on a living context, whatever the others or the caller's context did.
func TestCleanup(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var ran []string
	step := func(name string, err error) func(context.Context) error {
		return func(ctx context.Context) error {
			if ctx.Err() != nil {
				t.Errorf("%s runs on a context that has ended", name)
			}
			if _, ok := ctx.Deadline(); !ok {
				t.Errorf("%s has no deadline", name)
			}
			ran = append(ran, name)
			return err
		}
	}
	stuck, busy := errors.New("immutable"), errors.New("daemon restarting")
	undo := cleanup{log: slog.New(slog.DiscardHandler)}
	undo.add("volume", step("volume", stuck))
	undo.add("domain", step("domain", busy))
	undo.add("connection", step("connection", nil))

	err := undo.run(ctx)
	if want := []string{"connection", "domain", "volume"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	if !errors.Is(err, stuck) || !errors.Is(err, busy) {
		t.Errorf("error %v does not hold both causes", err)
	}
	for _, name := range []string{"volume", "domain"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("error %q does not name what is left: %s", err, name)
		}
	}
	if err := undo.run(ctx); err != nil || len(ran) != 3 {
		t.Errorf("a second clean-up did something again: %v, %v", err, ran)
	}
}
