package workload_test

import (
	"context"
	"database/sql/driver"
	"os/exec"
	"strings"
	"testing"
	"time"

	"platter/guest/server"
)

// The rows of the specification's mysqlslap table, each also run by mariadb-slap itself on the same server: both must
// leave the same counters behind.
func TestMysqlslapCounts(t *testing.T) {
	srv := realServer(t)
	base := `"auto_generate_sql": true, "count_rows": false`
	for _, c := range []struct {
		name, options string
		slap          string // the same for mariadb-slap
		want          map[string]int64
		perClient     map[string]float64 // clients → L
	}{
		{"plain", ``, `-a`, map[string]int64{"Com_insert": 105, "Com_select": 5, "Com_drop_db": 2, "Com_create_table": 1}, map[string]float64{"1": 0}},
		{"50 clients", `"concurrency": 50, "number_of_queries": 1000`, `-a -c50 --number-of-queries=1000`,
			map[string]int64{"Com_insert": 649, "Com_select": 450}, map[string]float64{"50": 20}},
		{"fewer queries than clients", `"concurrency": 20, "number_of_queries": 10`, `-a -c20 --number-of-queries=10`,
			map[string]int64{"Com_insert": 219, "Com_select": 100}, map[string]float64{"20": 0}},
		{"lists", `"concurrency": "2,4", "iterations": 3, "number_of_queries": 80, "engine": "innodb,myisam"`,
			`-a -c2,4 -i3 --number-of-queries=80 -e innodb,myisam`,
			map[string]int64{"Com_insert": 1716, "Com_select": 432, "Com_drop_db": 14, "Com_create_table": 12, "Com_create_db": 12}, nil},
		{"execute number", `"concurrency": 4, "auto_generate_sql_execute_number": 25`, `-a -c4 --auto-generate-sql-execute-number=25`,
			map[string]int64{"Com_insert": 155, "Com_select": 44}, map[string]float64{"4": 25}},
		{"key", `"auto_generate_sql_load_type": "key", "auto_generate_sql_add_autoincrement": true, "number_of_queries": 22`,
			`-a --auto-generate-sql-load-type=key --auto-generate-sql-add-autoincrement --number-of-queries=22`,
			map[string]int64{"Com_insert": 99, "Com_select": 23}, nil}, // one more select reads the ids
		{"update", `"auto_generate_sql_load_type": "update", "auto_generate_sql_add_autoincrement": true, "number_of_queries": 22`,
			`-a --auto-generate-sql-load-type=update --auto-generate-sql-add-autoincrement --number-of-queries=22`,
			map[string]int64{"Com_insert": 99, "Com_select": 1, "Com_update": 22}, nil},
		{"read", `"auto_generate_sql_load_type": "read", "auto_generate_sql_add_autoincrement": true, "number_of_queries": 22`,
			`-a --auto-generate-sql-load-type=read --auto-generate-sql-add-autoincrement --number-of-queries=22`,
			map[string]int64{"Com_insert": 99, "Com_select": 23}, nil},
		{"write", `"auto_generate_sql_load_type": "write", "auto_generate_sql_add_autoincrement": true, "number_of_queries": 22`,
			`-a --auto-generate-sql-load-type=write --auto-generate-sql-add-autoincrement --number-of-queries=22`,
			map[string]int64{"Com_insert": 121, "Com_select": 1}, nil},
		{"set-up numbers", `"auto_generate_sql_write_number": 1000, "auto_generate_sql_unique_write_number": 3, "auto_generate_sql_unique_query_number": 4`,
			`-a --auto-generate-sql-write-number=1000 --auto-generate-sql-unique-write-number=3 --auto-generate-sql-unique-query-number=4`,
			map[string]int64{"Com_insert": 1002, "Com_select": 2}, nil},
		{"commit and detach", `"concurrency": 2, "number_of_queries": 22, "commit": 4, "detach": 3`, `-a -c2 --number-of-queries=22 --commit=4 --detach=3`,
			map[string]int64{"Com_insert": 111, "Com_select": 10, "Com_commit": 6, "Connections": 2*(1+4) + 1 + 1}, nil}, // + set-up + the witness
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *record
			options := "{" + base
			if c.options != "" {
				options += ", " + c.options
			}
			ours := witness(t, srv, func() { r = run(t, srv, "mysqlslap", options+"}") })
			expect(t, ours, c.want)
			theirs := witness(t, srv, func() { mariadbSlap(t, srv, strings.Fields(c.slap)...) })
			for _, name := range []string{"Com_insert", "Com_select", "Com_update", "Com_commit", "Com_drop_db", "Com_create_db", "Com_create_table", "Com_set_option",
				"Connections", "Handler_write", "Handler_update", "Handler_delete", "Handler_read_key", "Handler_read_rnd_next"} {
				interleaved := name == "Handler_read_rnd_next" && strings.Contains(c.slap, "-c") // a scan sees what others inserted before it
				if ours[name] != theirs[name] && !interleaved {
					t.Errorf("%s: ours %d, mariadb-slap's %d", name, ours[name], theirs[name])
				}
			}
			for clients, l := range c.perClient {
				if got := r.value(t, "queries_per_client_total", "clients", clients); got != l {
					t.Errorf("queries per client: %g, want %g", got, l)
				}
			}
		})
	}
}

