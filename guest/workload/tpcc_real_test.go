package workload_test

import (
	"math"
	"strings"
	"testing"
)

// Row counts of a load, shares of the mix, rollbacks and remote accesses, and consistency after concurrent runs.
func TestTPCC(t *testing.T) {
	srv := realServer(t)
	execute(t, srv, "DROP SCHEMA IF EXISTS platter_tpcc")
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS platter_tpcc") })
	const size = `"warehouses": 2, "customers": 300, "items": 2000, "threads": 4`
	if err := decode(t, "tpcc", `{`+size+`}`).Prepare(t.Context(), session(srv, &record{})); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int64{"warehouse": 2, "district": 20, "customer": 6000, "history": 6000, "orders": 6000, "new_orders": 1800, "stock": 4000, "item": 2000} {
		if got := one(t, srv, "SELECT COUNT(*) FROM platter_tpcc."+table); got != want {
			t.Errorf("%s: %d rows, want %d", table, got, want)
		}
	}
	if lines := one(t, srv, "SELECT COUNT(*) FROM platter_tpcc.order_line"); math.Abs(float64(lines-60000)) > 1500 {
		t.Errorf("%d order lines, want about ten an order", lines)
	}

	const events = 4000
	r := &record{}
	w := witness(t, srv, func() {
		r = run(t, srv, "tpcc", `{`+size+`, "events": 4000, "time": 0}`)
	})
	for operation, share := range map[string]float64{"new_order": 43.5, "payment": 43.5, "order_status": 4.3, "delivery": 4.3, "stock_level": 4.3} {
		if got := 100 * r.value(t, "operations_total", "operation", operation) / events; math.Abs(got-share) > 3 {
			t.Errorf("%s: %.1f %% of the transactions, want %.1f", operation, got, share)
		}
	}
	newOrders, payments := r.value(t, "operations_total", "operation", "new_order"), r.value(t, "operations_total", "operation", "payment")
	rollbacks := r.value(t, "rollbacks_total")
	if got := 100 * rollbacks / newOrders; math.Abs(got-1) > 0.75 {
		t.Errorf("%.2f %% of new orders rolled back, want 1", got)
	}
	if got := 100 * r.value(t, "remote_order_lines_total") / r.value(t, "order_lines_total"); math.Abs(got-1) > 0.5 {
		t.Errorf("%.2f %% of lines remote, want 1", got)
	}
	if got := 100 * r.value(t, "remote_payments_total") / payments; math.Abs(got-15) > 4 {
		t.Errorf("%.1f %% of payments remote, want 15", got)
	}
	d := r.value(t, "deadlocks_total")
	if w["Com_commit"] != events-int64(rollbacks) || w["Com_rollback"] != int64(rollbacks+d) {
		t.Errorf("the server counted %d commits and %d rollbacks; want %g and %g", w["Com_commit"], w["Com_rollback"], events-rollbacks, rollbacks+d)
	}
	if orders := one(t, srv, "SELECT COUNT(*) FROM platter_tpcc.orders"); float64(orders) != 6000+newOrders-rollbacks {
		t.Errorf("%d orders, want 6000 + %g - %g", orders, newOrders, rollbacks)
	}
	if remote := one(t, srv, "SELECT COUNT(*) FROM platter_tpcc.order_line WHERE ol_supply_w_id <> ol_w_id"); float64(remote) != r.value(t, "remote_order_lines_total") {
		t.Errorf("%d remote lines in the table, %g counted", remote, r.value(t, "remote_order_lines_total"))
	}

	// A wrong sum is found.
	execute(t, srv, "UPDATE platter_tpcc.district SET d_ytd = d_ytd + 1 WHERE d_w_id = 1 AND d_id = 1")
	err := decode(t, "tpcc", `{`+size+`, "events": 10, "time": 0}`).Run(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "w_ytd is not the sum") {
		t.Errorf("a wrong sum: %v", err)
	}
}
