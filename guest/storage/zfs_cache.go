package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"platter/guest"
)

const (
	arcStats = "/proc/spl/kstat/zfs/arcstats"
	arcTries = 20
	arcPause = 250 * time.Millisecond
)

// dropZFS empties the cache of ZFS, which is none of the page cache's. Taking the pool out and in again empties it whole. A
// pool in use cannot be taken out: then the cache is shrunk to the least ZFS keeps, a thirty-second of the memory.
func dropZFS(ctx context.Context, ex Exec, s guest.Storage, t Target, p Place) error {
	if _, err := ex.Run(ctx, "umount", p.Dir); err != nil {
		return shrinkARC(ctx)
	}
	_, busy := ex.Run(ctx, "zpool", "export", ZFSPool)
	if busy == nil {
		if err := importZFS(ctx, ex, t); err != nil {
			return err
		}
	}
	for _, argv := range mountZFS(s, t, p) {
		if _, err := ex.Run(ctx, argv...); err != nil {
			return fmt.Errorf("mount zfs again: %w", err)
		}
	}
	if busy != nil {
		return shrinkARC(ctx)
	}
	return nil
}

// importZFS takes the pool in again from its own devices.
func importZFS(ctx context.Context, ex Exec, t Target) error {
	argv := []string{"zpool", "import", "-N", "-o", "cachefile=none"}
	_, devices := zfsDevices(t)
	for _, d := range devices {
		argv = append(argv, "-d", d)
	}
	if _, err := ex.Run(ctx, append(argv, ZFSPool)...); err != nil {
		return fmt.Errorf("import the pool again: %w", err)
	}
	return nil
}

// shrinkARC asks the kernel to drop caches until files' data is at the cache's own minimum: the cache gives a part each
// time. It fails when that does not come, since a read would then not come from the disk.
func shrinkARC(ctx context.Context) error {
	var held, least int64
	for range arcTries {
		text, err := os.ReadFile(arcStats)
		if err != nil {
			return fmt.Errorf("read the cache of zfs: %w", err)
		}
		var noHeld, noLeast error
		held, noHeld = arcStat(string(text), "data_size")
		least, noLeast = arcStat(string(text), "c_min")
		if err := errors.Join(noHeld, noLeast); err != nil {
			return err
		}
		if held <= least {
			return nil
		}
		if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0); err != nil {
			return fmt.Errorf("drop the cache of zfs: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(arcPause):
		}
	}
	return fmt.Errorf("drop the cache of zfs: it still holds %d bytes of files, and keeps %d at least", held, least)
}

// arcStat reads one of the lines of name, type and value.
func arcStat(text, name string) (int64, error) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == name {
			n, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the cache of zfs: %s is %q", name, f[2])
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("read the cache of zfs: %s has no %s", arcStats, name)
}