func mariadbSlap(t *testing.T, srv *server.Server, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "mariadb-slap", append([]string{"--no-defaults", "--user=root", "--socket=" + srv.Socket()}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-slap: %v\n%s", err, out)
	}
}

func TestMysqlslapKeepsItsRows(t *testing.T) {
	srv := realServer(t)
	r := run(t, srv, "mysqlslap", `{"auto_generate_sql": true, "concurrency": 50, "number_of_queries": 1000, "no_drop": true}`)
	if got := r.value(t, "rows_total"); got != 649 {
		t.Errorf("rows_total %g", got)
	}
	// 99 set-up rows from 10 distinct inserts, and 50 clients' 11 inserts out of 6 distinct ones.
	if n := one(t, srv, "SELECT COUNT(DISTINCT intcol1) FROM mysqlslap.t1"); n != 16 {
		t.Errorf("%d distinct rows, want 10 of the set-up and 6 of the list", n)
	}
	if n := r.value(t, "queries_total"); n != 1000 {
		t.Errorf("queries_total %g", n)
	}
	if err := decode(t, "mysqlslap", `{"auto_generate_sql": true, "no_drop": true}`).Run(t.Context(), session(srv, &record{})); err == nil || !strings.Contains(err.Error(), "1007") {
		t.Errorf("a second no_drop run over the old schema: %v", err)
	}
	if err := decode(t, "mysqlslap", `{"auto_generate_sql": true}`).Cleanup(t.Context(), session(srv, &record{})); err != nil {
		t.Fatal(err)
	}
	if n := one(t, srv, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'mysqlslap'"); n != 0 {
		t.Error("cleanup left the schema")
	}
}

func TestMysqlslapOwnStatements(t *testing.T) {
	srv := realServer(t)
	w := witness(t, srv, func() {
		run(t, srv, "mysqlslap", `{"create": "CREATE TABLE x (a INT);INSERT INTO x VALUES (1)", "query": ["INSERT INTO x VALUES (2)", "SELECT a FROM x"], "delimiter": ";", "concurrency": 3, "iterations": 2}`)
	})
	expect(t, w, map[string]int64{"Com_drop_db": 3, "Com_create_db": 2, "Com_create_table": 2, "Com_insert": 2 * (1 + 3), "Com_select": 2 * 3})
}

// Connecting is inside the clock, set-up is not.
func TestMysqlslapClock(t *testing.T) {
	srv := realServer(t)
	const delay = 300 * time.Millisecond
	seconds := func(connectDelay time.Duration, extra string) (timed, whole float64) {
		r := &record{}
		ses := session(srv, r)
		ses.Connect = func(ctx context.Context, schema string) (driver.Conn, error) {
			time.Sleep(connectDelay)
			return srv.Connect(ctx, schema)
		}
		begin := time.Now()
		if err := decode(t, "mysqlslap", `{"auto_generate_sql": true`+extra+`}`).Run(t.Context(), ses); err != nil {
			t.Fatal(err)
		}
		return r.value(t, "run_seconds"), time.Since(begin).Seconds()
	}
	if timed, _ := seconds(delay, ""); timed < delay.Seconds() {
		t.Errorf("clients that connect for %v took %.3f s: connecting must be timed", delay, timed)
	}
	const sleeps = 0.6 // both together; the clock may show no more than what is left of the whole
	if timed, whole := seconds(0, `, "pre_query": "SELECT SLEEP(0.3)", "post_query": "SELECT SLEEP(0.3)"`); timed > whole-sleeps {
		t.Errorf("%.3f s of %.3f s were timed, %.1f s of which are set-up: set-up must not be timed", timed, whole, sleeps)
	}
}

// A statement that fails is an error with its number and never a time.
func TestMysqlslapErrorIsNoNumber(t *testing.T) {
	srv := realServer(t)
	r := &record{}
	err := decode(t, "mysqlslap", `{"create": "CREATE TABLE x (a INT)", "query": "SELECT b FROM x", "concurrency": 4}`).Run(t.Context(), session(srv, r))
	if err == nil || !strings.Contains(err.Error(), "1054") || !strings.Contains(err.Error(), "SELECT b FROM x") {
		t.Errorf("%v", err)
	}
	if m := r.metric(t, "run_seconds"); m.Value != nil || m.Reason == "" {
		t.Errorf("a failed run has a time: %+v", m)
	}
	if n := r.value(t, "errors_total", "error", "1054"); n != 1 {
		t.Errorf("errors_total %g", n)
	}
	execute(t, srv, "DROP SCHEMA IF EXISTS mysqlslap")
}

// A run that is cancelled ends at once, in the middle of a statement.
func TestMysqlslapCancelled(t *testing.T) {
	srv := realServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err := decode(t, "mysqlslap", `{"create": "CREATE TABLE x (a INT)", "query": "SELECT SLEEP(30)", "concurrency": 4}`).Run(ctx, session(srv, &record{}))
	if err == nil || time.Since(begin) > 25*time.Second { // the statement would take 30
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
	execute(t, srv, "DROP SCHEMA IF EXISTS mysqlslap")
}
