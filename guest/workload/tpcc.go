package workload

import (
	"context"
	"errors"
	"fmt"

	"platter/guest"
)

// TPCC runs five transactions in TPC-C's proportions on its nine tables, with remote warehouses (1 % of order lines, 15 %
// of payments), without keying and think times. It is TPC-C-like: its rates are not tpmC and no result of it is comparable
// with a published TPC-C figure. Tables, sizes and mix are those of sysbench-tpcc, without its faults: another warehouse is
// another one, order status reads its own order, and the constants of the skew are drawn once a run.
type TPCC struct {
	Warehouses int     `json:"warehouses"`
	Threads    int     `json:"threads"`
	Events     int64   `json:"events"`     // transactions in all; 0 is no limit
	Time       float64 `json:"time"`       // seconds; 0 is no limit
	Percentile float64 `json:"percentile"` // also reported, besides the usual ones; 0 for none
	Customers  int     `json:"customers"`  // of each district, and its orders at the start; TPC-C has 3000
	Items      int     `json:"items"`      // and stock of each warehouse; TPC-C has 100000
	Isolation  string  `json:"isolation"`  // RR, RC, SER
	Engine     string  `json:"engine"`
	Schema     string  `json:"schema"`
	Consistent bool    `json:"check_consistency"` // check the sums and sequences after a run

	shared
}

func init() {
	register("tpcc", "five order-entry transactions in TPC-C's proportions (TPC-C-like, not tpmC)", prepareAndRun, func() Workload {
		return &TPCC{Warehouses: 1, Threads: 1, Time: 10, Percentile: 95, Customers: 3000, Items: 100000, Isolation: "RR", Engine: "innodb",
			Schema: "platter_tpcc", Consistent: true, shared: defaultShared()}
	})
}

// isolationLevels by the short names of the option.
var isolationLevels = map[string]string{"RR": "REPEATABLE READ", "RC": "READ COMMITTED", "SER": "SERIALIZABLE"}

// Check implements Workload.
func (t *TPCC) Check(p Place) []error {
	errs := t.check()
	for _, n := range []struct {
		name         string
		value, least int
	}{{"warehouses", t.Warehouses, 1}, {"threads", t.Threads, 1}, {"customers", t.Customers, 30}, {"items", t.Items, 100}} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s is %d; it is %d or more", n.name, n.value, n.least))
		}
	}
	if t.Events < 0 || t.Time < 0 || t.Events == 0 && t.Time == 0 {
		errs = append(errs, errors.New("the run never ends: set events or time"))
	}
	if t.Percentile < 0 || t.Percentile > 100 {
		errs = append(errs, fmt.Errorf("percentile %g is not one of 0 to 100", t.Percentile))
	}
	if isolationLevels[t.Isolation] == "" {
		errs = append(errs, checkChoice("isolation", t.Isolation, []string{"RR", "RC", "SER"})...)
	}
	if trx, known := legacyEngineTrx[canonicalEngine(t.Engine)]; known && !trx {
		errs = append(errs, fmt.Errorf("engine %q has no transactions: a rollback of tpcc would leave half an order", t.Engine))
	}
	errs = append(errs, checkEngine(t.Engine, p)...)
	return append(errs, checkNeeds(t.Needs(), p)...)
}

// Needs implements Workload. A warehouse of the standard size takes about 90 MB in InnoDB.
func (t *TPCC) Needs() Needs {
	perWarehouse := int64(t.Customers)*10*(700+80+60+10*110) + int64(t.Items)*350
	disk := int64(t.Warehouses)*perWarehouse + int64(t.Items)*120
	return Needs{Connections: t.Threads + 1, PreparedStatements: t.Threads * len(tpccTexts), PacketBytes: bulkBytes, DiskBytes: disk * 5 / 4,
		LargestFileBytes: int64(t.Warehouses) * int64(t.Customers) * 10 * 10 * 110}
}

func (t *TPCC) loop(s *Session) loop {
	return loop{clients: t.Threads, limit: t.Events, duration: seconds(t.Time), rate: t.Rate, seed: s.Seed, lateShare: t.LateShare}
}

