package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"platter/guest/server"
)

// legacyTable prepares a table of n rows in a fresh schema and drops it after the test.
func legacyTable(t *testing.T, srv *server.Server, n int, more string) {
	t.Helper()
	execute(t, srv, "DROP SCHEMA IF EXISTS sbtest")
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS sbtest") })
	w := decode(t, "oltp_legacy", fmt.Sprintf(`{"oltp_table_size": %d%s}`, n, more))
	if err := w.Prepare(t.Context(), session(srv, &record{})); err != nil {
		t.Fatal(err)
	}
}

func legacy(options string) string {
	return `{"oltp_connect_delay": 0, "count_rows": false` + options + `}`
}

// Row 1 of the list: defaults, one thread, 3000 transactions, counted by the server; and rows 3: the other shapes.
func TestLegacyCounts(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	for _, c := range []struct {
		name, options         string
		reads, writes, others float64 // per event
		server                map[string]int64
		events                int64
	}{
		{"complex", `, "max_requests": 3000`, 14, 5, 2, map[string]int64{"Com_begin": 3000, "Com_select": 42000, "Com_update": 9000, "Com_delete": 3000,
			"Com_insert": 3000, "Com_commit": 3000, "Com_rollback": 0, "Com_stmt_prepare": 11}, 3000},
		{"read only", `, "oltp_read_only": true, "max_requests": 500`, 14, 0, 2, map[string]int64{"Com_begin": 500, "Com_commit": 500, "Com_select": 7000, "Com_update": 0}, 500},
		{"skip trx", `, "oltp_skip_trx": true, "max_requests": 500`, 14, 5, 0, map[string]int64{"Com_begin": 0, "Com_commit": 0}, 500},
		{"simple", `, "oltp_test_mode": "simple", "max_requests": 500`, 1, 0, 0, map[string]int64{"Com_select": 500, "Com_begin": 0}, 500},
		{"ten index updates", `, "oltp_index_updates": 10, "max_requests": 200`, 14, 14, 2, map[string]int64{"Com_update": 200 * 12}, 200},
		{"as text", `, "db_ps_mode": "disable", "max_requests": 200`, 14, 5, 2, map[string]int64{"Com_stmt_prepare": 0, "Com_select": 2800, "Com_update": 600}, 200},
		{"nontrx select", `, "oltp_test_mode": "nontrx", "max_requests": 200`, 1, 0, 0, map[string]int64{"Com_select": 200}, 200},
		{"nontrx update_key", `, "oltp_test_mode": "nontrx", "oltp_nontrx_mode": "update_key", "max_requests": 200`, 0, 1, 0, map[string]int64{"Com_update": 200}, 200},
		{"nontrx update_nokey", `, "oltp_test_mode": "nontrx", "oltp_nontrx_mode": "update_nokey", "max_requests": 200`, 0, 1, 0, map[string]int64{"Com_update": 200}, 200},
		{"reconnect per query", `, "oltp_reconnect_mode": "query", "max_requests": 20`, 14, 5, 18, map[string]int64{"Connections": 20*16 + 1 + 1 + 1}, 20}, // + its own, the engine's, the witness
		{"reconnect per transaction", `, "oltp_reconnect_mode": "transaction", "max_requests": 20`, 14, 5, 3, nil, 20},
		{"default limit with time", `, "max_time": 600, "oltp_test_mode": "simple", "num_threads": 4`, 1, 0, 0, map[string]int64{"Com_select": 10000}, 10000},
		{"exact count with many threads", `, "num_threads": 32, "max_requests": 1001, "oltp_test_mode": "simple"`, 1, 0, 0, map[string]int64{"Com_select": 1001}, 1001},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *record
			w := witness(t, srv, func() { r = run(t, srv, "oltp_legacy", legacy(c.options)) })
			if srv.Product().Flavour != server.MariaDB {
				delete(c.server, "Com_stmt_prepare") // MySQL counts the statements it prepares a second time inside
			}
			expect(t, w, c.server)
			n := float64(c.events)
			for name, want := range map[string]float64{"transactions_total": n, "reads_total": n * c.reads, "writes_total": n * c.writes, "others_total": n * c.others,
				"queries_total": n * (c.reads + c.writes + c.others), "deadlocks_total": 0} {
				if got := r.value(t, name); got != want {
					t.Errorf("%s %g, want %g", name, got, want)
				}
			}
			requests := r.value(t, "requests_per_second") * r.value(t, "run_seconds")
			if want := n * (c.reads + c.writes); requests < want*0.999 || requests > want*1.001 {
				t.Errorf("read/write requests %g, want %g", requests, want)
			}
		})
	}
	if n := one(t, srv, "SELECT COUNT(*) FROM sbtest.sbtest"); n != 10000 {
		t.Errorf("%d rows are left", n)
	}
	if lo, hi := one(t, srv, "SELECT MIN(id) FROM sbtest.sbtest"), one(t, srv, "SELECT MAX(id) FROM sbtest.sbtest"); lo != 1 || hi != 10000 {
		t.Errorf("ids %d…%d", lo, hi)
	}
}

