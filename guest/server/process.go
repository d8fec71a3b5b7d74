package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is one run of the server.
type process struct {
	cmd    *exec.Cmd
	offset int64         // where its lines begin in the log
	exited chan struct{} // closed when it has ended
	asked  bool          // Stop or Kill was called; guarded by Server.mu
	err    *ExitError    // set before exited is closed
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Start starts the server and returns when it has answered a SELECT 1 over its socket. A server that ends first gives an
// *ExitError at once, with the telling line of its log; one that is not ready at the limit is killed.
func (s *Server) Start(ctx context.Context) error {
	if s.PID() != 0 {
		return errors.New("start the server: it is running")
	}
	if err := raiseOpenFiles(s.config.Needs.Connections); err != nil {
		s.config.Log("open files: %v", err)
	}
	_ = os.Remove(s.Socket()) // a killed server leaves it, and a connection to it would be refused with another message
	begin := time.Now()
	p, err := s.spawn()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.running = p
	s.mu.Unlock()
	if err := s.awaitReady(ctx, p); err != nil {
		if !p.ended() {
			err = errors.Join(err, s.Kill())
		}
		return fmt.Errorf("start %s %s: %w", s.product.Flavour, s.product.Version, err)
	}
	seconds := time.Since(begin).Seconds()
	s.startSeconds = &seconds
	s.startFlags = ioFlags(readSince(s.LogPath(), p.offset))
	return nil
}

// spawn starts the process and a goroutine that waits for its end. The goroutine keeps its thread, because the child is
// told to die with it.
func (s *Server) spawn() (*process, error) {
	log, err := os.OpenFile(s.LogPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	p := &process{offset: fileSize(s.LogPath()), exited: make(chan struct{})}
	p.cmd = command(context.Background(), s.root, s.binaries.server, "--defaults-file="+s.places.optionFile)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer log.Close()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = p.cmd.Wait() // the state it leaves in cmd tells everything
		p.err = exitOf(p.cmd, readSince(s.LogPath(), p.offset))
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", s.binaries.server, err)
	}
	return p, nil
}

// pollReady is the pause between two tries to connect; it bounds the error of StartSeconds.
const pollReady = 20 * time.Millisecond

func (s *Server) awaitReady(ctx context.Context, p *process) error {
	deadline := time.NewTimer(s.config.StartLimit)
	defer deadline.Stop()
	tick := time.NewTicker(pollReady)
	defer tick.Stop()
	var last error
	for {
		if last = s.ping(ctx); last == nil {
			return nil
		}
		select {
		case <-p.exited:
			return p.err
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("not ready after %v (%w); its log ends: %s", s.config.StartLimit, last, tailForMessage(s.LogPath(), p.offset))
		case <-tick.C:
		}
	}
}

func tailForMessage(path string, offset int64) string {
	lines := strings.Split(strings.TrimSpace(readTail(path, offset)), "\n")
	return lines[len(lines)-1]
}

// Exited returns a channel that is closed when the server started last has ended, whoever ended it; before the first
// start it is nil.
func (s *Server) Exited() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	return s.running.exited
}

// ExitErr tells why the server ended, nil while it runs and after an end that Stop or Kill asked for.
func (s *Server) ExitErr() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil || !s.running.ended() || s.running.asked {
		return nil
	}
	return s.running.err
}

// Stop asks the server to shut down cleanly and waits for it. A server that has not ended at the limit is killed, and that
// is an error, as is a server that ended on its own before.
func (s *Server) Stop(ctx context.Context) error {
	p, err := s.ask(syscall.SIGTERM)
	if err != nil {
		return fmt.Errorf("stop the server: %w", err)
	}
	begin := time.Now()
	limit := time.NewTimer(s.config.StopLimit)
	defer limit.Stop()
	select {
	case <-p.exited:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop the server: %w", ctx.Err()), s.Kill())
	case <-limit.C:
		return errors.Join(fmt.Errorf("stop the server: not ended after %v, its log ends: %s", s.config.StopLimit, tailForMessage(s.LogPath(), p.offset)), s.Kill())
	}
	seconds := time.Since(begin).Seconds()
	s.stopS = &seconds
	if p.err.Status != 0 {
		return fmt.Errorf("stop the server: %w", p.err)
	}
	return nil
}

// Kill ends the server without a chance to write anything, and waits until it is gone. It does nothing without a server.
func (s *Server) Kill() error {
	p, err := s.ask(syscall.SIGKILL)
	if err != nil {
		return nil
	}
	<-p.exited
	return nil
}

// Restart stops the server cleanly and starts it again.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Close ends a server that still runs and takes the mounts of its root away. It may be called twice.
func (s *Server) Close() error {
	return errors.Join(s.Kill(), s.root.unbind())
}

func (s *Server) ask(signal syscall.Signal) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.running
	if p == nil {
		return nil, errors.New("it was never started")
	}
	if p.ended() {
		if p.asked {
			return nil, errors.New("it is not running")
		}
		return nil, p.err
	}
	p.asked = true
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, fmt.Errorf("signal %v: %w", signal, err)
	}
	return p, nil
}

// openFiles is the least limit of open files a server gets: it opens one for each table and connection, and refuses
// connections or shrinks its caches without a word when it cannot.
const openFiles = 65536

// raiseOpenFiles lifts the limit the server inherits; only root may lift the hard one.
func raiseOpenFiles(connections int) error {
	want := max(uint64(openFiles), uint64(connections)*8)
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return err
	}
	if lim.Cur >= want && lim.Max >= want {
		// Setting it, even to the same value, makes the Go runtime hand it on to children instead of the one it began with.
		return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim)
	}
	higher := lim
	higher.Cur, higher.Max = want, max(lim.Max, want)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &higher); err == nil {
		return nil
	}
	lim.Cur = lim.Max // only the privileged may lift the hard limit; the server gets all of it
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim)
}
