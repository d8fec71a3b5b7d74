package workload

import (
	"context"
	"database/sql/driver"
	"io"
	"strings"
	"sync/atomic"

	"platter/guest"
	"platter/results"
)

// fakeServer answers every statement at once; answer may refuse one. It stands in for a server where a test is about
// arithmetic over millions of events, which a real one would take hours for.
type fakeServer struct {
	answer func(statement string) error // nil accepts all
	calls  atomic.Int64
}

type fakeConn struct{ server *fakeServer }

type fakeRows struct{}

func (fakeRows) Columns() []string         { return nil }
func (fakeRows) Close() error              { return nil }
func (fakeRows) Next([]driver.Value) error { return io.EOF }

type fakeStmt struct {
	server *fakeServer
	text   string
}

func (c fakeConn) Prepare(text string) (driver.Stmt, error) { return fakeStmt{c.server, text}, nil }
func (c fakeConn) Close() error                             { return nil }
func (c fakeConn) Begin() (driver.Tx, error)                { return nil, driver.ErrSkip }

func (c fakeConn) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	return fakeStmt{c.server, text}.Exec(nil)
}

func (s fakeStmt) Close() error  { return nil }
func (s fakeStmt) NumInput() int { return strings.Count(s.text, "?") }
func (s fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	_, err := s.Exec(nil)
	return fakeRows{}, err
}
func (s fakeStmt) Exec([]driver.Value) (driver.Result, error) {
	s.server.calls.Add(1)
	if s.server.answer != nil {
		if err := s.server.answer(s.text); err != nil {
			return nil, err
		}
	}
	return driver.RowsAffected(1), nil
}

// fakeSession is a session on a fake server that collects the metrics.
func fakeSession(server *fakeServer, metrics *[]results.Metric) *Session {
	return &Session{Connect: func(context.Context, string) (driver.Conn, error) { return fakeConn{server}, nil }, Step: "run",
		Emit: func(m guest.Measurement) { *metrics = append(*metrics, m.Metrics...) }}
}

func valueOf(metrics []results.Metric, name string) float64 {
	for _, m := range metrics {
		if m.Name == name && m.Value != nil {
			return *m.Value
		}
	}
	return -1
}
