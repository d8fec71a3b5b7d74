package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"platter/guest"

	"golang.org/x/sys/unix"
)

const (
	quiesceLimit = 600 * time.Second
	quietSeconds = 2       // whole seconds without a write before the disks count as quiet
	quietDirty   = 4 << 20 // bytes of dirty pages that do not matter
)

// quiesce waits until nothing writes to the disks but what the workload will: lazy init, discard, resync,
// write-back. After the limit the trial goes on and says so.
func (t *trial) quiesce(ctx context.Context) error {
	limit := quiesceLimit
	if s := t.job.Quiesce.LimitSeconds; s > 0 {
		limit = seconds(s)
	}
	unix.Sync()
	deadline := time.Now().Add(limit)
	quiet, why := 0, ""
	before, err := t.source.Read()
	if err != nil {
		return err
	}
	for quiet < quietSeconds {
		if time.Now().After(deadline) {
			no := false
			t.facts.Quiesced = &no
			t.flag("quiesced_false", "after %s still: %s", limit, why)
			return t.measureStorage()
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		now, err := t.source.Read()
		if err != nil {
			return err
		}
		if why = t.busyWith(ctx, before, now); why == "" {
			quiet++
		} else {
			quiet = 0
			t.enc.Encode(guest.Event{Progress: &guest.Progress{Step: "quiesce: " + why, Unit: "seconds"}})
		}
		before = now
	}
	yes := true
	t.facts.Quiesced = &yes
	return t.measureStorage()
}

// busyWith names what is still going on between two readings, "" when nothing is.
func (t *trial) busyWith(ctx context.Context, before, now reading) string {
	var why []string
	for _, w := range t.job.Disks {
		source := "disk:" + w.Name
		if n, _ := now.Since(before, source, "written_bytes_total"); n > 0 {
			why = append(why, fmt.Sprintf("%.0f bytes/s written to %s", n, w.Name))
		}
		if n, _ := now.Since(before, source, "discards_total"); n > 0 {
			why = append(why, "discard on "+w.Name)
		}
		if n, _ := now.Get(source, "in_flight"); n > 0 {
			why = append(why, "requests in flight on "+w.Name)
		}
	}
	dirty, _ := now.Get("memory", "dirty_bytes")
	writeback, _ := now.Get("memory", "writeback_bytes")
	if dirty+writeback > quietDirty {
		why = append(why, fmt.Sprintf("%.0f dirty bytes", dirty+writeback))
	}
	if busy, err := t.fs.Busy(ctx, t.ex, t.job.Storage, t.assembly.Target, t.place); err != nil {
		why = append(why, err.Error())
	} else if busy != "" {
		why = append(why, busy)
	}
	for _, part := range t.assembly.Parts {
		if busy, err := part.Layout.Busy(ctx, t.ex, part.Node, part.Target); err != nil {
			why = append(why, err.Error())
		} else if busy != "" {
			why = append(why, busy)
		}
	}
	return strings.Join(why, ", ")
}
