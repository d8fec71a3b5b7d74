package workload

import (
	"context"
	"fmt"
	"time"

	"platter/guest"
)

// once runs statements on a connection of their own.
func (s *Session) once(ctx context.Context, schema string, statements ...string) error {
	c, err := s.connect(ctx, schema)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer c.close()
	for _, st := range statements {
		if err := c.must(st); err != nil {
			return s.explain(ctx, err)
		}
	}
	return nil
}

// timedLoad runs a load over one connection and reports its time and rate.
func (s *Session) timedLoad(ctx context.Context, rows int64, load func(*conn) error) error {
	c, err := s.connect(ctx, "")
	if err != nil {
		return s.explain(ctx, err)
	}
	defer c.close()
	begin := time.Now()
	if err := load(c); err != nil {
		return s.explain(ctx, err)
	}
	s.emitLoad(rows, time.Since(begin))
	return nil
}

func (s *Session) emitLoad(rows int64, took time.Duration) {
	m := metrics{step: s.Step}
	m.add("load_seconds", took.Seconds())
	m.add("rows_total", float64(rows))
	m.rate("rows_per_second", rows, took.Seconds())
	s.Emit(guest.Measurement{Metrics: m.list})
}

// reusable tells whether a table is there with the right number of rows; one with another number is refused, as a load
// that was cut short leaves it.
func (s *Session) reusable(c *conn, schema, table string, rows int64) (bool, error) {
	n, err := c.count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = " + literalString(schema) + " AND table_name = " + literalString(table))
	if err != nil || n == 0 {
		return false, err
	}
	got, err := c.count("SELECT COUNT(*) FROM " + quoteName(schema) + "." + quoteName(table))
	if err != nil {
		return false, err
	}
	if got != rows {
		return false, fmt.Errorf("reuse %s.%s: it holds %d rows, %d are asked for; drop it or prepare it anew", schema, table, got, rows)
	}
	return true, nil
}

// compareRows counts a table after a run; a number other than the expectation makes the run invalid.
func (s *Session) compareRows(ctx context.Context, schema, table string, want int64) (*int64, error) {
	c, err := s.connect(ctx, schema)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	defer c.close()
	n, err := c.count("SELECT COUNT(*) FROM " + quoteName(table))
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	if n != want {
		return &n, invalidf("table %s.%s holds %d rows after the run, its statements must have left %d", schema, table, n, want)
	}
	return &n, nil
}

func literalString(s string) string { return string(appendQuoted(nil, []byte(s))) }
