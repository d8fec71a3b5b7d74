package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
)

// BulkInsert counts like bulk_insert of sysbench 1.0: an event appends the row (n, n) to the client's own table, in memory;
// the rows go to the server each 512 KiB of text and at the end. So events are rows, and writes are statements.
type BulkInsert struct {
	Threads    int     `json:"threads"` // clients, each with a table of its own
	Events     int64   `json:"events"`  // rows in all; 0 is no limit
	Time       float64 `json:"time"`    // seconds; 0 is no limit
	Percentile float64 `json:"percentile"`
	Engine     string  `json:"mysql_storage_engine"`
	Schema     string  `json:"mysql_db"`
	CountRows  bool    `json:"count_rows"`
}

func init() {
	register("bulk_insert", "rows packed into large inserts, counted like sysbench 1.0", prepareAndRun, func() Workload {
		return &BulkInsert{Threads: 1, Time: 10, Percentile: 95, Engine: "innodb", Schema: "sbtest", CountRows: true}
	})
}

// Check implements Workload.
func (b *BulkInsert) Check(p Place) []error {
	errs := checkEngine(b.Engine, p)
	if b.Threads < 1 {
		errs = append(errs, fmt.Errorf("threads is %d; it is 1 or more", b.Threads))
	}
	if b.Events < 0 || b.Time < 0 || b.Events == 0 && b.Time == 0 {
		errs = append(errs, errors.New("the run never ends: set events or time"))
	}
	if b.Percentile < 0 || b.Percentile > 100 {
		errs = append(errs, fmt.Errorf("percentile %g is not one of 0 to 100", b.Percentile))
	}
	return append(errs, checkNeeds(b.Needs(), p)...)
}

// bulkRowBytes is what a row of two numbers takes in InnoDB.
const bulkRowBytes = 40

// Needs implements Workload. A run bound by time has no size known before.
func (b *BulkInsert) Needs() Needs {
	bytes := b.Events * bulkRowBytes
	return Needs{Connections: b.Threads + 1, PacketBytes: bulkBytes, DiskBytes: bytes * 5 / 4, LargestFileBytes: bytes / int64(max(b.Threads, 1))}
}

// Prepare implements Workload: one empty table a client.
func (b *BulkInsert) Prepare(ctx context.Context, s *Session) error {
	if err := s.once(ctx, "", "CREATE DATABASE IF NOT EXISTS "+quoteName(b.Schema)); err != nil {
		return err
	}
	for i := range b.Threads {
		engine := ""
		if b.Engine != "" {
			engine = " ENGINE = " + b.Engine
		}
		if err := s.once(ctx, b.Schema, "CREATE TABLE "+tableName(i)+" (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))"+engine); err != nil {
			return err
		}
	}
	return nil
}

// Warmup implements Workload; rows that are inserted cannot be inserted again.
func (b *BulkInsert) Warmup(context.Context, *Session) error { return nil }

// Run implements Workload.
func (b *BulkInsert) Run(ctx context.Context, s *Session) error {
	var rows atomic.Int64
	l := loop{clients: b.Threads, limit: b.Events, duration: seconds(b.Time), seed: s.Seed}
	out, err := s.runLoad(ctx, l, func(i int) client { return &bulkClient{b: b, s: s, number: i, rows: &rows} })
	if err != nil {
		s.emitFailure(out, err)
		return fmt.Errorf("bulk_insert: %w", err)
	}
	var sum *int64
	if b.CountRows {
		sum, err = b.compareRows(ctx, s, out.counts.events)
	}
	return errors.Join(err, s.emitOLTP(out, b.Percentile, sum))
}

func (b *BulkInsert) compareRows(ctx context.Context, s *Session, want int64) (*int64, error) {
	c, err := s.connect(ctx, b.Schema)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	defer c.close()
	var sum int64
	for i := range b.Threads {
		n, err := c.count("SELECT COUNT(*) FROM " + tableName(i))
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		sum += n
	}
	if sum != want {
		return &sum, invalidf("bulk_insert: the tables hold %d rows, %d were appended", sum, want)
	}
	return &sum, nil
}

// Cleanup implements Workload.
func (b *BulkInsert) Cleanup(ctx context.Context, s *Session) error {
	for i := range b.Threads {
		if err := s.once(ctx, b.Schema, "DROP TABLE IF EXISTS "+tableName(i)); err != nil {
			return err
		}
	}
	return nil
}

// bulkClient appends rows to its table.
type bulkClient struct {
	b      *BulkInsert
	s      *Session
	number int
	rows   *atomic.Int64
	bulk   bulk
	n      int64
	row    []byte
	counts counts
}

func (c *bulkClient) tally() *counts             { return &c.counts }
func (c *bulkClient) failures() map[uint16]int64 { return nil }

func (c *bulkClient) open(ctx context.Context) error {
	conn, err := c.s.connect(ctx, c.b.Schema)
	if err != nil {
		return err
	}
	c.bulk = bulk{conn: conn, head: "INSERT INTO " + tableName(c.number) + " VALUES", rows: c.rows}
	return nil
}

func (c *bulkClient) close() error {
	if c.bulk.conn == nil {
		return nil
	}
	return c.bulk.conn.close()
}

func (c *bulkClient) event(context.Context) error {
	c.n++
	c.row = append(c.row[:0], '(')
	c.row = strconv.AppendInt(c.row, c.n, 10)
	c.row = append(c.row, ',')
	c.row = append(strconv.AppendInt(c.row, c.n, 10), ')')
	err := c.bulk.add(c.row)
	c.counts.writes = c.bulk.sent
	return err
}

// finish sends what is left; it is inside the clock.
func (c *bulkClient) finish(context.Context) error {
	err := c.bulk.flush()
	c.counts.writes = c.bulk.sent
	return err
}
