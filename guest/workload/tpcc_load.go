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

// tpccTables are made before the rows; tpccIndexes after them.
var tpccTables = []string{
	"CREATE TABLE warehouse (w_id smallint NOT NULL, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20), w_city varchar(20), w_state char(2), w_zip char(9), w_tax decimal(4,4), w_ytd decimal(12,2), PRIMARY KEY (w_id))",
	"CREATE TABLE district (d_id tinyint NOT NULL, d_w_id smallint NOT NULL, d_name varchar(10), d_street_1 varchar(20), d_street_2 varchar(20), d_city varchar(20), d_state char(2), d_zip char(9), d_tax decimal(4,4), d_ytd decimal(12,2), d_next_o_id int, PRIMARY KEY (d_w_id, d_id))",
	"CREATE TABLE customer (c_id int NOT NULL, c_d_id tinyint NOT NULL, c_w_id smallint NOT NULL, c_first varchar(16), c_middle char(2), c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20), c_state char(2), c_zip char(9), c_phone char(16), c_since datetime, c_credit char(2), c_credit_lim bigint, c_discount decimal(4,4), c_balance decimal(12,2), c_ytd_payment decimal(12,2), c_payment_cnt smallint, c_delivery_cnt smallint, c_data text, PRIMARY KEY (c_w_id, c_d_id, c_id))",
	"CREATE TABLE history (h_c_id int, h_c_d_id tinyint, h_c_w_id smallint, h_d_id tinyint, h_w_id smallint, h_date datetime, h_amount decimal(6,2), h_data varchar(24))",
	"CREATE TABLE new_orders (no_o_id int NOT NULL, no_d_id tinyint NOT NULL, no_w_id smallint NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
	"CREATE TABLE orders (o_id int NOT NULL, o_d_id tinyint NOT NULL, o_w_id smallint NOT NULL, o_c_id int, o_entry_d datetime, o_carrier_id tinyint, o_ol_cnt tinyint, o_all_local tinyint, PRIMARY KEY (o_w_id, o_d_id, o_id))",
	"CREATE TABLE order_line (ol_o_id int NOT NULL, ol_d_id tinyint NOT NULL, ol_w_id smallint NOT NULL, ol_number tinyint NOT NULL, ol_i_id int, ol_supply_w_id smallint, ol_delivery_d datetime, ol_quantity tinyint, ol_amount decimal(6,2), ol_dist_info char(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
	"CREATE TABLE item (i_id int NOT NULL, i_im_id int, i_name varchar(24), i_price decimal(5,2), i_data varchar(50), PRIMARY KEY (i_id))",
	"CREATE TABLE stock (s_i_id int NOT NULL, s_w_id smallint NOT NULL, s_quantity smallint, s_dist_01 char(24), s_dist_02 char(24), s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24), s_dist_06 char(24), s_dist_07 char(24), s_dist_08 char(24), s_dist_09 char(24), s_dist_10 char(24), s_ytd decimal(8,0), s_order_cnt smallint, s_remote_cnt smallint, s_data varchar(50), PRIMARY KEY (s_w_id, s_i_id))",
}

var tpccIndexes = []string{
	"CREATE INDEX idx_customer ON customer (c_w_id, c_d_id, c_last, c_first)",
	"CREATE INDEX idx_orders ON orders (o_w_id, o_d_id, o_c_id, o_id)",
	"CREATE INDEX fkey_stock_2 ON stock (s_i_id)",
	"CREATE INDEX fkey_order_line_2 ON order_line (ol_supply_w_id, ol_i_id)",
}

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

func (l *tpccLoader) items() error {
	b := l.into("item")
	for id := 1; id <= l.t.Items; id++ {
		l.open()
		l.number(id)
		l.number(1 + l.random.IntN(10000))
		l.letters(14, 24)
		l.cents(100 + l.random.IntN(9901))
		l.data()
		if err := l.close(b); err != nil {
			return err
		}
	}
	return b.flush()
}

