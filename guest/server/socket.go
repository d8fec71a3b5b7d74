package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket is a unix socket in blocking mode whose reads go through a buffer. An answer costs two system calls, a poll and a
// read, the scheduler is told of neither, and its arrival wakes the thread of the client that waits for it, as in a client
// written in C.
//
// Note: the runtime's poller needs three calls an answer (read in vain, wait, read), and on busy processors the one thread
// that hands out the answers of all clients gets the share of one where a C client's threads get one each: a third of the
// throughput was lost. Blocking calls the scheduler knows of have its monitor take the processor of every second one away,
// and poll every 20 µs to do so: twice the CPU time. A call it does not know of holds a processor of the runtime, which
// guest/workload provides for each client while it measures; the signal by which the runtime stops a goroutine ends the
// call, for a poll is never restarted after one. What is left of the answer's time is waited for in a call the scheduler
// knows of. A read alone would wait too, but its thread is woken in vain when the server takes the request off the socket,
// each time: a third more context switches. It would also need a time limit, thus a timer a statement, to be ended by a signal.
type socket struct {
	file    *os.File        // blocking, unknown to the poller
	raw     syscall.RawConn // counts its users, so a close never hits a descriptor in use
	address string
	release func() bool
	ended   atomic.Bool

	buffer     [socketBuffer]byte
	start, end int // unread part of buffer

	read, write transfer
}

// transfer is one system call on p; its function is made once a connection, for a closure a call is an allocation.
type transfer struct {
	p     []byte
	n     int
	errno syscall.Errno
	wait  unix.PollFd
	call  func(fd uintptr) bool
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
	if s.raw, err = s.file.SyscallConn(); err != nil {
		s.file.Close()
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	s.read.call, s.write.call = s.read.receive, s.write.send
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
	_ = s.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // the peer may be gone
}

// receive reads once, waiting for the first byte.
func (t *transfer) receive(fd uintptr) bool {
	t.wait = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	for {
		_, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&t.wait)), 1, 0, 0, 0, 0)
		if errno != 0 { // a signal may ask this goroutine to stop, which it can do only in a call the scheduler knows of
			_, _ = unix.Poll([]unix.PollFd{t.wait}, -1) // the read that follows tells what came
		}
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.p))), uintptr(len(t.p)),
			unix.MSG_DONTWAIT, 0, 0)
		t.n, t.errno = int(n), errno
		if errno != syscall.EINTR && errno != syscall.EAGAIN {
			return true
		}
	}
}

// send writes as much of p as the kernel takes at once.
func (t *transfer) send(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.p))), uintptr(len(t.p)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		t.n, t.errno = int(n), errno
		switch errno {
		case syscall.EINTR:
		case syscall.EAGAIN:
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		default:
			return true
		}
	}
}

// Read reads what has arrived, waiting for the first byte.
func (s *socket) Read(p []byte) (int, error) {
	if s.start == s.end {
		if err := s.fill(); err != nil {
			return 0, s.why(err)
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
			return written, s.why(err)
		}
		if s.write.errno != 0 {
			return written, s.why(os.NewSyscallError("write", s.write.errno))
		}
		written += s.write.n
	}
	return written, nil
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
