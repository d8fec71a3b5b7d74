package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"platter/guest"
)

// slapClient is one client of a timed part.
type slapClient struct {
	cell    *slapCell
	conn    *conn
	random  *rand.Rand
	queries int64
	byKind  map[slapKind]*latency
}

// The original tries a connection ten times, a tenth of a second apart.
const (
	slapConnectTries = 10
	slapConnectPause = 0.1
)

// run is what one client does inside the clock: connect, the list repeated and cut at the limit, disconnect.
func (c *slapClient) run(ctx context.Context) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	defer func() { c.conn.close() }()
	m := c.cell.m
	if m.Commit > 0 {
		if _, err := c.conn.run("SET AUTOCOMMIT=0"); err != nil {
			return err
		}
	}
	limit := int64(m.limit(c.cell.clients))
	sinceCommit := 0
	for passes := 0; passes == 0 || c.queries < limit; passes++ {
		for i := range c.cell.script.list {
			if m.Detach > 0 && i%m.Detach == 0 {
				c.conn.close()
				if err := c.connect(ctx); err != nil {
					return err
				}
			}
			if err := c.statement(&c.cell.script.list[i]); err != nil {
				return err
			}
			if sinceCommit++; sinceCommit == m.Commit {
				sinceCommit = 0
				if _, err := c.conn.run("COMMIT"); err != nil {
					return err
				}
			}
			if limit > 0 && c.queries == limit {
				return c.finish()
			}
		}
	}
	return c.finish()
}

func (c *slapClient) finish() error {
	if c.cell.m.Commit > 0 {
		if _, err := c.conn.run("COMMIT"); err != nil {
			return err
		}
	}
	return c.conn.close()
}

func (c *slapClient) connect(ctx context.Context) (err error) {
	for range slapConnectTries {
		if c.conn, err = c.cell.s.connect(ctx, c.cell.m.CreateSchema); err == nil {
			return nil
		}
		if waitErr := pause(ctx, slapConnectPause); waitErr != nil {
			return waitErr
		}
	}
	return fmt.Errorf("after %d tries: %w", slapConnectTries, err)
}

func (c *slapClient) statement(st *slapStatement) error {
	text := st.text
	if st.byKey {
		text += "'" + c.cell.keys[c.random.IntN(len(c.cell.keys))] + "'"
	}
	begin := time.Now()
	if _, err := c.conn.run(text); err != nil {
		return fmt.Errorf("%s: %w", shorten(text), err)
	}
	c.byKind[st.kind].record(time.Since(begin))
	c.queries++
	return nil
}

// emit reports one engine and client count.
func (c *slapCell) emit() error {
	m := metrics{step: c.s.Step, labels: c.labels()}
	var sum, smallest, largest float64
	var queries int64
	latencies := map[slapKind]*latency{}
	for i, r := range c.runs {
		sum += r.seconds
		queries += r.queries
		if i == 0 || r.seconds < smallest {
			smallest = r.seconds
		}
		largest = max(largest, r.seconds)
		for kind, l := range r.byKind {
			if latencies[kind] == nil {
				latencies[kind] = newLatency()
			}
			latencies[kind].merge(l)
		}
	}
	if queries == 0 {
		m.missing("run_seconds", noEvents)
	} else {
		m.add("run_seconds", sum/float64(len(c.runs)))
		m.add("run_minimum_seconds", smallest)
		m.add("run_maximum_seconds", largest)
	}
	m.add("queries_total", float64(queries))
	m.rate("queries_per_second", queries, sum)
	m.add("queries_per_client_total", float64(c.m.limit(c.clients)))
	if c.rows != nil {
		m.add("rows_total", float64(*c.rows))
	}
	m.errors(nil)
	for i, r := range c.runs {
		one := metrics{step: c.s.Step, labels: with(c.labels(), "iteration", strconv.Itoa(i+1))}
		one.add("iteration_seconds", r.seconds)
		m.list = append(m.list, one.list...)
	}
	c.s.Emit(guest.Measurement{Metrics: m.list})
	for _, kind := range []slapKind{slapInsert, slapSelect, slapUpdate, slapQuery} {
		if l := latencies[kind]; l != nil {
			if err := c.s.emitLatency(l, c.operation(kind), serviceTime, c.labels(), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// operation names a histogram; engine and clients are in the name only when there are several.
func (c *slapCell) operation(kind slapKind) string {
	name := string(kind)
	if len(c.m.Engine) > 1 {
		name += "/" + c.engineName()
	}
	if len(c.m.Concurrency) > 1 {
		name += "/" + strconv.Itoa(c.clients)
	}
	return name
}
