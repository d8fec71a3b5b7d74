package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"platter/guest"
	"platter/guest/storage"
	"platter/results"

	"golang.org/x/sys/unix"
)

// cutMark is the word in the log of writes where the power went.
const cutMark = "platter-power-cut"

// cutPower makes of the disk what a power cut at this moment leaves in the worst case: every write that the disk had not
// been told to make durable is gone. Then filesystem and server are brought back. endLoad returns when no client runs.
func (t *trial) cutPower(ctx context.Context, name string, endLoad func()) error {
	part, err := t.loggedPart()
	if err != nil {
		return err
	}
	node, data, log := part.Target.Device(), part.Of[0].Device(), part.Of[1].Device()
	if _, err := t.ex.Run(ctx, "dmsetup", "message", node, "0", "mark", cutMark); err != nil {
		return &LostError{err}
	}
	// From here on everything goes behind the mark; the machine ends the server only so that it lets go of the disk.
	// Its root holds the filesystem mounted a second time, and so is closed too.
	if err := t.server.Close(); err != nil {
		return &LostError{err}
	}
	endLoad()
	unmount := append(t.fs.Unmount(t.job.Storage, t.assembly.Target, t.place), part.Layout.Teardown(part.Node, part.Of, part.ID)...)
	if err := t.runAll(ctx, mountLimit, unmount); err != nil {
		return &LostError{fmt.Errorf("let go of the disk: %w", err)}
	}
	begin := time.Now()
	done, err := replayDevices(ctx, log, data, part.Of[0].SizeBytes)
	if err != nil {
		return &LostError{err}
	}
	t.say("info", "power cut: replayed %d writes (%d bytes) in %.1f s; %d bytes were in the disk's cache and are gone",
		done.Entries, done.Bytes, time.Since(begin).Seconds(), done.Dropped)
	entries, bytes, dropped := float64(done.Entries), float64(done.Bytes), float64(done.Dropped)
	err = t.measure(guest.Measurement{Probes: []results.Probe{{Name: "power_cut", When: "after", Note: "step " + name,
		Values: map[string]*float64{"durable_writes_total": &entries, "durable_bytes": &bytes, "dropped_bytes": &dropped}}}})
	if err != nil {
		return err
	}
	for _, step := range part.Steps {
		if err := t.build(ctx, step); err != nil {
			return &LostError{err}
		}
	}
	return t.recover(ctx)
}

// loggedPart is the part of the storage that keeps its writes: the root of the tree.
func (t *trial) loggedPart() (storage.Part, error) {
	if n := len(t.assembly.Parts); n > 0 && t.assembly.Parts[n-1].Layout.Name == "log_writes" {
		return t.assembly.Parts[n-1], nil
	}
	return storage.Part{}, errors.New("a power cut needs the layout log_writes over a disk and a second one for the log")
}

// replayDevices makes the data disk hold what the log says was durable.
func replayDevices(ctx context.Context, log, data string, size int64) (replayed, error) {
	from, err := os.Open(log)
	if err != nil {
		return replayed{}, fmt.Errorf("open the log of writes: %w", err)
	}
	defer from.Close()
	// What the device's cache held before is of no use: both were written through device-mapper.
	if err := unix.IoctlSetInt(int(from.Fd()), unix.BLKFLSBUF, 0); err != nil {
		return replayed{}, fmt.Errorf("drop the cache of %s: %w", log, err)
	}
	to, err := os.OpenFile(data, os.O_RDWR|unix.O_EXCL, 0)
	if err != nil {
		return replayed{}, fmt.Errorf("open the disk: %w", err)
	}
	zero := zeroRange(int(to.Fd()))
	err = zero(0, size)
	var done replayed
	if err == nil {
		done, err = replay(ctx, from, cutMark, to, zero)
	}
	return done, errors.Join(err, to.Sync(), to.Close())
}