func (l *tpccLoader) warehouse() error {
	b := l.into("warehouse")
	l.open()
	l.number(l.w)
	l.letters(6, 10)
	l.address()
	l.plain(fmt.Sprintf("0.%04d", l.random.IntN(2001)))
	l.plain("300000.00")
	if err := l.close(b); err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	b = l.into("district")
	for d := 1; d <= tpccDistricts; d++ {
		l.open()
		l.number(d)
		l.number(l.w)
		l.letters(6, 10)
		l.address()
		l.plain(fmt.Sprintf("0.%04d", l.random.IntN(2001)))
		l.plain("30000.00")
		l.number(l.t.Customers + 1)
		if err := l.close(b); err != nil {
			return err
		}
	}
	return b.flush()
}

func (l *tpccLoader) stock() error {
	b := l.into("stock")
	for id := 1; id <= l.t.Items; id++ {
		l.open()
		l.number(id)
		l.number(l.w)
		l.number(10 + l.random.IntN(91))
		for range tpccDistricts {
			l.letters(24, 24)
		}
		l.plain("0,0,0")
		l.data()
		if err := l.close(b); err != nil {
			return err
		}
	}
	return b.flush()
}

// tpccNow is the time of every loaded row: the same in every load.
const tpccNow = "'2005-01-01 00:00:00'"

func (l *tpccLoader) customers() error {
	b, h := l.into("customer"), l.into("history")
	for d := 1; d <= tpccDistricts; d++ {
		for id := 1; id <= l.t.Customers; id++ {
			if err := l.customer(b, d, id); err != nil {
				return err
			}
			l.open()
			for _, n := range []int{id, d, l.w, d, l.w} {
				l.number(n)
			}
			l.plain(tpccNow)
			l.plain("10.00")
			l.letters(12, 24)
			if err := l.close(h); err != nil {
				return err
			}
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	return h.flush()
}

func (l *tpccLoader) customer(b *bulk, d, id int) error {
	name := id - 1 // the first thousand spell every name once
	if id > 1000 {
		name = nuRand(l.random, 255, l.constants.name, 0, 999)
	}
	credit := "GC"
	if l.random.IntN(10) == 0 {
		credit = "BC"
	}
	l.open()
	l.number(id)
	l.number(d)
	l.number(l.w)
	l.letters(8, 16)
	l.text("OE")
	l.text(lastName(name))
	l.address()
	l.text(fmt.Sprintf("%016d", l.random.Uint64N(1e16)))
	l.plain(tpccNow)
	l.text(credit)
	l.plain("50000")
	l.plain(fmt.Sprintf("0.%04d", l.random.IntN(5001)))
	l.plain("-10.00,10.00,1,0")
	l.letters(300, 500)
	return l.close(b)
}

func (l *tpccLoader) orders() error {
	o, n, lines := l.into("orders"), l.into("new_orders"), l.into("order_line")
	for d := 1; d <= tpccDistricts; d++ {
		customers := l.random.Perm(l.t.Customers)
		for id := 1; id <= l.t.Customers; id++ {
			waiting := id > l.t.Customers*(100-tpccWaiting)/100
			count := 5 + l.random.IntN(11)
			if err := l.order(o, d, id, customers[id-1]+1, count, waiting); err != nil {
				return err
			}
			if waiting {
				l.open()
				l.number(id)
				l.number(d)
				l.number(l.w)
				if err := l.close(n); err != nil {
					return err
				}
			}
			if err := l.lines(lines, d, id, count, waiting); err != nil {
				return err
			}
		}
	}
	for _, b := range []*bulk{o, n, lines} {
		if err := b.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (l *tpccLoader) order(b *bulk, d, id, customer, lines int, waiting bool) error {
	l.open()
	l.number(id)
	l.number(d)
	l.number(l.w)
	l.number(customer)
	l.plain(tpccNow)
	if waiting {
		l.plain("NULL")
	} else {
		l.number(1 + l.random.IntN(10))
	}
	l.number(lines)
	l.number(1)
	return l.close(b)
}

func (l *tpccLoader) lines(b *bulk, d, order, count int, waiting bool) error {
	for n := 1; n <= count; n++ {
		l.open()
		l.number(order)
		l.number(d)
		l.number(l.w)
		l.number(n)
		l.number(1 + l.random.IntN(l.t.Items))
		l.number(l.w)
		if waiting {
			l.plain("NULL")
		} else {
			l.plain(tpccNow)
		}
		l.number(5)
		if waiting {
			l.cents(1 + l.random.IntN(999999))
		} else {
			l.plain("0.00")
		}
		l.letters(24, 24)
		if err := l.close(b); err != nil {
			return err
		}
	}
	return nil
}
