package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// socket is a unix socket whose reads go through a buffer and whose system calls the scheduler is not told of.
//
// Note: a statement is one small write and one small read of a socket that never blocks in them (the runtime's poller does
// the waiting). Telling the scheduler of each as a call that may block wakes its monitor thread, which then polls every
// 20 µs: a quarter of a load generator's CPU time, taken from the server it measures. Blocking reads on threads of their own
// were tried: they cost more than the poller as soon as there are more clients than CPUs.
type socket struct {
	net.Conn
	raw     syscall.RawConn
	release func() bool

	buffer     [socketBuffer]byte
	start, end int // unread part of buffer

	read, write transfer
}

// socketBuffer takes the answer of a hundred-row range in one read; the server sends up to 16 KiB at once.
const socketBuffer = 32 << 10

// transfer is one system call on a part of p; its function is made once a connection, for a closure a call is an allocation.
type transfer struct {
	p     []byte
	n     int
	errno syscall.Errno
	call  func(fd uintptr) bool
}

// dialSocket connects to a unix socket. The connection ends when the context does, in the middle of a statement too.
func dialSocket(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	s := &socket{Conn: c, raw: raw}
	s.read.call = s.read.caller(syscall.SYS_READ)
	s.write.call = s.write.caller(syscall.SYS_WRITE)
	s.release = context.AfterFunc(ctx, func() { c.Close() })
	return s, nil
}

// caller returns the function the poller calls until it returns true: false waits for the socket to be ready.
func (t *transfer) caller(trap uintptr) func(fd uintptr) bool {
	return func(fd uintptr) bool {
		for {
			n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.p))), uintptr(len(t.p)))
			t.n, t.errno = int(n), errno
			switch errno {
			case syscall.EINTR:
			case syscall.EAGAIN:
				return false
			default:
				return true
			}
		}
	}
}

// Read reads what has arrived, waiting for the first byte.
func (s *socket) Read(p []byte) (int, error) {
	if s.start == s.end {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.buffer[s.start:s.end])
	s.start += n
	return n, nil
}

func (s *socket) fill() error {
	s.read.p = s.buffer[:]
	if err := s.raw.Read(s.read.call); err != nil {
		return err
	}
	switch {
	case s.read.errno != 0:
		return os.NewSyscallError("read", s.read.errno)
	case s.read.n == 0:
		return io.EOF
	}
	s.start, s.end = 0, s.read.n
	return nil
}

// Write writes all of p.
func (s *socket) Write(p []byte) (written int, err error) {
	defer func() { s.write.p = nil }() // the driver's buffer is not ours to keep
	for written < len(p) {
		s.write.p = p[written:]
		if err := s.raw.Write(s.write.call); err != nil {
			return written, err
		}
		if s.write.errno != 0 {
			return written, os.NewSyscallError("write", s.write.errno)
		}
		written += s.write.n
	}
	return written, nil
}

// Close ends the connection and lets the context go.
func (s *socket) Close() error {
	s.release()
	if err := s.Conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
