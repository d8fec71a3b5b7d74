package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a unix socket in blocking mode whose reads go through a buffer: an answer costs one system call, and its
// arrival wakes the thread of the client that waits for it, as in a client written in C.
//
// Note: the runtime's poller needs three calls an answer (read in vain, wait, read) and one thread to hand out the answers
// of all clients. On busy processors that one thread gets the share of one where a C client's threads get one each: it lost
// up to a third of the throughput. Blocking calls want a processor of the runtime for every client (GOMAXPROCS), which
// guest/workload sees to while it measures.
type socket struct {
	file    *os.File // blocking, unknown to the poller; counts its users, so a close never hits a descriptor in use
	address string
	release func() bool
	ended   atomic.Bool

	buffer     [socketBuffer]byte
	start, end int // unread part of buffer
}

// socketBuffer takes the answer of a hundred-row range in one read; the server sends up to 16 KiB at once.
const socketBuffer = 32 << 10

// dialSocket connects to a unix socket. The connection ends when the context does, in the middle of a statement too.
func dialSocket(ctx context.Context, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	if err := connectFD(fd, address); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	s := &socket{file: os.NewFile(uintptr(fd), address), address: address}
	s.release = context.AfterFunc(ctx, s.hangUp)
	return s, nil
}

// connectFD waits at most connectLimit for a server whose queue of connections is full.
func connectFD(fd int, address string) error {
	limit := unix.NsecToTimeval(connectLimit.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
		return err
	}
	for {
		switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: address}); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		default:
			return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{})
		}
	}
}

// hangUp ends a read or write another goroutine waits in.
func (s *socket) hangUp() {
	s.ended.Store(true)
	if raw, err := s.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // the peer may be gone
	}
}

// Read reads what has arrived, waiting for the first byte.
func (s *socket) Read(p []byte) (int, error) {
	if s.start == s.end {
		n, err := s.file.Read(s.buffer[:])
		if err != nil {
			return 0, s.why(err)
		}
		s.start, s.end = 0, n
	}
	n := copy(p, s.buffer[s.start:s.end])
	s.start += n
	return n, nil
}

// Write writes all of p.
func (s *socket) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	return n, s.why(err)
}

// why is the error, or that this end was hung up, which shows as an end of file or a broken pipe.
func (s *socket) why(err error) error {
	if err != nil && s.ended.Load() {
		return net.ErrClosed
	}
	return err
}

// Close ends the connection and lets the context go.
func (s *socket) Close() error {
	s.release()
	s.hangUp()
	if err := s.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// LocalAddr and RemoteAddr are both the socket's path.
func (s *socket) LocalAddr() net.Addr { return s.RemoteAddr() }

// RemoteAddr is the socket's path.
func (s *socket) RemoteAddr() net.Addr { return &net.UnixAddr{Net: "unix", Name: s.address} }

// SetDeadline is not offered: a connection ends with its context.
func (s *socket) SetDeadline(time.Time) error { return os.ErrNoDeadline }

// SetReadDeadline is not offered.
func (s *socket) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// SetWriteDeadline is not offered.
func (s *socket) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
