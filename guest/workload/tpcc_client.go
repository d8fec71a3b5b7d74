package workload

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// The statements of the five transactions.
const (
	tpccBegin     = "BEGIN"
	tpccCommit    = "COMMIT"
	tpccRollback  = "ROLLBACK"
	noCustomer    = "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?"
	noDistrict    = "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE"
	noNext        = "UPDATE district SET d_next_o_id = ? WHERE d_id = ? AND d_w_id = ?"
	noOrder       = "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (?,?,?,?,NOW(),?,?)"
	noNewOrder    = "INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (?,?,?)"
	noItem        = "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?"
	noUpdateStock = "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?"
	noLine        = "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (?,?,?,?,?,?,?,?,?)"

	payWarehouse   = "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?"
	payWarehouseIs = "SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?"
	payDistrict    = "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?"
	payDistrictIs  = "SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?"
	byName         = "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
	payCustomer    = "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE"
	payData        = "SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
	payUpdateData  = "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
	payUpdate      = "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
	payHistory     = "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?,?,?,?,?,NOW(),?,?)"

	osCustomer = "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
	osOrder    = "SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1"
	osLines    = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"

	delOldest   = "SELECT no_o_id FROM new_orders WHERE no_d_id = ? AND no_w_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE"
	delNewOrder = "DELETE FROM new_orders WHERE no_o_id = ? AND no_d_id = ? AND no_w_id = ?"
	delOrder    = "SELECT o_c_id FROM orders WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?"
	delCarrier  = "UPDATE orders SET o_carrier_id = ? WHERE o_id = ? AND o_d_id = ? AND o_w_id = ?"
	delLines    = "UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?"
	delSum      = "SELECT SUM(ol_amount) FROM order_line WHERE ol_o_id = ? AND ol_d_id = ? AND ol_w_id = ?"
	delCustomer = "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_id = ? AND c_d_id = ? AND c_w_id = ?"

	slDistrict = "SELECT d_next_o_id FROM district WHERE d_id = ? AND d_w_id = ?"
	slCount    = "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?"
)

// noStock reads the stock of one item with the text of one district.
func noStock(d int) string {
	return fmt.Sprintf("SELECT s_quantity, s_data, s_dist_%02d FROM stock WHERE s_i_id = ? AND s_w_id = ? FOR UPDATE", d)
}

// tpccTexts are all statements; each client prepares them before the clock starts.
var tpccTexts = func() []string {
	texts := []string{tpccBegin, tpccCommit, tpccRollback, noCustomer, noDistrict, noNext, noOrder, noNewOrder, noItem, noUpdateStock, noLine,
		payWarehouse, payWarehouseIs, payDistrict, payDistrictIs, byName, payCustomer, payData, payUpdateData, payUpdate, payHistory,
		osCustomer, osOrder, osLines, delOldest, delNewOrder, delOrder, delCarrier, delLines, delSum, delCustomer, slDistrict, slCount}
	for d := 1; d <= tpccDistricts; d++ {
		texts = append(texts, noStock(d))
	}
	return texts
}()

// tpccClient is one terminal.
type tpccClient struct {
	t          *TPCC
	s          *Session
	conn       *conn
	random     *rand.Rand
	constants  tpccConstants
	stats      *tpccStats
	statements map[string]*statement
	counts     counts
	errors     map[uint16]int64
	clock      statementClock
}

func newTPCCClient(t *TPCC, s *Session, i int, constants tpccConstants, stats *tpccStats) *tpccClient {
	return &tpccClient{t: t, s: s, random: rand.New(rand.NewPCG(s.Seed, uint64(i))), constants: constants, stats: stats,
		statements: map[string]*statement{}, errors: map[uint16]int64{}}
}

func (c *tpccClient) tally() *counts             { return &c.counts }
func (c *tpccClient) failures() map[uint16]int64 { return c.errors }

