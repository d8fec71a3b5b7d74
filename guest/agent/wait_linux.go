package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// waiter sleeps until a file grows. It costs no processor time meanwhile, which a loop of short sleeps
// does in an emulated machine, and it notices when nobody reads what is copied any more.
type waiter struct {
	inotify int
	out     int // descriptor of the writer; -1 when it is no file
}

func newWaiter(path string, w io.Writer) (*waiter, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	out := -1
	if f, ok := w.(*os.File); ok {
		out = int(f.Fd())
	}
	return &waiter{inotify: fd, out: out}, nil
}

func (w *waiter) close() { unix.Close(w.inotify) }

// wait returns after a change or after the limit; it fails when the reader of the writer has gone.
func (w *waiter) wait(limit time.Duration) error {
	fds := []unix.PollFd{{Fd: int32(w.inotify), Events: unix.POLLIN}}
	if w.out >= 0 {
		fds = append(fds, unix.PollFd{Fd: int32(w.out)}) // errors are always reported
	}
	_, err := unix.Poll(fds, int(limit.Milliseconds()))
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for events: %w", err)
	}
	if len(fds) > 1 && fds[1].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
		return errors.New("nobody reads the events any more")
	}
	var drain [4096]byte
	for {
		if _, err := unix.Read(w.inotify, drain[:]); err != nil {
			return nil // drained, or to be seen again at the next wait
		}
	}
}
