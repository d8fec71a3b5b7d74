package workload

import (
	"context"
	"errors"
	"sync/atomic"
)

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
