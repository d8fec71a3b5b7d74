package remote

import (
	"net"
	"sync/atomic"
	"time"
)

// watchedConn remembers when the last byte came in. Any byte is a sign of
// life: while a big upload fills the link, the answer to a keepalive may wait
// longer behind it than the data's own acknowledgements.
type watchedConn struct {
	net.Conn
	start time.Time
	last  atomic.Int64 // nanoseconds after start
}

func newWatchedConn(conn net.Conn) *watchedConn {
	return &watchedConn{Conn: conn, start: time.Now()}
}

func (w *watchedConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.last.Store(int64(time.Since(w.start)))
	}
	return n, err
}

// silence returns how long nothing has come in.
func (w *watchedConn) silence() time.Duration {
	return time.Since(w.start) - time.Duration(w.last.Load())
}
