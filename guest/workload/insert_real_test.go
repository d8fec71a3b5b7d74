package workload_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Every phase inserts its rows and deletes as many; the rates of the query phases are met; the table ends as large as it
// was loaded.
func TestInsertBenchmark(t *testing.T) {
	srv := realServer(t)
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS platter_insert") })
	r := run(t, srv, "insert", `{"clients": 2, "rows": 4000, "write_rows": 2000, "query_seconds": 2, "settle_seconds": 0, "phases": "l.i0,l.x,l.i1,l.i2,qr200,qp500"}`)
	for phase, rows := range map[string]float64{"l.i0": 8000, "l.i1": 3200, "l.i2": 800, "qr200": 800, "qp500": 2000} {
		if got := r.value(t, "rows_inserted_total", "phase", phase); got != rows {
			t.Errorf("%s inserted %g rows, want %g", phase, got, rows)
		}
		deleted := r.value(t, "rows_deleted_total", "phase", phase)
		if want := map[bool]float64{true: 0, false: rows}[phase == "l.i0"]; deleted != want {
			t.Errorf("%s deleted %g rows, want %g", phase, deleted, want)
		}
	}
	for phase, rate := range map[string]float64{"qr200": 400, "qp500": 1000} {
		if got := r.value(t, "rows_inserted_per_second", "phase", phase); math.Abs(got-rate) > 0.05*rate && !strings.Contains(fmt.Sprint(r.Flags), "phase_failed") {
			t.Errorf("%s inserted %.0f rows/s, want %.0f, and is not marked failed", phase, got, rate)
		}
		if r.value(t, "queries_total", "phase", phase) == 0 {
			t.Errorf("%s made no query", phase)
		}
		var sum float64
		for _, m := range r.Metrics {
			if m.Name == "responses_total" && m.Labels["phase"] == phase && m.Labels["operation"] == "query" {
				sum += *m.Value
			}
		}
		if sum != r.value(t, "queries_total", "phase", phase) {
			t.Errorf("%s: the classes of query times add up to %g", phase, sum)
		}
	}
	for _, table := range []string{"pi1", "pi2"} {
		if n := one(t, srv, "SELECT COUNT(*) FROM platter_insert."+table); n != 4000 {
			t.Errorf("%s holds %d rows", table, n)
		}
	}
	if n := one(t, srv, "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'platter_insert' AND table_name = 'pi1'"); n != 4 {
		t.Errorf("%d indexes, want the key and three", n)
	}
	// A rate no server keeps is marked.
	r = run(t, srv, "insert", `{"rows": 1000, "query_seconds": 0.005, "settle_seconds": 0, "phases": "l.i0,l.x,qr9000000"}`)
	if !strings.Contains(fmt.Sprint(r.Flags), "phase_failed") {
		t.Errorf("flags %v", r.Flags)
	}
}
