package hypervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// LockedError says that another process has a disk image open.
type LockedError struct {
	Path   string
	Holder string // who, as far as it can be seen
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("use %s: it is open in %s; stop that first or use another image", e.Path, e.Holder)
}

// QEMU locks single bytes of an image: from lockBase on one for each permission
// it uses, from lockBase+100 on one for each it does not share.
const (
	lockBase = 100
	lockSpan = 200
)

// checkLocks makes sure that no other QEMU has the writable images of a machine.
func checkLocks(s domain.Spec) error {
	for _, d := range s.Disks {
		if d.ReadOnly || d.Kind != domain.File {
			continue
		}
		if err := checkLock(d.Path); err != nil {
			return err
		}
	}
	return nil
}

func checkLock(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil // QEMU's own user will find out
	}
	if err != nil {
		return fmt.Errorf("use %s: %w", path, err)
	}
	defer f.Close()
	// Asking needs no right to write, only taking a lock does.
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET, Start: lockBase, Len: lockSpan}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return fmt.Errorf("use %s: ask for its locks: %w", path, err)
	}
	if lock.Type == unix.F_UNLCK {
		return nil
	}
	return &LockedError{Path: path, Holder: holder(f)}
}

// holder names the processes that have a file open, other than this one.
func holder(f *os.File) string {
	want, err := f.Stat()
	if err != nil {
		return "another process"
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return "another process"
	}
	self := fmt.Sprintf("/proc/%d/", os.Getpid())
	for _, link := range links {
		if strings.HasPrefix(link, self) {
			continue
		}
		if got, err := os.Stat(link); err == nil && sameFile(want, got) {
			return processName(strings.Split(link, "/")[2])
		}
	}
	return "another process"
}

func sameFile(a, b os.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return okX && okY && x.Dev == y.Dev && x.Ino == y.Ino
}

// processName describes a process; of a QEMU of libvirt's it says which domain.
func processName(pid string) string {
	args, err := os.ReadFile("/proc/" + pid + "/cmdline")
	if err != nil || len(args) == 0 {
		return "process " + pid
	}
	words := bytes.Split(args, []byte{0})
	name := filepath.Base(string(words[0])) + " (process " + pid + ")"
	for _, word := range words {
		if guest, ok := strings.CutPrefix(string(word), "guest="); ok {
			guest, _, _ = strings.Cut(guest, ",")
			return "domain " + guest + ", " + name
		}
	}
	return name
}
