package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// bulkBytes is the text the original packs multi-row inserts to.
const bulkBytes = 512 << 10

// createTable is table i as 1.0 makes it.
func (o *OLTP) createTable(i int) string {
	auto, key, engine := "", "PRIMARY KEY", ""
	if o.AutoInc {
		auto = " AUTO_INCREMENT"
	}
	if o.Secondary {
		key = "KEY xid"
	}
	if o.Engine != "" {
		engine = " /*! ENGINE = " + o.Engine + " */"
	}
	return fmt.Sprintf("CREATE TABLE %s(id INTEGER NOT NULL%s, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, %s (id))%s",
		tableName(i), auto, key, engine)
}

// Prepare implements Workload: the tables are shared out over the threads, rows are packed to 512 KiB of text a statement,
// and the index on k is made after the rows.
func (o *OLTP) Prepare(ctx context.Context, s *Session) error {
	if err := s.once(ctx, "", "CREATE DATABASE IF NOT EXISTS "+quoteName(o.Schema)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer processorFor(min(o.Threads, o.Tables))()
	begin := time.Now()
	var next, rows atomic.Int64
	var wg sync.WaitGroup
	for range min(o.Threads, o.Tables) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := next.Add(1) - 1; i < int64(o.Tables); i = next.Add(1) - 1 {
				if err := o.loadTable(ctx, s, int(i), &rows); err != nil {
					cancel(err)
					return
				}
			}
		}()
	}
	stop := s.reportRows(&rows, int64(o.Tables)*o.TableSize)
	wg.Wait()
	stop()
	if err := context.Cause(ctx); err != nil {
		return s.explain(ctx, fmt.Errorf("%s: load: %w", o.script.name, err))
	}
	s.emitLoad(rows.Load(), time.Since(begin))
	return nil
}

// reportRows tells how many rows are loaded, twice a second.
func (s *Session) reportRows(rows *atomic.Int64, total int64) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.progress(float64(rows.Load()), float64(total), "rows")
			case <-quit:
				s.progress(float64(rows.Load()), float64(total), "rows")
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

func (o *OLTP) loadTable(ctx context.Context, s *Session, i int, rows *atomic.Int64) error {
	c, err := s.connect(ctx, o.Schema)
	if err != nil {
		return err
	}
	defer c.close()
	if o.Reuse {
		if found, err := s.reusable(c, o.Schema, tableName(i), o.TableSize); found || err != nil {
			return err
		}
	}
	if err := c.must(o.createTable(i)); err != nil {
		return err
	}
	if !o.script.empty || o.AutoInc {
		if err := o.fill(c, s, i, rows); err != nil {
			return err
		}
	}
	if !o.CreateSecondary {
		return nil
	}
	return c.must(fmt.Sprintf("CREATE INDEX k_%d ON %s(k)", i+1, tableName(i)))
}

// fill loads one table; its rows hang on the seed and the table, not on the threads.
func (o *OLTP) fill(c *conn, s *Session, table int, rows *atomic.Int64) error {
	random := rand.New(rand.NewPCG(s.Seed, 1<<32|uint64(table)))
	ids := newDistribution(o.RandType, random, 1, o.TableSize, o.RandSpecIter, o.RandSpecPct, o.RandSpecRes, o.RandParetoH)
	columns := "(k, c, pad)"
	if !o.AutoInc {
		columns = "(id, k, c, pad)"
	}
	b := bulk{conn: c, head: "INSERT INTO " + tableName(table) + columns + " VALUES", rows: rows}
	var row []byte
	for id := int64(1); id <= o.TableSize; id++ {
		row = append(row[:0], '(')
		if !o.AutoInc {
			row = append(strconv.AppendInt(row, id, 10), ", "...)
		}
		row = append(strconv.AppendInt(row, ids.id(), 10), ", '"...)
		row = append(appendDigits(row, random, 10), "', '"...)
		row = append(appendDigits(row, random, 5), "')"...)
		if err := b.add(row); err != nil {
			return err
		}
	}
	return b.flush()
}

// bulk packs rows into insert statements of at most bulkBytes.
type bulk struct {
	conn    *conn
	head    string
	text    []byte
	pending int64
	rows    *atomic.Int64 // sent so far; may be nil
	sent    int64         // statements
}

func (b *bulk) add(row []byte) error {
	if b.pending > 0 && len(b.text)+1+len(row) >= bulkBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if b.pending == 0 {
		b.text = append(b.text[:0], b.head...)
	} else {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, row...)
	b.pending++
	return nil
}

func (b *bulk) flush() error {
	if b.pending == 0 {
		return nil
	}
	if err := b.conn.must(string(b.text)); err != nil {
		return err
	}
	if b.rows != nil {
		b.rows.Add(b.pending)
	}
	b.pending = 0
	b.sent++
	return nil
}

// prewarm analyses every table and reads its whole primary key and index on k.
func (o *OLTP) prewarm(ctx context.Context, s *Session) error {
	for i := range o.Tables {
		t := tableName(i)
		statements := []string{"SET tmp_table_size=2*1024*1024*1024", "SET max_heap_table_size=2*1024*1024*1024", "ANALYZE TABLE " + t}
		if !o.Secondary {
			statements = append(statements, fmt.Sprintf("SELECT AVG(id) FROM (SELECT * FROM %s FORCE KEY (PRIMARY) LIMIT %d) t", t, o.TableSize))
		}
		statements = append(statements, fmt.Sprintf("SELECT COUNT(*) FROM (SELECT * FROM %s WHERE k LIKE '%%0%%' LIMIT %d) t", t, o.TableSize))
		if err := s.once(ctx, o.Schema, statements...); err != nil {
			return err
		}
	}
	return nil
}

// Cleanup implements Workload.
func (o *OLTP) Cleanup(ctx context.Context, s *Session) error {
	for i := range o.Tables {
		if err := s.once(ctx, o.Schema, "DROP TABLE IF EXISTS "+tableName(i)); err != nil {
			return err
		}
	}
	return nil
}
