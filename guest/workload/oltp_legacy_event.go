package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// numbers appends that many drawn numbers joined by dashes, in reverse order of drawing: the original passes the draws as
// arguments of one call, which its compiler evaluates from the last.
func (d *legacyDistribution) numbers(b []byte, n int) []byte {
	var drawn [10]uint64
	for i := range n {
		drawn[i] = d.r()
	}
	for i := n - 1; i >= 0; i-- {
		b = strconv.AppendUint(b, drawn[i], 10)
		if i > 0 {
			b = append(b, '-')
		}
	}
	return b
}

// legacyIDs are the ids an event draws, all before its first statement.
type legacyIDs struct {
	point, simple, sum, order, distinct []int64
	index, nonIndex                     []int64
	replaced                            int64 // updated once more, deleted, and inserted again
}

// legacySequence numbers unique ids of nontrx inserts and deletes, shared by all clients.
type legacySequence struct{ n atomic.Int64 }

// legacyClient is one thread of sysbench 0.4.
type legacyClient struct {
	o        *OLTPLegacy
	s        *Session
	number   int
	trx      bool
	sequence *legacySequence
	conn     *conn
	draw     legacyDistribution
	ids      legacyIDs
	ctx      context.Context
	counts   counts
	errors   map[uint16]int64
	clock    statementClock
	c, pad   []byte

	begin, end                          *statement
	point, simple, sum, order, distinct *statement
	updateKey, updateC, delete, insert  *statement
	pointPad, insertNontrx, call        *statement
}

func newLegacyClient(o *OLTPLegacy, s *Session, i int, trx bool) *legacyClient {
	seed := uint64(0)
	if o.InitRNG {
		seed = mix(s.Seed, 1) | 1
	}
	c := &legacyClient{o: o, s: s, number: i, trx: trx, sequence: s.sequence("oltp_legacy"), errors: map[uint16]int64{}}
	c.draw = legacyDistribution{random: rand48For(seed, i), rows: uint64(o.TableSize), iter: o.DistIter, pct: o.DistPct, res: o.DistRes, draw: legacyDistributions[o.DistType]}
	return c
}

func (c *legacyClient) tally() *counts             { return &c.counts }
func (c *legacyClient) failures() map[uint16]int64 { return c.errors }

func (c *legacyClient) open(ctx context.Context) (err error) {
	c.ctx = ctx
	if c.conn, err = c.s.connect(ctx, c.o.Schema); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	return pause(ctx, float64(c.o.ConnectDelay)/1e6)
}

func (c *legacyClient) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.close()
}

// prepare prepares what the test mode needs, once per connection.
func (c *legacyClient) prepare() error {
	t := c.o.TableName
	between := " WHERE id BETWEEN ? AND ?"
	lock := "LOCK TABLES " + t + " WRITE"
	if c.o.ReadOnly {
		lock = "LOCK TABLES " + t + " READ"
	}
	begin, end := "BEGIN", "COMMIT"
	if !c.trx {
		begin, end = lock, "UNLOCK TABLES"
	}
	all := []struct {
		into **statement
		text string
		mode string
	}{
		{&c.begin, begin, "complex"}, {&c.end, end, "complex"},
		{&c.point, "SELECT c FROM " + t + " WHERE id=?", "complex simple"},
		{&c.simple, "SELECT c FROM " + t + between, "complex"},
		{&c.sum, "SELECT SUM(K) FROM " + t + between, "complex"},
		{&c.order, "SELECT c FROM " + t + between + " ORDER BY c", "complex"},
		{&c.distinct, "SELECT DISTINCT c FROM " + t + between + " ORDER BY c", "complex"},
		{&c.updateKey, "UPDATE " + t + " SET k=k+1 WHERE id=?", "complex update_key"},
		{&c.updateC, "UPDATE " + t + " SET c=? WHERE id=?", "complex update_nokey"},
		{&c.delete, "DELETE FROM " + t + " WHERE id=?", "complex delete"},
		{&c.insert, "INSERT INTO " + t + " VALUES(?,0,' ','" + legacyPadNew + "')", "complex"},
		{&c.pointPad, "SELECT pad FROM " + t + " WHERE id=?", "select"},
		{&c.insertNontrx, "INSERT INTO " + t + " VALUES(?,?,?,?)", "insert"},
		{&c.call, "CALL " + c.o.SPName + "(?,?)", "sp"},
	}
	mode := c.o.TestMode
	if mode == "nontrx" {
		mode = c.o.NontrxMode
	}
	for _, st := range all {
		if !containsWord(st.mode, mode) {
			continue
		}
		if *st.into == nil {
			*st.into = newStatement(st.text)
		}
		if err := c.conn.prepare(*st.into, c.o.PSMode == "disable"); err != nil {
			return err
		}
	}
	return nil
}

