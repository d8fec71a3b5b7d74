package workload_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// generalLog runs f with the server's general log on and returns "Command argument" lines.
func generalLog(t *testing.T, srv *server.Server, f func()) []string {
	t.Helper()
	name := filepath.Join(srv.DataDir(), "general.log") // a bare name: a server in its own root knows other paths
	execute(t, srv, "SET GLOBAL general_log_file = 'general.log'", "SET GLOBAL general_log = ON")
	f()
	execute(t, srv, "SET GLOBAL general_log = OFF")
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(name)
	defer file.Close()
	line := regexp.MustCompile(`^\t\t|^\d{6} +[\d:]+\t|^\S+Z\t`)
	command := regexp.MustCompile(`^\s*\d+ ([A-Z][a-z ]+?)\t(.*)$`)
	var out []string
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 4<<20)
	for sc.Scan() {
		rest := line.ReplaceAllString(sc.Text(), "")
		if m := command.FindStringSubmatch(rest); m != nil {
			out = append(out, m[1]+" "+m[2])
		}
	}
	return out
}

// Row 2, and the vector in a real run: the first event of one thread, statement by statement.
func TestLegacyFirstEvent(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	log := generalLog(t, srv, func() { run(t, srv, "oltp_legacy", legacy(`, "max_requests": 1`)) })
	var got []string
	for _, l := range log {
		rest, ok := strings.CutPrefix(l, "Execute ")
		if !ok && strings.HasPrefix(l, "Query BEGIN") { // MySQL does not prepare it
			rest, ok = strings.CutPrefix(l, "Query ")
		}
		if ok {
			got = append(got, strings.ReplaceAll(rest, "INTO sbtest VALUES (", "INTO sbtest VALUES("))
		}
	}
	want := []string{"BEGIN"}
	for _, id := range []int{5273, 4957, 5013, 5792, 4973, 6380, 4522, 4503, 4824, 5048} {
		want = append(want, fmt.Sprintf("SELECT c FROM sbtest WHERE id=%d", id))
	}
	want = append(want,
		"SELECT c FROM sbtest WHERE id BETWEEN 4984 AND 5083", "SELECT SUM(K) FROM sbtest WHERE id BETWEEN 4977 AND 5076",
		"SELECT c FROM sbtest WHERE id BETWEEN 4951 AND 5050 ORDER BY c", "SELECT DISTINCT c FROM sbtest WHERE id BETWEEN 5018 AND 5118 ORDER BY c",
		"UPDATE sbtest SET k=k+1 WHERE id=4992",
		"UPDATE sbtest SET c='618268884-949692053-612769513-998075866-57522370-805218651-186358951-414361086-1079721-8783635' WHERE id=5028",
		"UPDATE sbtest SET k=k+1 WHERE id=5022", "DELETE FROM sbtest WHERE id=5022",
		"INSERT INTO sbtest VALUES(5022,0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')", "COMMIT")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server executed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := one(t, srv, "SELECT COUNT(*) FROM sbtest.sbtest WHERE id = 5022 AND pad LIKE 'aaaaaaaaaaffffffffff%' AND k = 0"); n != 1 {
		t.Error("the row of the last steps does not have the afrey pad")
	}
}

// Row 2: the order of statements in every event, the range lengths, and the id its last three share.
func TestLegacyEveryEvent(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	const events = 100
	log := generalLog(t, srv, func() {
		run(t, srv, "oltp_legacy", legacy(fmt.Sprintf(`, "oltp_skip_trx": true, "max_requests": %d`, events)))
	})
	var shapes []string
	for range 10 {
		shapes = append(shapes, `^SELECT c FROM sbtest WHERE id=(\d+)$`)
	}
	shapes = append(shapes, `^SELECT c FROM sbtest WHERE id BETWEEN (\d+) AND (\d+)$`, `^SELECT SUM\(K\) FROM sbtest WHERE id BETWEEN (\d+) AND (\d+)$`,
		`^SELECT c FROM sbtest WHERE id BETWEEN (\d+) AND (\d+) ORDER BY c$`, `^SELECT DISTINCT c FROM sbtest WHERE id BETWEEN (\d+) AND (\d+) ORDER BY c$`,
		`^UPDATE sbtest SET k=k\+1 WHERE id=(\d+)$`, `^UPDATE sbtest SET c='[\d-]+' WHERE id=(\d+)$`,
		`^UPDATE sbtest SET k=k\+1 WHERE id=(\d+)$`, `^DELETE FROM sbtest WHERE id=(\d+)$`, `^INSERT INTO sbtest VALUES ?\((\d+),0,' ','a{10}f{10}r{10}e{10}y{10}'\)$`)
	var executed []string
	for _, l := range log {
		if rest, ok := strings.CutPrefix(l, "Execute "); ok {
			executed = append(executed, rest)
		}
	}
	if len(executed) != events*len(shapes) {
		t.Fatalf("%d statements, want %d", len(executed), events*len(shapes))
	}
	for i, statement := range executed {
		step := i % len(shapes)
		m := regexp.MustCompile(shapes[step]).FindStringSubmatch(statement)
		if m == nil {
			t.Fatalf("event %d, step %d: %s, want %s", i/len(shapes), step, statement, shapes[step])
		}
		if len(m) == 3 {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			if want := map[bool]int{true: 101, false: 100}[step == 13]; to-from+1 != want || from < 1 {
				t.Errorf("event %d: %s spans %d ids, want %d", i/len(shapes), statement, to-from+1, want)
			}
		}
		if y := regexp.MustCompile(shapes[16]).FindStringSubmatch(executed[i-step+16]); step > 16 && m[1] != y[1] {
			t.Errorf("event %d: %s is not about row %s", i/len(shapes), statement, y[1])
		}
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
