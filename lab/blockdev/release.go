package blockdev

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// releaseWait is how long the machine's process may take to close the disk.
const releaseWait = 10 * time.Second

// Release gives the disk back: it makes sure that nobody has it open, flushes, records what lies there, reads the
// partition table again, and lets go of the locks last. A disk that is still open stays locked until this process ends.
func (h *Hold) Release() error { return h.release(releaseWait) }

func (h *Hold) release(wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		users := h.users()
		if len(users) == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("release disk %s: %s; it stays locked while this process lives", h.Claim.Passport.Serial, strings.Join(users, ", "))
		}
		time.Sleep(100 * time.Millisecond)
	}
	var errs []error
	if h.node != nil {
		errs = append(errs, flushBuffers(h.node), h.recordAfter(), rereadPartitions(h.node))
	}
	now := time.Now().UTC()
	h.state.ReleasedAt, h.state.After = &now, h.After
	errs = append(errs, h.keeper.saveState(h.state), h.drop())
	return errors.Join(errs...)
}

func (h *Hold) recordAfter() error {
	found, err := h.keeper.Host.Signatures(h.Disk.Node)
	if err != nil {
		return fmt.Errorf("record disk %s: %w", h.Claim.Passport.Serial, err)
	}
	for i := range found {
		found[i].Device = h.Disk.Name
	}
	after, err := NewRecord(h.node, h.Disk.Passport.SizeBytes, found)
	if err != nil {
		return fmt.Errorf("record disk %s: %w", h.Claim.Passport.Serial, err)
	}
	h.After = &after
	return nil
}

// users names the processes that have the disk open, other than ours.
func (h *Hold) users() (out []string) {
	again := h.keeper.Host
	again.Exclusive = func(string) error { return nil }
	inv, err := Read(again)
	if err != nil {
		return []string{err.Error()} // what cannot be seen may be in use
	}
	for _, d := range inv.Disks {
		if d.Passport.Serial != h.Claim.Passport.Serial {
			continue
		}
		for _, r := range d.Refusals {
			if r.Code == Open {
				out = append(out, r.Text)
			}
		}
	}
	return out
}

// drop lets go of everything, the lease last.
func (h *Hold) drop() error {
	var err error
	if h.node != nil {
		err = h.node.Close()
		h.node = nil
	}
	return errors.Join(err, h.lease.end())
}
