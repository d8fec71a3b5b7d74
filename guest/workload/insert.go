package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Insert is the insert benchmark (iibench in M. Callaghan's version): load in key order, make the secondary indexes,
// insert with them at full speed, then query at full speed while inserting at a fixed rate. Each client has a table of its
// own, one inserter, one deleter that removes as many rows from the low end of the key, and query threads.
//
//	l.i0         rows in key order, no secondary indexes, 100 rows a commit
//	l.x          create the secondary indexes
//	l.i1, l.i2   4/5 and 1/5 of write_rows, with deletes, 50 and 5 rows a commit
//	qrN, qpN     range or point queries for query_seconds while inserting and deleting N rows/s a client, 50 a commit
//
// The rows of a query phase are fixed by time and rate; a server that cannot keep the rate makes it longer, and the phase
// is reported as failed when the rate is missed by over 5 %.
type Insert struct {
	Clients        int     `json:"clients"`
	Rows           int64   `json:"rows"`       // of l.i0, a client
	WriteRows      int64   `json:"write_rows"` // of l.i1 and l.i2, a client
	QuerySeconds   float64 `json:"query_seconds"`
	QueryThreads   int     `json:"query_threads"`     // a client
	Indexes        int     `json:"secondary_indexes"` // 0 to 3
	Deletes        bool    `json:"deletes"`
	DataBytes      int     `json:"data_bytes"`
	SettleSeconds  float64 `json:"settle_seconds"` // between load and queries; below 0 is 60 s and 1 s a million rows, at most 1200
	Phases         Words   `json:"phases"`
	Engine         string  `json:"engine"`
	Schema         string  `json:"schema"`
	CountRows      bool    `json:"count_rows"`
	FirstRowCommit int     `json:"rows_per_commit_load"` // of l.i0
}

func init() {
	register("insert", "the insert benchmark: load, index, insert, then query beside a fixed insert rate", runOnly, func() Workload {
		return &Insert{Clients: 1, Rows: 100000, WriteRows: 50000, QuerySeconds: 60, QueryThreads: 1, Indexes: 3, Deletes: true, DataBytes: 10, SettleSeconds: -1,
			Phases: Words{"l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"}, Engine: "innodb", Schema: "platter_insert",
			CountRows: true, FirstRowCommit: 100}
	})
}

// insertPhase is one phase, read from its name.
type insertPhase struct {
	name      string
	rows      int64 // a client
	perCommit int
	deletes   bool
	rate      float64 // rows/s a client; 0 is full speed
	queries   byte    // 'r' range, 'p' point, 0 none
	index     bool    // creates the indexes
	settle    bool    // waits for a settled state first
}

// plan reads the phases.
func (b *Insert) plan() ([]insertPhase, error) {
	var out []insertPhase
	queried := false
	for _, name := range b.Phases {
		p := insertPhase{name: name, perCommit: 50, deletes: b.Deletes}
		switch {
		case name == "l.i0":
			p.rows, p.perCommit, p.deletes = b.Rows, b.FirstRowCommit, false
		case name == "l.x":
			p.index, p.deletes = true, false
		case name == "l.i1":
			p.rows = b.WriteRows * 4 / 5
		case name == "l.i2":
			p.rows, p.perCommit = b.WriteRows/5, 5
		case strings.HasPrefix(name, "qr") || strings.HasPrefix(name, "qp"):
			n, err := strconv.Atoi(name[2:])
			if err != nil || n < 1 {
				return nil, fmt.Errorf("phases: %q needs a rate, like qr100", name)
			}
			p.queries, p.rate, p.rows = name[1], float64(n), int64(b.QuerySeconds*float64(n))
			p.settle, queried = !queried, true
		default:
			return nil, fmt.Errorf("phases: %q is not l.i0, l.x, l.i1, l.i2, qrN or qpN", name)
		}
		out = append(out, p)
	}
	return out, nil
}

// Check implements Workload.
func (b *Insert) Check(p Place) []error {
	var errs []error
	for _, n := range []struct {
		name         string
		value, least int64
	}{{"clients", int64(b.Clients), 1}, {"rows", b.Rows, 1}, {"write_rows", b.WriteRows, 0}, {"query_threads", int64(b.QueryThreads), 0},
		{"data_bytes", int64(b.DataBytes), 0}, {"rows_per_commit_load", int64(b.FirstRowCommit), 1}} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s is %d; it is %d or more", n.name, n.value, n.least))
		}
	}
	if b.Indexes < 0 || b.Indexes > len(insertIndexes) {
		errs = append(errs, fmt.Errorf("secondary_indexes %d is 0 to %d", b.Indexes, len(insertIndexes)))
	}
	phases, err := b.plan()
	switch {
	case err != nil:
		errs = append(errs, err)
	case len(phases) == 0 || phases[0].name != "l.i0":
		errs = append(errs, errors.New("phases begins with l.i0, which makes the tables"))
	case slices.ContainsFunc(phases, func(ph insertPhase) bool { return ph.queries == 'r' }) && b.Indexes == 0:
		errs = append(errs, errors.New("phases qrN read by a secondary index: secondary_indexes is 1 or more"))
	case slices.ContainsFunc(phases, func(ph insertPhase) bool { return ph.queries != 0 }) && b.QuerySeconds <= 0:
		errs = append(errs, errors.New("query_seconds is more than 0"))
	}
	errs = append(errs, checkEngine(b.Engine, p)...)
	return append(errs, checkNeeds(b.Needs(), p)...)
}

