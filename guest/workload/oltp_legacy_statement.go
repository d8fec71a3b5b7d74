package workload

import (
	"fmt"
	"time"
)

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