func (c *tpccClient) open(ctx context.Context) (err error) {
	if c.conn, err = c.s.connect(ctx, c.t.Schema); err != nil {
		return err
	}
	if err := c.conn.must("SET SESSION TRANSACTION ISOLATION LEVEL " + isolationLevels[c.t.Isolation]); err != nil {
		return err
	}
	for _, text := range tpccTexts {
		st := newStatement(text)
		if err := c.conn.prepare(st, false); err != nil {
			return err
		}
		c.statements[text] = st
	}
	return nil
}

func (c *tpccClient) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.close()
}

// errIntended is the rollback of one new order in a hundred, whose last item does not exist.
var errIntended = errors.New("intended rollback")

// event draws a transaction and its inputs and runs it; after a deadlock it is rolled back and tried again with the same
// inputs. A transaction with the intended rollback is done.
func (c *tpccClient) event(context.Context) error {
	which := tpccMix[c.random.IntN(len(tpccMix))]
	w := 1 + c.random.IntN(c.t.Warehouses)
	run := [5]func(int) func() error{c.newOrder, c.payment, c.orderStatus, c.delivery, c.stockLevel}[which](w)
	c.clock.start(c.t.StatementLatency)
	for {
		err := c.transaction(run)
		switch {
		case err == nil:
			c.stats.done[which].Add(1)
			c.clock.lap(c.s, kindNewOrder+statementKind(which))
			return nil
		case !legacyRetried(errorNumber(err)):
			return err
		}
		c.errors[errorNumber(err)]++
		c.counts.retries++
		if err := c.other(tpccRollback); err != nil {
			return err
		}
	}
}

func (c *tpccClient) transaction(run func() error) error {
	if err := c.other(tpccBegin); err != nil {
		return err
	}
	err := run()
	if errors.Is(err, errIntended) {
		c.stats.rollbacks.Add(1)
		return c.other(tpccRollback)
	}
	if err != nil {
		return err
	}
	return c.other(tpccCommit)
}

func (c *tpccClient) other(text string) error {
	_, err := c.conn.execute(c.statements[text])
	if err == nil {
		c.counts.others++
	}
	return err
}

// write runs a statement that changes rows.
func (c *tpccClient) write(text string, args ...driver.Value) error {
	st := c.statements[text]
	copy(st.args, args)
	if _, err := c.conn.execute(st); err != nil {
		return fmt.Errorf("%s: %w", shorten(text), err)
	}
	c.counts.writes++
	return nil
}

// read runs a query and returns its first row; nil when there is none.
func (c *tpccClient) read(text string, args ...driver.Value) ([]driver.Value, error) {
	rows, err := c.readAll(text, 1, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// readAll runs a query and returns its rows, of which it decodes at most that many.
func (c *tpccClient) readAll(text string, most int, args ...driver.Value) ([][]driver.Value, error) {
	st := c.statements[text]
	copy(st.args, args)
	rows, err := st.prepared.Query(st.args) //nolint:staticcheck // see conn.execute
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shorten(text), err)
	}
	var out [][]driver.Value
	for len(out) < most {
		values := make([]driver.Value, len(rows.Columns()))
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			rows.Close()
			return nil, fmt.Errorf("%s: %w", shorten(text), err)
		}
		for i, v := range values { // text lies in the driver's buffer until the next read
			if b, ok := v.([]byte); ok {
				values[i] = bytes.Clone(b)
			}
		}
		out = append(out, values)
	}
	if err := rows.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", shorten(text), err)
	}
	c.counts.reads++
	return out, nil
}

// asInt and asFloat read a value of the binary protocol; decimals come as text.
func asInt(v driver.Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case []byte:
		n, _ := strconv.ParseInt(string(v), 10, 64)
		return n
	}
	return 0
}

func asFloat(v driver.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case []byte:
		f, _ := strconv.ParseFloat(string(v), 64)
		return f
	}
	return 0
}

// missing is a row that must be there and is not: tables of another size, or half loaded.
func missing(what string, at ...int) error {
	return fmt.Errorf("%s %v is not there: prepare the tables with the same warehouses, customers and items", what, at)
}
