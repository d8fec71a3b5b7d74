package workload

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
)

// oltpClient is one thread of sysbench 1.0.
type oltpClient struct {
	o        *OLTP
	s        *Session
	ctx      context.Context
	conn     *conn
	random   *rand.Rand
	ids      distribution
	counts   counts
	errors   map[uint16]int64
	ignored  map[uint16]bool
	all      bool
	clock    statementClock
	begin    *statement
	commit   *statement
	tables   [kinds_][]*statement // kind → table → statement
	sequence *legacySequence
	number   int
	c, pad   []byte
	text     []byte
}

func newOLTPClient(o *OLTP, s *Session, i int) *oltpClient {
	c := &oltpClient{o: o, s: s, number: i, random: o.random(s, i), errors: map[uint16]int64{}, sequence: s.sequence(o.script.name)}
	c.ids = newDistribution(o.RandType, c.random, 1, o.TableSize, o.RandSpecIter, o.RandSpecPct, o.RandSpecRes, o.RandParetoH)
	c.ignored, c.all, _ = o.ignored() // checked before
	return c
}

func (c *oltpClient) tally() *counts             { return &c.counts }
func (c *oltpClient) failures() map[uint16]int64 { return c.errors }

func (c *oltpClient) open(ctx context.Context) (err error) {
	c.ctx = ctx
	if c.conn, err = c.s.connect(ctx, c.o.Schema); err != nil {
		return err
	}
	return c.prepare()
}

func (c *oltpClient) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.close()
}

// oltpTexts are the statements of each kind; the table's name takes the place of %s.
var oltpTexts = [kinds_]string{
	kindPoint:         "SELECT c FROM %s WHERE id=?",
	kindSimpleRange:   "SELECT c FROM %s WHERE id BETWEEN ? AND ?",
	kindSumRange:      "SELECT SUM(k) FROM %s WHERE id BETWEEN ? AND ?",
	kindOrderRange:    "SELECT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
	kindDistinctRange: "SELECT DISTINCT c FROM %s WHERE id BETWEEN ? AND ? ORDER BY c",
	kindUpdateKey:     "UPDATE %s SET k=k+1 WHERE id=?",
	kindUpdateC:       "UPDATE %s SET c=? WHERE id=?",
	kindDelete:        "DELETE FROM %s WHERE id=?",
	kindInsert:        "INSERT INTO %s (id, k, c, pad) VALUES (?, ?, ?, ?)",
}

// prepare prepares begin, commit and every kind for every table. A client that has reconnected prepares anew.
func (c *oltpClient) prepare() error {
	asText := c.o.PSMode == "disable"
	if c.o.script.brackets && !c.o.SkipTrx {
		if c.begin == nil {
			c.begin, c.commit = newStatement("BEGIN"), newStatement("COMMIT")
		}
		for _, st := range []*statement{c.begin, c.commit} {
			if err := c.conn.prepare(st, asText); err != nil {
				return err
			}
		}
	}
	for _, kind := range c.o.kinds() {
		if c.tables[kind] == nil {
			for i := range c.o.Tables {
				c.tables[kind] = append(c.tables[kind], newStatement(fmt.Sprintf(oltpTexts[kind], tableName(i))))
			}
		}
		for _, st := range c.tables[kind] {
			if err := c.conn.prepare(st, asText); err != nil {
				return err
			}
		}
	}
	return nil
}

// event runs one event of the script. An ignored error starts it again with newly drawn values, without a ROLLBACK.
func (c *oltpClient) event(context.Context) error {
	c.clock.start(c.o.StatementLatency)
	for {
		err := c.attempt()
		if !errors.Is(err, errRetry) {
			return err
		}
		c.counts.retries++
	}
}

func (c *oltpClient) attempt() error {
	if c.begin != nil {
		if err := c.other(c.begin, kindBegin); err != nil {
			return err
		}
	}
	if err := c.o.script.event(c); err != nil {
		return err
	}
	if c.commit != nil {
		return c.other(c.commit, kindCommit)
	}
	return nil
}

// table draws a table: one for each kind of statement in an event.
func (c *oltpClient) table() int {
	if c.o.Tables == 1 {
		return 0
	}
	return c.random.IntN(c.o.Tables)
}

