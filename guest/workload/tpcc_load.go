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

// Shapes of the standard.
const (
	tpccDistricts = 10
	tpccWaiting   = 30 // % of the first orders that are not delivered
)

// Prepare implements Workload: warehouses are shared out over the threads.
func (t *TPCC) Prepare(ctx context.Context, s *Session) error {
	if err := s.once(ctx, "", "CREATE DATABASE "+quoteName(t.Schema)); err != nil {
		return err
	}
	for _, table := range tpccTables {
		if t.Engine != "" {
			table += " ENGINE=" + t.Engine
		}
		if err := s.once(ctx, t.Schema, table); err != nil {
			return err
		}
	}
	begin := time.Now()
	var rows atomic.Int64
	if err := t.loadAll(ctx, s, &rows); err != nil {
		return s.explain(ctx, fmt.Errorf("tpcc: load: %w", err))
	}
	if err := s.once(ctx, t.Schema, tpccIndexes...); err != nil {
		return err
	}
	s.emitLoad(rows.Load(), time.Since(begin))
	return nil
}

func (t *TPCC) loadAll(ctx context.Context, s *Session, rows *atomic.Int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	perWarehouse := int64(t.Customers)*10*4 + int64(t.Items) + int64(t.Customers)*10*10
	stop := s.reportRows(rows, int64(t.Warehouses)*perWarehouse+int64(t.Items))
	defer stop()
	defer processorFor(min(t.Threads, t.Warehouses+1))()
	var next atomic.Int64 // 0 is the items
	var wg sync.WaitGroup
	for range min(t.Threads, t.Warehouses+1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for w := next.Add(1) - 1; w <= int64(t.Warehouses); w = next.Add(1) - 1 {
				if err := t.loadPart(ctx, s, int(w), rows); err != nil {
					cancel(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	return context.Cause(ctx)
}

// loadPart loads the items (0) or one warehouse; its rows hang on the seed and its number only.
func (t *TPCC) loadPart(ctx context.Context, s *Session, w int, rows *atomic.Int64) error {
	c, err := s.connect(ctx, t.Schema)
	if err != nil {
		return err
	}
	defer c.close()
	l := tpccLoader{t: t, conn: c, random: rand.New(rand.NewPCG(s.Seed, 3<<32|uint64(w))), constants: newTPCCConstants(s.Seed), rows: rows, w: w}
	if w == 0 {
		return l.items()
	}
	for _, part := range []func() error{l.warehouse, l.stock, l.customers, l.orders} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

type tpccLoader struct {
	t         *TPCC
	conn      *conn
	random    *rand.Rand
	constants tpccConstants
	rows      *atomic.Int64
	w         int
	row       []byte
}

func (l *tpccLoader) into(table string) *bulk {
	return &bulk{conn: l.conn, head: "INSERT INTO " + table + " VALUES", rows: l.rows}
}

// Values are appended to the row one by one; each ends with a comma.
func (l *tpccLoader) open()          { l.row = append(l.row[:0], '(') }
func (l *tpccLoader) number(n int)   { l.row = append(strconv.AppendInt(l.row, int64(n), 10), ',') }
func (l *tpccLoader) plain(s string) { l.row = append(append(l.row, s...), ',') }
func (l *tpccLoader) text(s string)  { l.row = append(append(append(l.row, '\''), s...), '\'', ',') }
func (l *tpccLoader) letters(low, high int) {
	l.row = append(l.row, '\'')
	l.row = append(appendLetters(l.row, l.random, low, high), '\'', ',')
}
func (l *tpccLoader) cents(n int) { l.plain(fmt.Sprintf("%d.%02d", n/100, n%100)) }
func (l *tpccLoader) address() {
	l.letters(10, 20)
	l.letters(10, 20)
	l.letters(10, 20)
	l.letters(2, 2)
	l.text(fmt.Sprintf("%04d11111", l.random.IntN(10000)))
}

func (l *tpccLoader) close(b *bulk) error {
	l.row[len(l.row)-1] = ')'
	return b.add(l.row)
}

// data is the text of items and stock; one in ten is "original".
func (l *tpccLoader) data() {
	if l.random.IntN(10) == 0 {
		l.text(string(appendLetters(nil, l.random, 10, 20)) + "ORIGINAL" + string(appendLetters(nil, l.random, 8, 20)))
		return
	}
	l.letters(26, 50)
}