// Warmup implements Workload.
func (t *TPCC) Warmup(ctx context.Context, s *Session) error {
	if t.WarmupTime <= 0 {
		return nil
	}
	l := t.loop(s)
	l.duration, l.limit, l.rate, l.quiet = seconds(t.WarmupTime), 0, 0, true
	constants := newTPCCConstants(s.Seed)
	_, err := s.runLoad(ctx, l, func(i int) client { return newTPCCClient(t, s, i, constants, &tpccStats{}) })
	return err
}

// Run implements Workload.
func (t *TPCC) Run(ctx context.Context, s *Session) error {
	constants, stats := newTPCCConstants(s.Seed), &tpccStats{}
	out, err := s.runLoad(ctx, t.loop(s), func(i int) client { return newTPCCClient(t, s, i, constants, stats) })
	if err != nil {
		s.emitFailure(out, err)
		return fmt.Errorf("tpcc: %w", err)
	}
	t.emit(s, out, stats)
	if t.Consistent {
		err = t.checkConsistency(ctx, s)
	}
	return errors.Join(err, s.emitOLTP(out, t.Percentile, nil))
}

func (t *TPCC) emit(s *Session, out outcome, stats *tpccStats) {
	m := metrics{step: s.Step}
	m.add("rollbacks_total", float64(stats.rollbacks.Load()))
	m.add("order_lines_total", float64(stats.lines.Load()))
	m.add("remote_order_lines_total", float64(stats.remoteLines.Load()))
	m.add("remote_payments_total", float64(stats.remotePayments.Load()))
	m.rate("new_orders_per_second", stats.done[tpccNewOrder].Load(), out.seconds)
	for i := range stats.done {
		one := metrics{step: s.Step, labels: map[string]string{"operation": kindNames[kindNewOrder+statementKind(i)]}}
		one.add("operations_total", float64(stats.done[i].Load()))
		m.list = append(m.list, one.list...)
	}
	s.Emit(guest.Measurement{Metrics: m.list})
	s.flag("tpcc_like", "TPC-C-like: not tpmC, not comparable with published TPC-C figures")
}

// Cleanup implements Workload.
func (t *TPCC) Cleanup(ctx context.Context, s *Session) error {
	return s.once(ctx, "", "DROP DATABASE IF EXISTS "+quoteName(t.Schema))
}

// checkConsistency runs the standard's conditions 1 to 4: they hold in every committed state.
func (t *TPCC) checkConsistency(ctx context.Context, s *Session) error {
	c, err := s.connect(ctx, t.Schema)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer c.close()
	for _, check := range []struct{ what, query string }{
		{"w_ytd is not the sum of d_ytd", "SELECT COUNT(*) FROM (SELECT w_id FROM warehouse JOIN district ON d_w_id = w_id GROUP BY w_id, w_ytd HAVING w_ytd <> SUM(d_ytd)) x"},
		{"d_next_o_id - 1 is not the last order", "SELECT COUNT(*) FROM (SELECT d_w_id, d_id, d_next_o_id FROM district JOIN orders ON o_w_id = d_w_id AND o_d_id = d_id GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id - 1 <> MAX(o_id)) x"},
		{"d_next_o_id - 1 is not the last new order", "SELECT COUNT(*) FROM (SELECT d_w_id, d_id, d_next_o_id FROM district JOIN new_orders ON no_w_id = d_w_id AND no_d_id = d_id GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id - 1 <> MAX(no_o_id)) x"},
		{"new orders are not one sequence", "SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id FROM new_orders GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) x"},
		{"the sum of o_ol_cnt is not the number of order lines", "SELECT COUNT(*) FROM (SELECT (SELECT SUM(o_ol_cnt) FROM orders) a, (SELECT COUNT(*) FROM order_line) b) x WHERE a <> b"},
	} {
		n, err := c.count(check.query)
		if err != nil {
			return s.explain(ctx, err)
		}
		if n != 0 {
			return invalidf("tpcc: after the run %s in %d places", check.what, n)
		}
	}
	return nil
}