// Row 4: contention. The server's counters follow the rules for retried events.
func TestLegacyDeadlocks(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	var r *record
	w := witness(t, srv, func() {
		r = run(t, srv, "oltp_legacy", legacy(`, "num_threads": 16, "max_requests": 2000, "oltp_index_updates": 10`))
	})
	const events = 2000
	d := r.value(t, "deadlocks_total")
	if d == 0 {
		t.Fatal("no deadlock happened: the test shows nothing")
	}
	for name, want := range map[string]float64{"reads_total": 14 * (events + d), "others_total": 2*events + d,
		"writes_total": float64(w["Com_update"] + w["Com_delete"] + w["Com_insert"])} {
		if got := r.value(t, name); got != want {
			t.Errorf("%s %g, want %g", name, got, want)
		}
	}
	expect(t, w, map[string]int64{"Com_begin": events + int64(d), "Com_commit": events, "Com_rollback": 0})
	var byNumber float64
	for _, m := range r.Metrics {
		if m.Name == "errors_total" && m.Labels["error"] != "" {
			byNumber += *m.Value
		}
	}
	if byNumber != d {
		t.Errorf("errors by number add up to %g, deadlocks are %g", byNumber, d)
	}
	if n := one(t, srv, "SELECT COUNT(*) FROM sbtest.sbtest"); n != 10000 {
		t.Errorf("%d rows are left", n)
	}
}

// Row 7: what prepare leaves, and in which statements.
func TestLegacyPrepare(t *testing.T) {
	srv := realServer(t)
	var w map[string]int64
	log := generalLog(t, srv, func() {
		w = witness(t, srv, func() { legacyTable(t, srv, 25000, "") })
	})
	expect(t, w, map[string]int64{"Com_insert": 3, "Com_create_index": 1, "Com_create_table": 1})
	index, insert := -1, -1
	for i, l := range log {
		if strings.Contains(l, "CREATE INDEX k on sbtest(k)") {
			index = i
		}
		if insert < 0 && strings.HasPrefix(l, "Query INSERT INTO sbtest(k, c, pad)") {
			insert = i
		}
	}
	if index < 0 || insert < index {
		t.Errorf("index made at line %d, first insert at %d of the log", index, insert)
	}
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM sbtest.sbtest": 25000, "SELECT COUNT(*) FROM sbtest.sbtest WHERE k = 0": 25000, "SELECT COUNT(*) FROM sbtest.sbtest WHERE c = ''": 25000,
		"SELECT COUNT(DISTINCT pad) FROM sbtest.sbtest": 1, "SELECT LENGTH(MAX(pad)) FROM sbtest.sbtest": 50, "SELECT MAX(id) FROM sbtest.sbtest": 25000,
	} {
		if got := one(t, srv, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	// Left-over and half-loaded tables (K10).
	err := decode(t, "oltp_legacy", `{"oltp_table_size": 25000}`).Prepare(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "1050") {
		t.Errorf("a second prepare: %v", err)
	}
	reuse := `{"oltp_table_size": 25000, "reuse": true}`
	if err := decode(t, "oltp_legacy", reuse).Prepare(t.Context(), session(srv, &record{})); err != nil {
		t.Errorf("reuse of a whole table: %v", err)
	}
	execute(t, srv, "DELETE FROM sbtest.sbtest WHERE id > 12500")
	err = decode(t, "oltp_legacy", reuse).Prepare(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "12500") || !strings.Contains(err.Error(), "25000") {
		t.Errorf("reuse of half a table: %v", err)
	}
}

// Row 8: an engine without transactions is bracketed by table locks, whatever the option says.
func TestLegacyTableLocks(t *testing.T) {
	srv := realServer(t)
	for _, engine := range []string{"myisam", "aria", "memory"} {
		t.Run(engine, func(t *testing.T) {
			legacyTable(t, srv, 1000, `, "mysql_table_engine": "`+engine+`"`)
			w := witness(t, srv, func() {
				run(t, srv, "oltp_legacy", `{"oltp_connect_delay": 0, "oltp_table_size": 1000, "max_requests": 300, "num_threads": 4}`)
			})
			expect(t, w, map[string]int64{"Com_lock_tables": 300, "Com_unlock_tables": 300, "Com_begin": 0, "Com_commit": 0})
		})
	}
}

// Row 9: the user delay applies to 14 statements of a read-only event, and to 19 of a full one. How much longer an event
// takes is the machine's affair.
func TestLegacyUserDelay(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	for options, least := range map[string]float64{`, "oltp_read_only": true`: 14 * 0.005, ``: 19 * 0.005} {
		r := run(t, srv, "oltp_legacy", legacy(`, "max_requests": 5, "oltp_user_delay_min": 5000, "oltp_user_delay_max": 10000`+options))
		if got := r.value(t, "latency_minimum_seconds", "operation", "transaction"); got < least {
			t.Errorf("%s: the fastest event took %.3f s, want %.3f s at least", options, got, least)
		}
	}
}

// Unique ids of nontrx deletes: no repetition before the table is empty; inserts start from an empty table.
func TestLegacyNontrx(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	log := generalLog(t, srv, func() {
		run(t, srv, "oltp_legacy", `{"oltp_connect_delay": 0, "oltp_test_mode": "nontrx", "oltp_nontrx_mode": "delete", "max_requests": 3}`)
	})
	var ids []string
	for _, l := range log {
		if id, ok := strings.CutPrefix(l, "Execute DELETE FROM sbtest WHERE id="); ok {
			ids = append(ids, id)
		}
	}
	if strings.Join(ids, " ") != "3648 7295 942" {
		t.Errorf("deleted %v, want 3648 7295 942", ids)
	}
	r := run(t, srv, "oltp_legacy", `{"oltp_connect_delay": 0, "oltp_test_mode": "nontrx", "oltp_nontrx_mode": "insert", "max_requests": 250, "num_threads": 4}`)
	if n := r.value(t, "rows_total"); n != 250 {
		t.Errorf("%g rows after 250 inserts into the truncated table", n)
	}
}
