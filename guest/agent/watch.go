package agent

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"platter/guest/sampler"

	"golang.org/x/sys/unix"
)

// A server on a full filesystem may wait for ever for someone to make room.
const (
	fullBelow = 1 << 20 // bytes left that count as none
	fullAfter = 20 * time.Second
	fullEvery = 2 * time.Second
)

// FullError says that the filesystem under test had no room left.
type FullError struct{ For time.Duration }

// Error says what to do.
func (e *FullError) Error() string {
	return fmt.Sprintf("the filesystem under test has been full for %s: use fewer rows or a larger disk", e.For)
}

// watchRoom returns a context that ends when the filesystem under test stays full.
func (t *trial) watchRoom(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		var since time.Time
		for pause(ctx, fullEvery) == nil {
			switch room, known := t.room(); {
			case !known || room >= fullBelow:
				since = time.Time{}
			case since.IsZero():
				since = time.Now()
			case time.Since(since) >= fullAfter:
				cancel(&FullError{fullAfter})
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// room is what a program without privileges may still write to the filesystem under test.
func (t *trial) room() (bytes int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(t.place.Dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Frsize), true
}

// moreSamples adds the room left and, while there is one, the server's counters.
func (t *trial) moreSamples(status func(context.Context) ([]sampler.Value, error)) func(context.Context) ([]sampler.Value, error) {
	return func(ctx context.Context) ([]sampler.Value, error) {
		var values []sampler.Value
		if n, known := t.room(); known {
			values = append(values, sampler.Value{Source: "filesystem", Name: "available_bytes", Value: float64(n)})
		}
		if status == nil {
			return values, nil
		}
		counters, _ := status(ctx) // a stopped server has none
		return append(values, counters...), nil
	}
}

// oomScore keeps the kernel from choosing the agent when memory runs out: then nobody could tell why.
const oomScore = -900

// survive protects this process; its children inherit that, so the server is told to be the first again.
func survive() { setOOMScore("self", oomScore) }

func (t *trial) exposeServer() {
	if pid := t.server.PID(); pid != 0 {
		setOOMScore(strconv.Itoa(pid), 0)
	}
}

// setOOMScore does nothing where the kernel does not allow it: then the kernel chooses as it likes.
func setOOMScore(process string, score int) {
	f, err := os.OpenFile("/proc/"+process+"/oom_score_adj", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	fmt.Fprintln(f, score)
	f.Close()
}
