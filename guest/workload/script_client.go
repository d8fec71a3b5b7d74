package workload

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// scriptClient runs the user's statements over one connection.
type scriptClient struct {
	sc         *Script
	s          *Session
	program    *scriptProgram
	number     int
	conn       *conn
	random     *rand.Rand
	draw       []scriptValue
	values     []driver.Value
	statements []*statement
	classes    []*int64 // the counter of each statement
	counts     counts
	errors     map[uint16]int64
	clock      statementClock
}

func newScriptClient(sc *Script, s *Session, p *scriptProgram, i int) *scriptClient {
	c := &scriptClient{sc: sc, s: s, program: p, number: i, random: rand.New(rand.NewPCG(s.Seed, uint64(i))), errors: map[uint16]int64{}}
	for _, make := range p.makers {
		c.draw = append(c.draw, make(c))
	}
	c.values = make([]driver.Value, len(c.draw))
	for _, st := range p.statements {
		c.statements = append(c.statements, newStatement(st.text))
		c.classes = append(c.classes, c.class(st.text))
	}
	return c
}

// class is the counter a statement belongs to, by its first word.
func (c *scriptClient) class(text string) *int64 {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToUpper(word) {
	case "SELECT", "SHOW", "WITH", "TABLE", "VALUES", "EXPLAIN", "CHECKSUM":
		return &c.counts.reads
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "TRUNCATE":
		return &c.counts.writes
	}
	return &c.counts.others
}

func (c *scriptClient) tally() *counts             { return &c.counts }
func (c *scriptClient) failures() map[uint16]int64 { return c.errors }

func (c *scriptClient) open(ctx context.Context) (err error) {
	if c.conn, err = c.s.connect(ctx, c.sc.Schema); err != nil {
		return err
	}
	for _, st := range c.statements {
		if err := c.conn.prepare(st, c.sc.PSMode == "disable"); err != nil {
			return err
		}
	}
	return nil
}

func (c *scriptClient) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.close()
}

// event draws the values once; errors of the list send ROLLBACK and start it again with the same values.
func (c *scriptClient) event(context.Context) error {
	for i, draw := range c.draw {
		c.values[i] = draw(c)
	}
	c.clock.start(c.sc.StatementLatency)
	for {
		st, err := c.attempt()
		if err == nil {
			return nil
		}
		n := errorNumber(err)
		if n == 0 || !slices.Contains(c.sc.Retry, strconv.Itoa(int(n))) {
			return fmt.Errorf("%s: %w", shorten(st.text), err)
		}
		c.errors[n]++
		c.counts.retries++
		if err := c.conn.must("ROLLBACK"); err != nil {
			return err
		}
		c.counts.others++
	}
}

func (c *scriptClient) attempt() (*statement, error) {
	for i, st := range c.statements {
		for place, name := range c.program.statements[i].names {
			st.args[place] = c.values[name]
		}
		_, err := c.conn.execute(st)
		c.clock.lap(c.s, kindQuery)
		if err != nil {
			return st, err
		}
		*c.classes[i]++
	}
	return nil, nil
}