// containsWord tells whether a word is in a list of words with blanks between.
func containsWord(list, word string) bool {
	for len(list) > 0 {
		i := 0
		for i < len(list) && list[i] != ' ' {
			i++
		}
		if list[:i] == word {
			return true
		}
		list = list[min(i+1, len(list)):]
	}
	return false
}

// Errors that send an event back to its start: deadlock, lock wait timeout, record changed since last read.
func legacyRetried(number uint16) bool { return number == 1213 || number == 1205 || number == 1020 }

// errRetry marks an attempt that is to be started again.
var errRetry = errors.New("retry")

// event runs one event; a deadlock starts it again with the same ids, begin included, and without a ROLLBACK.
func (c *legacyClient) event(context.Context) error {
	if c.o.ReconnectMode == "transaction" || c.o.ReconnectMode == "random" && c.draw.r()%2 == 0 {
		if err := c.reconnect(); err != nil {
			return err
		}
	}
	c.drawIDs()
	c.clock.start(c.o.StatementLatency)
	for {
		err := c.attempt()
		if !errors.Is(err, errRetry) {
			return err
		}
		c.counts.retries++
	}
}

func (c *legacyClient) attempt() error {
	switch c.o.TestMode {
	case "simple":
		return c.read(c.point, kindPoint, 1, c.ids.point[0])
	case "nontrx":
		return c.nontrx()
	case "sp":
		c.call.args[0], c.call.args[1] = int64(c.number), int64(c.o.NumThreads)
		return c.exec(c.call, kindCall, &c.counts.others, true)
	}
	return c.complex()
}

func (c *legacyClient) nontrx() error {
	switch c.o.NontrxMode {
	case "update_key":
		return c.write(c.updateKey, kindUpdateKey, c.ids.point[0])
	case "update_nokey":
		return c.writeC(c.ids.point[0])
	case "insert":
		return c.insertRow(c.ids.point[0])
	case "delete":
		// A prime near 2^31 visits every id once before it repeats one.
		n := c.sequence.n.Add(1)
		return c.write(c.delete, kindDelete, int64(2147483647*uint64(n)%uint64(c.o.TableSize))+1)
	}
	return c.read(c.pointPad, kindPoint, 1, c.ids.point[0])
}

// insertRow inserts a row with a drawn k and random strings. pad is drawn after c, as they stand in the statement.
func (c *legacyClient) insertRow(k int64) error {
	st := c.insertNontrx
	st.args[0] = nil
	if !c.o.AutoInc {
		st.args[0] = c.sequence.n.Add(1)
	}
	c.c = c.draw.numbers(c.c[:0], 10)
	c.pad = c.draw.numbers(c.pad[:0], 5)
	st.args[1], st.args[2], st.args[3] = k, c.c, c.pad
	return c.exec(st, kindInsert, &c.counts.writes, true)
}

// complex is the transaction of step 1 to 12; see the workload's specification for their order.
func (c *legacyClient) complex() error {
	if !c.o.SkipTrx {
		if err := c.exec(c.begin, kindBegin, &c.counts.others, false); err != nil {
			return err
		}
	}
	for _, id := range c.ids.point {
		if err := c.read(c.point, kindPoint, 1, id); err != nil {
			return err
		}
	}
	size := c.o.RangeSize
	for _, r := range []struct {
		st   *statement
		kind statementKind
		from []int64
		span int64
		rows int64
	}{
		{c.simple, kindSimpleRange, c.ids.simple, size - 1, size}, {c.sum, kindSumRange, c.ids.sum, size - 1, 1},
		{c.order, kindOrderRange, c.ids.order, size - 1, size},
		{c.distinct, kindDistinctRange, c.ids.distinct, size, -1}, // one row more than the others; distinct gives any number
	} {
		for _, from := range r.from {
			if err := c.readRange(r.st, r.kind, r.rows, from, from+r.span); err != nil {
				return err
			}
		}
	}
	if !c.o.ReadOnly {
		if err := c.writes(); err != nil {
			return err
		}
	}
	if c.o.SkipTrx {
		return nil
	}
	return c.exec(c.end, kindCommit, &c.counts.others, false)
}

func (c *legacyClient) writes() error {
	for _, id := range c.ids.index {
		if err := c.write(c.updateKey, kindUpdateKey, id); err != nil {
			return err
		}
	}
	for _, id := range c.ids.nonIndex {
		if err := c.writeC(id); err != nil {
			return err
		}
	}
	for _, st := range []struct {
		st   *statement
		kind statementKind
	}{{c.updateKey, kindUpdateKey}, {c.delete, kindDelete}, {c.insert, kindInsert}} {
		st.st.args[0] = c.ids.replaced
		// The original never reconnects around these three.
		if err := c.execNoReconnect(st.st, st.kind, &c.counts.writes); err != nil {
			return err
		}
	}
	return nil
}

