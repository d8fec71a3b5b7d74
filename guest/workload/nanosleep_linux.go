package workload

import (
	"syscall"
	"time"
)

// nanosleep blocks the thread with the kernel's fine timer; a signal may end it early, by at most what is left.
func nanosleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
