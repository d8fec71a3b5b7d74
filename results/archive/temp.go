package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tempPrefix names directories of unpacking that has not ended.
const tempPrefix = ".platter-unpack-"

// abandonedAfter keeps others' hands off a directory that was made this moment and is not locked yet.
const abandonedAfter = 10 * time.Second

// makeTemp makes a directory below into that is locked while this process unpacks, after it has removed those of the
// dead; release removes what is left in it.
func makeTemp(into string) (dir string, release func(), err error) {
	for _, dead := range Abandoned(into) {
		_ = RemoveAbandoned(dead) // Abandoned finds it again for whoever asks
	}
	dir, err = os.MkdirTemp(into, tempPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.Open(dir)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		os.RemoveAll(dir)
		lock.Close()
	}, nil
}

// Abandoned lists what was left below a directory by unpacking, importing or verifying that was killed: directories of
// ours that nobody holds. A directory that cannot be read has none.
func Abandoned(into string) []string {
	entries, err := os.ReadDir(into)
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		path := filepath.Join(into, entry.Name())
		if entry.IsDir() && strings.HasPrefix(entry.Name(), tempPrefix) && ifAbandoned(path, func() error { return nil }) == nil {
			found = append(found, path)
		}
	}
	return found
}

// RemoveAbandoned removes a directory that Abandoned found, unless it is in use by now; one that is gone is done.
func RemoveAbandoned(dir string) error {
	if !strings.HasPrefix(filepath.Base(dir), tempPrefix) {
		return fmt.Errorf("%s is no temporary directory of ours", dir)
	}
	err := ifAbandoned(dir, func() error { return os.RemoveAll(dir) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ifAbandoned calls do while it has the lock of a directory that nobody works in.
func ifAbandoned(dir string, do func() error) error {
	lock, err := os.OpenFile(dir, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer lock.Close() // gives the lock back
	info, err := lock.Stat()
	if err != nil {
		return err
	}
	if time.Since(info.ModTime()) < abandonedAfter {
		return fmt.Errorf("%s was made just now", dir)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%s is in use: %w", dir, err)
	}
	return do()
}
