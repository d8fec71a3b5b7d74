package blockdev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// DeadLeases lists the leases of a directory ("" is LeaseDir()) whose owners died with their disks. The next platter that
// wants such a disk takes it over by itself; what a machine had of it may still have to be given back.
func DeadLeases(dir string) ([]Lease, error) {
	if dir == "" {
		dir = LeaseDir()
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list the leases in %s: %w", dir, err)
	}
	var found []Lease
	var errs []error
	for _, path := range paths {
		err := underDeadLease(path, func(_ *os.File, l Lease) error {
			found = append(found, l)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			errs = append(errs, err)
		}
	}
	return found, errors.Join(errs...)
}

// FreeDeadLease calls giveBack and then ends a lease that DeadLeases found; a lease that somebody has taken meanwhile is
// left alone. The file stays: whoever waits for its lock must see the same one as all others.
func FreeDeadLease(dir string, lease Lease, giveBack func() error) error {
	if dir == "" {
		dir = LeaseDir()
	}
	err := underDeadLease(filepath.Join(dir, fileOf(lease.Serial)), func(f *os.File, l Lease) error {
		if l != lease {
			return nil
		}
		if err := giveBack(); err != nil {
			return err
		}
		return rewrite(f, nil)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// underDeadLease calls do with a lease's file and text while it holds its lock, unless the lease is held or was given back.
func underDeadLease(path string, do func(*os.File, Lease) error) error {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close() // gives the lock back
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
		return fmt.Errorf("lock the lease %s: %w", path, err)
	}
	l := readLease(f)
	if l.Schema != leaseSchema || l.Owner.PID == 0 || filepath.Base(path) != fileOf(l.Serial) {
		return nil // given back, or not ours
	}
	return do(f, l)
}
