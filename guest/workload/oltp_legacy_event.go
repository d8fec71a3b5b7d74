package workload

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