func (c *oltpClient) other(st *statement, kind statementKind) error {
	_, err := c.conn.execute(st)
	if err := c.after(st, kind, err); err != nil {
		return err
	}
	c.counts.others++
	return nil
}

// read runs a select n times with fresh ids.
func (c *oltpClient) read(kind statementKind, n int) error {
	if n == 0 {
		return nil
	}
	st := c.tables[kind][c.table()]
	for range n {
		id := c.ids.id()
		st.args[0] = id
		if len(st.args) == 2 { // a range; it may run past the last row, as the original's does
			st.args[1] = id + c.o.RangeSize - 1
		}
		_, err := c.conn.execute(st)
		if err := c.after(st, kind, err); err != nil {
			return err
		}
		c.counts.reads++
	}
	return nil
}

func (c *oltpClient) pointSelects() error { return c.read(kindPoint, c.o.PointSelects) }

func (c *oltpClient) ranges() error {
	if !c.o.RangeSelects {
		return nil
	}
	for _, r := range [...]struct {
		kind statementKind
		n    int
	}{{kindSimpleRange, c.o.SimpleRanges}, {kindSumRange, c.o.SumRanges}, {kindOrderRange, c.o.OrderRanges}, {kindDistinctRange, c.o.DistinctRanges}} {
		if err := c.read(r.kind, r.n); err != nil {
			return err
		}
	}
	return nil
}

func (c *oltpClient) indexUpdates(n int) error {
	if n == 0 {
		return nil
	}
	st := c.tables[kindUpdateKey][c.table()]
	for range n {
		st.args[0] = c.ids.id()
		if err := c.write(st, kindUpdateKey); err != nil {
			return err
		}
	}
	return nil
}

func (c *oltpClient) nonIndexUpdates(n int) error {
	if n == 0 {
		return nil
	}
	st := c.tables[kindUpdateC][c.table()]
	for range n {
		c.c = appendDigits(c.c[:0], c.random, 10)
		st.args[0], st.args[1] = c.c, c.ids.id()
		if err := c.write(st, kindUpdateC); err != nil {
			return err
		}
	}
	return nil
}

// deleteInserts deletes a row and puts a new one in its place.
func (c *oltpClient) deleteInserts() error {
	if c.o.DeleteInserts == 0 {
		return nil
	}
	table := c.table()
	for range c.o.DeleteInserts {
		id := c.ids.id()
		del := c.tables[kindDelete][table]
		del.args[0] = id
		if err := c.write(del, kindDelete); err != nil {
			return err
		}
		if err := c.insertRow(table, id); err != nil {
			return err
		}
	}
	return nil
}

func (c *oltpClient) insertRow(table int, id int64) error {
	st := c.tables[kindInsert][table]
	st.args[0], st.args[1] = id, c.ids.id()
	c.c, c.pad = appendDigits(c.c[:0], c.random, 10), appendDigits(c.pad[:0], c.random, 5)
	st.args[2], st.args[3] = c.c, c.pad
	return c.write(st, kindInsert)
}

// write runs a statement that changes rows; one that changes none counts as other, as in the original.
func (c *oltpClient) write(st *statement, kind statementKind) error {
	affected, err := c.conn.execute(st)
	if err := c.after(st, kind, err); err != nil {
		return err
	}
	if affected > 0 {
		c.counts.writes++
	} else {
		c.counts.others++
	}
	return nil
}

// Lost connections as the tool's client library numbers them.
const lostConnection = 2013

func (c *oltpClient) after(st *statement, kind statementKind, err error) error {
	c.clock.lap(c.s, kind)
	if err == nil {
		return nil
	}
	number := errorNumber(err)
	lost := number == 0 && (errors.Is(err, driver.ErrBadConn) || c.ctx.Err() == nil)
	if lost {
		number = lostConnection
	}
	if !c.all && !c.ignored[number] {
		return fmt.Errorf("%s: %w", shorten(st.text), err)
	}
	c.errors[number]++
	if lost {
		if err := c.reconnect(); err != nil {
			return err
		}
	}
	return errRetry
}

func (c *oltpClient) reconnect() error {
	_ = c.conn.close()
	var err error
	if c.conn, err = c.s.connect(c.ctx, c.o.Schema); err != nil {
		return err
	}
	c.counts.reconnects++
	return c.prepare()
}
