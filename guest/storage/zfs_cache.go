package storage

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"platter/guest"
)

const (
	arcStats = "/proc/spl/kstat/zfs/arcstats"
	// arcCold is how much of files' data the cache may hold and still count as empty: what is being written keeps some.
	arcCold  = 4 << 20
	arcTries = 20
	arcPause = 250 * time.Millisecond
)

// dropARC empties the cache of ZFS, which is none of the page cache's: the kernel's own drop only asks it to shrink, and it
// gives a part each time. It fails when data is still cached at the end, since a read would then not come from the disk.
func dropARC(ctx context.Context, _ Exec, _ guest.Storage, _ Target, _ Place) error {
	var held int64
	for range arcTries {
		text, err := os.ReadFile(arcStats)
		if err != nil {
			return fmt.Errorf("read the cache of zfs: %w", err)
		}
		if held, err = arcData(string(text)); err != nil {
			return err
		}
		if held <= arcCold {
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
	return fmt.Errorf("drop the cache of zfs: it still holds %d bytes of files", held)
}

// arcData reads the bytes of files' data from lines of name, type and value.
func arcData(text string) (int64, error) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "data_size" {
			n, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the cache of zfs: data_size is %q", f[2])
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("read the cache of zfs: %s has no data_size", arcStats)
}
