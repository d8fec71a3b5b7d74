package blockdev

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ioctlPointer calls an ioctl that takes a range; golang.org/x/sys has none for block devices.
func ioctlPointer(f *os.File, request uint, span *[2]uint64) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), uintptr(request), uintptr(unsafe.Pointer(span)))
	if errno != 0 {
		return errno
	}
	return nil
}
