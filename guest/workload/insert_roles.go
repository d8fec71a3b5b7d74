package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// inserter inserts a client's rows of a phase, at full speed or at the phase's rate: each statement has a planned start,
// computed from the phase's, and a late one is sent at once.
func (st *insertState) inserter(ctx context.Context, client int, p insertPhase, begin time.Time, todo chan<- int, r *phaseResult) error {
	if todo != nil {
		defer close(todo)
	}
	c, err := st.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	l := newLatency()
	defer func() { r.merge(r.inserts, l) }()
	var text []byte
	for done := int64(0); done < p.rows; {
		n := int(min(int64(p.perCommit), p.rows-done))
		if p.rate > 0 {
			if err := sleepUntil(ctx, begin.Add(time.Duration(float64(done)/p.rate*float64(time.Second)))); err != nil {
				return err
			}
		}
		text = st.rowsText(text[:0], client, n)
		start := time.Now()
		if err := c.must(string(text)); err != nil {
			return err
		}
		l.record(time.Since(start))
		done += int64(n)
		st.rows[client] += int64(n)
		st.high[client].Add(int64(n))
		r.inserted.Add(int64(n))
		if todo != nil {
			select {
			case todo <- n:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if p.rate > 0 { // the last rows have an interval of their own too
		if err := sleepUntil(ctx, begin.Add(time.Duration(float64(p.rows)/p.rate*float64(time.Second)))); err != nil {
			return err
		}
	}
	return c.close()
}

// rowsText is one insert statement. Half of data is random, so that it compresses as the benchmark's does.
func (st *insertState) rowsText(b []byte, client, rows int) []byte {
	random := st.random[client]
	b = append(b, "INSERT INTO "...)
	b = append(append(b, insertTable(client)...), "(dateandtime,cashregisterid,customerid,productid,price,data) VALUES "...)
	now := time.Now().UTC().Format("'2006-01-02 15:04:05'")
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '('), now...)
		customer := random.IntN(insertCustomers)
		for _, n := range [...]int{random.IntN(insertRegisters), customer, random.IntN(insertProducts)} {
			b = append(b, ',')
			b = strconv.AppendInt(b, int64(n), 10)
		}
		b = append(b, ',')
		b = strconv.AppendFloat(b, (random.Float64()*insertPrices+float64(customer))/100, 'f', 2, 64)
		b = append(b, ",'"...)
		half := st.b.DataBytes / 2
		b = appendLetters(b, random, half, half)
		for range st.b.DataBytes - half {
			b = append(b, 'a')
		}
		b = append(b, "')"...)
	}
	return b
}

// deleter removes as many rows as were inserted, from the low end of the key.
func (st *insertState) deleter(ctx context.Context, client int, todo <-chan int, r *phaseResult) error {
	c, err := st.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	del := newStatement("DELETE FROM " + insertTable(client) + " WHERE transactionid >= ? ORDER BY transactionid ASC LIMIT ?")
	if err := c.prepare(del, false); err != nil {
		return err
	}
	l := newLatency()
	defer func() { r.merge(r.deletes, l) }()
	var deleted int64
	for n := range todo {
		del.args[0], del.args[1] = st.low[client], int64(n)
		start := time.Now()
		affected, err := c.execute(del)
		if err != nil {
			return fmt.Errorf("%s: %w", del.text, err)
		}
		l.record(time.Since(start))
		st.low[client] += int64(n)
		deleted += affected
		r.deleted.Add(affected)
	}
	// The inserter has ended: it closed the channel after its last row.
	st.rows[client] -= deleted
	return ctx.Err()
}

// querier queries a client's table at full speed until the inserts are done.
func (st *insertState) querier(ctx context.Context, client, thread int, p insertPhase, finished <-chan struct{}, r *phaseResult) error {
	c, err := st.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	random := rand.New(rand.NewPCG(st.s.Seed^0x9E3779B97F4A7C15, uint64(client)<<32|uint64(thread)))
	next, err := st.queries(c, client, p, random)
	if err != nil {
		return err
	}
	l := newLatency()
	defer func() { r.merge(r.queries, l) }()
	for {
		select {
		case <-finished:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		q := next()
		start := time.Now()
		if _, err := c.execute(q); err != nil {
			return fmt.Errorf("%s: %w", q.text, err)
		}
		l.record(time.Since(start))
	}
}

// queries prepares a client's queries and returns what gives the next: by key, or by a random index from a random value.
func (st *insertState) queries(c *conn, client int, p insertPhase, random *rand.Rand) (next func() *statement, err error) {
	table := insertTable(client)
	if p.queries == 'p' {
		q := newStatement("SELECT data FROM " + table + " WHERE transactionid = ?")
		return func() *statement {
			low := int64(1)
			if st.b.Deletes {
				low = max(1, st.high[client].Load()-st.b.Rows)
			}
			q.args[0] = low + random.Int64N(max(1, st.high[client].Load()-low+1))
			return q
		}, c.prepare(q, false)
	}
	all := []*statement{
		newStatement("SELECT price,customerid FROM " + table + " FORCE INDEX (marketsegment) WHERE productid >= ? ORDER BY productid,customerid,price LIMIT 10"),
		newStatement("SELECT cashregisterid,price,customerid FROM " + table + " FORCE INDEX (registersegment) WHERE cashregisterid >= ? ORDER BY cashregisterid,customerid,price LIMIT 10"),
		newStatement("SELECT price,dateandtime,customerid FROM " + table + " FORCE INDEX (pdc) WHERE price >= ? ORDER BY price,dateandtime,customerid LIMIT 10"),
	}[:st.b.Indexes]
	for _, q := range all {
		if err := c.prepare(q, false); err != nil {
			return nil, err
		}
	}
	most := []int64{insertProducts, insertRegisters, (insertPrices + insertCustomers) / 100}
	return func() *statement {
		i := random.IntN(len(all))
		all[i].args[0] = random.Int64N(most[i])
		return all[i]
	}, nil
}