func (c *legacyClient) read(st *statement, kind statementKind, rows, id int64) error {
	st.args[0] = id
	return c.execRead(st, kind, rows)
}

func (c *legacyClient) readRange(st *statement, kind statementKind, rows, from, to int64) error {
	st.args[0], st.args[1] = from, to
	return c.execRead(st, kind, rows)
}

func (c *legacyClient) write(st *statement, kind statementKind, id int64) error {
	st.args[0] = id
	return c.exec(st, kind, &c.counts.writes, true)
}

func (c *legacyClient) writeC(id int64) error {
	c.c = c.draw.numbers(c.c[:0], 10)
	c.updateC.args[0], c.updateC.args[1] = c.c, id
	return c.exec(c.updateC, kindUpdateC, &c.counts.writes, true)
}

func (c *legacyClient) execRead(st *statement, kind statementKind, rows int64) error {
	if !c.o.Validate || rows < 0 {
		return c.exec(st, kind, &c.counts.reads, true)
	}
	if err := c.beforeStatement(true); err != nil {
		return err
	}
	n, err := c.conn.rowsOf(st)
	if err == nil && int64(n) != rows {
		return invalidf("%s gave %d rows, want %d", st.text, n, rows)
	}
	return c.after(kind, &c.counts.reads, err, st)
}

// exec runs one statement: user delay and reconnect before it (not for begin and end), its counter after it, failed or not.
func (c *legacyClient) exec(st *statement, kind statementKind, counter *int64, body bool) error {
	if body {
		if err := c.beforeStatement(true); err != nil {
			return err
		}
	}
	_, err := c.conn.execute(st)
	return c.after(kind, counter, err, st)
}

func (c *legacyClient) execNoReconnect(st *statement, kind statementKind, counter *int64) error {
	if err := c.beforeStatement(false); err != nil {
		return err
	}
	_, err := c.conn.execute(st)
	return c.after(kind, counter, err, st)
}

func (c *legacyClient) after(kind statementKind, counter *int64, err error, st *statement) error {
	c.clock.lap(c.s, kind)
	if err == nil {
		*counter++
		return nil
	}
	number := errorNumber(err)
	if number == 0 {
		return err
	}
	*counter++ // the original counts a statement that the server answered with an error
	if legacyRetried(number) {
		c.errors[number]++
		return errRetry
	}
	return fmt.Errorf("%s: %w", shorten(st.text), err)
}

func (c *legacyClient) beforeStatement(mayReconnect bool) error {
	if mayReconnect && c.o.ReconnectMode == "query" {
		if err := c.reconnect(); err != nil {
			return err
		}
	}
	if c.o.UserDelayMax <= 0 {
		return nil
	}
	delay := c.o.UserDelayMin
	if spread := c.o.UserDelayMax - c.o.UserDelayMin; spread > 0 {
		delay += int64(c.draw.r()) % spread
	}
	err := pause(c.ctx, (time.Duration(delay) * time.Microsecond).Seconds())
	c.clock.restart()
	return err
}

// reconnect closes the connection and opens it anew, prepared statements included; it counts as one other.
func (c *legacyClient) reconnect() error {
	_ = c.conn.close()
	var err error
	if c.conn, err = c.s.connect(c.ctx, c.o.Schema); err != nil {
		return err
	}
	c.counts.others++
	c.counts.reconnects++
	return c.prepare()
}

// drawIDs draws the ids of an event in the order its statements stand.
func (c *legacyClient) drawIDs() {
	ids, o := &c.ids, c.o
	if o.TestMode != "complex" {
		ids.point = c.drawN(ids.point, 1, false)
		return
	}
	ids.point = c.drawN(ids.point, o.PointSelects, false)
	ids.simple = c.drawN(ids.simple, o.SimpleRanges, true)
	ids.sum = c.drawN(ids.sum, o.SumRanges, true)
	ids.order = c.drawN(ids.order, o.OrderRanges, true)
	ids.distinct = c.drawN(ids.distinct, o.DistinctRanges, true)
	if o.ReadOnly {
		return
	}
	ids.index = c.drawN(ids.index, o.IndexUpdates, false)
	ids.nonIndex = c.drawN(ids.nonIndex, o.NonIndexUpdates, false)
	ids.replaced = int64(c.draw.id())
}

func (c *legacyClient) drawN(into []int64, n int, isRange bool) []int64 {
	into = into[:0]
	for range n {
		id := int64(c.draw.id())
		if isRange {
			if id+c.o.RangeSize > c.o.TableSize {
				id = c.o.TableSize - c.o.RangeSize
			}
			id = max(id, 1)
		}
		into = append(into, id)
	}
	return into
}