// insertRowBytes is a row with three secondary indexes in InnoDB, without its data.
const insertRowBytes = 150

// Needs implements Workload.
func (b *Insert) Needs() Needs {
	rows := b.Rows
	if !b.Deletes {
		rows += b.WriteRows
	}
	file := rows * int64(insertRowBytes+b.DataBytes) * 3 / 2
	return Needs{Connections: b.Clients*(2+b.QueryThreads) + 1, PreparedStatements: b.Clients * (1 + b.QueryThreads*4),
		PacketBytes: int64(max(b.FirstRowCommit, 50)) * int64(120+b.DataBytes), DiskBytes: int64(b.Clients) * file, LargestFileBytes: file}
}

// Prepare implements Workload; phase l.i0 makes the tables.
func (b *Insert) Prepare(context.Context, *Session) error { return nil }

// Warmup implements Workload; the phases warm each other up.
func (b *Insert) Warmup(context.Context, *Session) error { return nil }

// Cleanup implements Workload.
func (b *Insert) Cleanup(ctx context.Context, s *Session) error {
	return s.once(ctx, "", "DROP DATABASE IF EXISTS "+quoteName(b.Schema))
}

// Run implements Workload: the phases in order.
func (b *Insert) Run(ctx context.Context, s *Session) error {
	phases, err := b.plan()
	if err != nil {
		return err
	}
	if err := b.makeTables(ctx, s); err != nil {
		return err
	}
	defer processorFor(b.Needs().Connections)()
	ctx, stop := s.watched(ctx)
	defer stop()
	state := newInsertState(b, s)
	for i, p := range phases {
		s.progress(float64(i), float64(len(phases)), "phases")
		if p.settle {
			if err := pause(ctx, b.settle()); err != nil {
				return s.explain(ctx, err)
			}
		}
		if err := state.phase(ctx, p); err != nil {
			return s.explain(ctx, fmt.Errorf("insert, phase %s: %w", p.name, err))
		}
	}
	s.progress(float64(len(phases)), float64(len(phases)), "phases")
	if !b.CountRows {
		return nil
	}
	for i, n := range state.rows {
		if _, err := s.compareRows(ctx, b.Schema, insertTable(i), n); err != nil {
			return err
		}
	}
	return nil
}

func (b *Insert) settle() float64 {
	if b.SettleSeconds >= 0 {
		return b.SettleSeconds
	}
	return min(60+float64(b.Rows)*float64(b.Clients)/1e6, (20 * time.Minute).Seconds())
}

func insertTable(client int) string { return "pi" + strconv.Itoa(client+1) }

func (b *Insert) makeTables(ctx context.Context, s *Session) error {
	engine := ""
	if b.Engine != "" {
		engine = " ENGINE=" + b.Engine
	}
	statements := []string{"DROP DATABASE IF EXISTS " + quoteName(b.Schema), "CREATE DATABASE " + quoteName(b.Schema), "USE " + quoteName(b.Schema)}
	for i := range b.Clients {
		statements = append(statements, "CREATE TABLE "+insertTable(i)+" (transactionid BIGINT NOT NULL AUTO_INCREMENT, dateandtime DATETIME, cashregisterid INT NOT NULL, "+
			"customerid INT NOT NULL, productid INT NOT NULL, price FLOAT NOT NULL, data VARCHAR(4000), PRIMARY KEY (transactionid))"+engine)
	}
	return s.once(ctx, "", statements...)
}
