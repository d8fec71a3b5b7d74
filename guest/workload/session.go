package workload

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"platter/guest"
	"platter/results"
)

// Session is what a workload gets for one step: a way to connect, and ways to tell what happens. Emit, Progress, Log and
// Sample are called from one goroutine at a time.
type Session struct {
	Connect  func(ctx context.Context, schema string) (driver.Conn, error)
	Exited   <-chan struct{} // closed when the server has ended; nil when nobody watches
	ExitErr  func() error    // why it ended; may be nil
	Seed     uint64
	Step     string // label of every metric and histogram
	Flavour  string
	Emit     func(guest.Measurement)
	Progress func(guest.Progress) // may be nil
	Log      func(guest.Log)      // may be nil
	Sample   func(Sample)         // may be nil

	times     statementTimes
	sequences map[string]*legacySequence
}

// Sample is one second of a workload's series.
type Sample struct {
	Step    string             `json:"step"`
	Seconds float64            `json:"seconds"` // end of the interval, since the step's clock started
	Values  map[string]float64 `json:"values"`  // metric name → value over the interval
}

// InvalidError says that a run gave numbers which must not be used, by a rule known before it.
type InvalidError struct{ Reason string }

// Error gives the rule's sentence.
func (e *InvalidError) Error() string { return e.Reason }

func invalidf(format string, args ...any) error {
	return &InvalidError{Reason: fmt.Sprintf(format, args...)}
}

func (s *Session) progress(done, total float64, unit string) {
	if s.Progress != nil {
		s.Progress(guest.Progress{Step: s.Step, Done: done, Total: total, Unit: unit})
	}
}

// sequence is the counter of that name which all clients of the step share.
func (s *Session) sequence(name string) *legacySequence {
	if s.sequences == nil {
		s.sequences = map[string]*legacySequence{}
	}
	if s.sequences[name] == nil {
		s.sequences[name] = &legacySequence{}
	}
	return s.sequences[name]
}

func (s *Session) logf(level, format string, args ...any) {
	if s.Log != nil {
		s.Log(guest.Log{Level: level, Message: fmt.Sprintf(format, args...)})
	}
}

func (s *Session) flag(name, format string, args ...any) {
	s.Emit(guest.Measurement{Flags: []results.Flag{{Name: name, Detail: fmt.Sprintf(format, args...)}}})
}

// exitGrace is how long a lost connection waits for the server's end to show: the sockets of a dying server close before
// the process has ended, and one that was told to stop takes a while. Other errors wait otherGrace.
const (
	exitGrace  = 15 * time.Second
	otherGrace = time.Second
)

// lostConnections are the errors of a connection whose other end went away, or that nobody takes any more.
var lostConnections = []error{driver.ErrBadConn, mysql.ErrInvalidConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ENOENT}

func connectionLost(err error) bool {
	return slices.ContainsFunc(lostConnections, func(lost error) bool { return errors.Is(err, lost) })
}

// explain returns the reason a connection was lost: the server's end, if it ended, instead of the driver's "invalid
// connection". Errors the server itself sent are returned as they are.
func (s *Session) explain(ctx context.Context, err error) error {
	if err == nil || s.Exited == nil || errorNumber(err) != 0 {
		return err
	}
	grace := otherGrace
	if connectionLost(err) {
		grace = exitGrace
	}
	select {
	case <-s.Exited:
	case <-time.After(grace):
		return err
	case <-ctx.Done():
		select {
		case <-s.Exited: // which ends watched contexts too
		default:
			return err
		}
	}
	if s.ExitErr != nil {
		if exit := s.ExitErr(); exit != nil {
			return fmt.Errorf("the server ended during the step: %w", exit)
		}
	}
	return fmt.Errorf("the server was stopped during the step: %w", err)
}

// watched returns a context that ends when the server does, so that clients which wait or sleep notice too.
func (s *Session) watched(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if s.Exited == nil {
		return ctx, cancel
	}
	go func() {
		select {
		case <-s.Exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
