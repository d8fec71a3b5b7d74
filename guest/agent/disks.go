package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"platter/guest"
)

// LostError says that the rig is not what the job describes (a disk missing, of another size, in use):
// that says nothing of the subject.
type LostError struct{ Err error }

// Error is the cause.
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// pollEvery is how often a condition in /sys or /dev is looked at.
const pollEvery = 50 * time.Millisecond

// FindDisks waits until every disk of the job is there, once, and of the exact size; it returns them by
// the job's names. missing, which may be nil, is called while one is not there. The error lists the
// disks that are there.
func (s System) FindDisks(ctx context.Context, want []guest.Disk, limit time.Duration, missing func(context.Context)) (map[string]BlockDevice, error) {
	deadline := time.Now().Add(limit)
	for {
		found, err := s.matchDisks(want)
		if err == nil {
			return found, nil
		}
		if time.Now().After(deadline) {
			return nil, &LostError{err}
		}
		if missing != nil {
			missing(ctx)
		}
		if err := pause(ctx, pollEvery); err != nil {
			return nil, err
		}
	}
}

func (s System) matchDisks(want []guest.Disk) (map[string]BlockDevice, error) {
	devices, err := s.BlockDevices()
	if err != nil {
		return nil, err
	}
	found := map[string]BlockDevice{}
	for _, w := range want {
		d, err := pick(w.Serial, devices)
		if err != nil {
			return nil, fmt.Errorf("disk %s: %w", w.Name, err)
		}
		if err := sameDisk(w, d); err != nil {
			return nil, err
		}
		found[w.Name] = d
	}
	return found, nil
}

// pick returns the one device with the serial.
func pick(serial string, devices []BlockDevice) (BlockDevice, error) {
	if serial == "" {
		return BlockDevice{}, fmt.Errorf("the job gives no serial")
	}
	var hits []BlockDevice
	for _, d := range devices {
		if d.Serial == serial {
			hits = append(hits, d)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return BlockDevice{}, fmt.Errorf("no disk has serial %q; there are: %s", serial, list(devices))
	default:
		return BlockDevice{}, fmt.Errorf("serial %q is on more than one disk: %s", serial, list(hits))
	}
}

// sameDisk proves that a device is the disk the job describes.
func sameDisk(w guest.Disk, d BlockDevice) error {
	switch {
	case d.Serial != w.Serial:
		return fmt.Errorf("disk %s: %s has serial %q, not %q", w.Name, d.Name, d.Serial, w.Serial)
	case d.SizeBytes != w.SizeBytes:
		return fmt.Errorf("disk %s: %s with serial %q has %d bytes, the job says %d", w.Name, d.Name, d.Serial, d.SizeBytes, w.SizeBytes)
	case w.LogicalBlockBytes != 0 && d.LogicalBlockBytes != w.LogicalBlockBytes:
		return fmt.Errorf("disk %s: %s has logical blocks of %d bytes, the job says %d", w.Name, d.Name, d.LogicalBlockBytes, w.LogicalBlockBytes)
	}
	return nil
}

func list(devices []BlockDevice) string {
	if len(devices) == 0 {
		return "none"
	}
	var lines []string
	for _, d := range devices {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "; ")
}

// pause waits, or returns the reason ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
