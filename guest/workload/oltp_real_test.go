package workload_test

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"platter/guest/server"
)

// oltpTables prepares the tables of a 1.0 workload in a fresh schema.
func oltpTables(t *testing.T, srv *server.Server, name, options string) *record {
	t.Helper()
	execute(t, srv, "DROP SCHEMA IF EXISTS sbtest")
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS sbtest") })
	r := &record{}
	if err := decode(t, name, options).Prepare(t.Context(), session(srv, r)); err != nil {
		t.Fatal(err)
	}
	return r
}

// Row 10: statements of one event of each script, and what is prepared; the same by sysbench itself.
func TestOLTPCounts(t *testing.T) {
	srv := realServer(t)
	const events = 300
	for _, c := range []struct {
		name                  string
		options               string
		reads, writes, others float64
		prepares              int64
	}{
		{"oltp_read_write", ``, 14, 4, 2, 11},
		{"oltp_read_only", ``, 14, 0, 2, 7},
		{"oltp_write_only", ``, 0, 4, 2, 6},
		{"oltp_point_select", ``, 1, 0, 0, 1},
		{"oltp_update_index", ``, 0, 1, 0, 1},
		{"oltp_update_non_index", ``, 0, 1, 0, 1},
		{"oltp_insert", ``, 0, 1, 0, 0},
		{"oltp_read_write", `, "skip_trx": true, "range_selects": false, "rand_type": "uniform"`, 10, 4, 0, 5},
		{"oltp_read_write", `, "tables": 3`, 14, 4, 2, 29},
		{"oltp_read_write", `, "db_ps_mode": "disable"`, 14, 4, 2, 0},
	} {
		t.Run(c.name+c.options, func(t *testing.T) {
			oltpTables(t, srv, c.name, `{"table_size": 10000`+c.options+`}`)
			var r *record
			w := witness(t, srv, func() {
				r = run(t, srv, c.name, fmt.Sprintf(`{"events": %d, "time": 0, "threads": 1, "count_rows": false%s}`, events, c.options))
			})
			for name, want := range map[string]float64{"transactions_total": events, "reads_total": events * c.reads, "writes_total": events * c.writes, "others_total": events * c.others} {
				if got := r.value(t, name); got != want {
					t.Errorf("%s %g, want %g", name, got, want)
				}
			}
			if w["Com_stmt_prepare"] != c.prepares {
				t.Errorf("%d prepares, want %d", w["Com_stmt_prepare"], c.prepares)
			}
			theirs := witness(t, srv, func() { sysbench(t, srv, c.name, c.options, "--events="+label(events), "--time=0", "--threads=1") })
			for _, name := range []string{"Com_select", "Com_update", "Com_delete", "Com_insert", "Com_begin", "Com_commit", "Com_rollback", "Com_stmt_prepare", "Connections"} {
				if w[name] != theirs[name] {
					t.Errorf("%s: ours %d, sysbench's %d", name, w[name], theirs[name])
				}
			}
		})
	}
}

// sysbench runs the tool itself with our options in its words.
func sysbench(t *testing.T, srv *server.Server, script, options string, more ...string) string {
	t.Helper()
	args := []string{script, "--mysql-user=root", "--mysql-socket=" + srv.Socket()}
	if script != "bulk_insert" {
		args = append(args, "--table-size=10000")
	}
	for _, m := range regexp.MustCompile(`"(\w+)": "?(\w+)"?`).FindAllStringSubmatch(options, -1) {
		args = append(args, "--"+strings.ReplaceAll(m[1], "_", "-")+"="+m[2])
	}
	out, err := exec.CommandContext(t.Context(), "sysbench", append(append(args, more...), "run")...).CombinedOutput()
	if err != nil {
		t.Fatalf("sysbench %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Row 12: the load, and the exact number of events at any number of threads.
func TestOLTPPrepareAndExactEvents(t *testing.T) {
	srv := realServer(t)
	execute(t, srv, "DROP SCHEMA IF EXISTS sbtest")
	var r *record
	w := witness(t, srv, func() { r = oltpTables(t, srv, "oltp_read_write", `{"table_size": 10000}`) })
	expect(t, w, map[string]int64{"Com_insert": 4, "Com_create_index": 1})
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM sbtest.sbtest1": 10000,
		"SELECT COUNT(*) FROM sbtest.sbtest1 WHERE LENGTH(c) = 119 AND c REGEXP '^[0-9]{11}(-[0-9]{11}){9}$'":    10000,
		"SELECT COUNT(*) FROM sbtest.sbtest1 WHERE LENGTH(pad) = 59 AND pad REGEXP '^[0-9]{11}(-[0-9]{11}){4}$'": 10000,
	} {
		if got := one(t, srv, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if mean, dev := one(t, srv, "SELECT ROUND(AVG(k)) FROM sbtest.sbtest1"), one(t, srv, "SELECT ROUND(STD(k)) FROM sbtest.sbtest1"); math.Abs(float64(mean-5011)) > 30 || math.Abs(float64(dev-425)) > 30 {
		t.Errorf("k has mean %d and deviation %d; want about 5011 and 431: it is drawn like ids are", mean, dev)
	}
	if r.value(t, "load_seconds") <= 0 || r.value(t, "rows_total") != 10000 {
		t.Error("load not reported")
	}
	for _, threads := range []int{1, 7, 64} {
		r := run(t, srv, "oltp_point_select", fmt.Sprintf(`{"events": 1003, "time": 0, "threads": %d}`, threads))
		if got := r.value(t, "transactions_total"); got != 1003 {
			t.Errorf("%d threads: %g events, want 1003", threads, got)
		}
		sum := r.value(t, "events_per_thread_mean_total") * float64(threads)
		if math.Abs(sum-1003) > 1e-6 {
			t.Errorf("events of the threads add up to %g", sum)
		}
	}
}

// A select that finds nothing, by a statement that ran before, ends; so does one of a whole empty range.
func TestSelectsOfMissingRows(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_read_only", `{"table_size": 10000}`)
	execute(t, srv, "DELETE FROM sbtest.sbtest1 WHERE id > 100")
	r := run(t, srv, "oltp_read_only", `{"events": 50, "time": 0, "count_rows": false}`)
	if got := r.value(t, "reads_total"); got != 14*50 {
		t.Errorf("reads %g", got)
	}
}

// Row 11: rows that are missing make writes count as others; contention follows the rules of ignored errors.
func TestOLTPMissingRowsAndContention(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_read_write", `{"table_size": 10000}`)
	execute(t, srv, "DELETE FROM sbtest.sbtest1 WHERE id BETWEEN 5000 AND 5020")
	const events = 400
	r := run(t, srv, "oltp_read_write", `{"events": 400, "time": 0, "count_rows": false}`)
	writes, others := r.value(t, "writes_total"), r.value(t, "others_total")
	if writes >= 4*events || writes+others != 6*events {
		t.Errorf("writes %g, others %g; want fewer than %d writes and %d in all", writes, others, 4*events, 6*events)
	}

	const many = 2000
	w := witness(t, srv, func() {
		r = run(t, srv, "oltp_read_write", `{"events": 2000, "time": 0, "threads": 16, "index_updates": 10, "count_rows": false}`)
	})
	d := r.value(t, "deadlocks_total")
	if d == 0 {
		t.Fatal("no deadlock happened: the test shows nothing")
	}
	expect(t, w, map[string]int64{"Com_begin": many + int64(d), "Com_commit": many, "Com_rollback": 0})
	if got := r.value(t, "reads_total"); got != 14*(many+d) {
		t.Errorf("reads %g, want 14*(%d+%g)", got, many, d)
	}
}

// Deletes and inserts leave as many rows as they say.
func TestOLTPRowsAfterwards(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_delete", `{"table_size": 1000, "range_size": 10}`)
	r := run(t, srv, "oltp_delete", `{"table_size": 1000, "range_size": 10, "events": 300, "time": 0, "threads": 3}`)
	if got, want := r.value(t, "rows_total"), 1000-r.value(t, "writes_total"); got != want || r.value(t, "writes_total")+r.value(t, "others_total") != 300 {
		t.Errorf("%g rows, want %g", got, want)
	}
	for _, options := range []string{``, `, "auto_inc": false`} {
		oltpTables(t, srv, "oltp_insert", `{"table_size": 1000, "range_size": 10`+options+`}`)
		before := one(t, srv, "SELECT COUNT(*) FROM sbtest.sbtest1")
		r := run(t, srv, "oltp_insert", `{"table_size": 1000, "range_size": 10, "events": 500, "time": 0, "threads": 4`+options+`}`)
		if got := r.value(t, "rows_total"); got != float64(before+500) || options != "" && before != 0 {
			t.Errorf("%s: %g rows after 500 inserts into %d", options, got, before)
		}
	}
}

// A bulk insert packs its rows into as few statements as sysbench itself does.
func TestBulkInsert(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "bulk_insert", `{}`)
	var r *record
	ours := witness(t, srv, func() { r = run(t, srv, "bulk_insert", `{"events": 100000, "time": 0}`) })
	if r.value(t, "writes_total") != float64(ours["Com_insert"]) || r.value(t, "rows_total") != 100000 || r.value(t, "transactions_total") != 100000 {
		t.Errorf("writes %g rows %g events %g", r.value(t, "writes_total"), r.value(t, "rows_total"), r.value(t, "transactions_total"))
	}
	execute(t, srv, "TRUNCATE TABLE sbtest.sbtest1")
	theirs := witness(t, srv, func() { sysbench(t, srv, "bulk_insert", "", "--events=100000", "--time=0") })
	if ours["Com_insert"] != theirs["Com_insert"] || ours["Com_insert"] < 3 {
		t.Errorf("%d inserts, sysbench's %d", ours["Com_insert"], theirs["Com_insert"])
	}
}

// Row 14: an open loop below capacity plans rate·time events, within what chance allows, and begins them all or says so;
// far above it is "not sustained", and its response times grow through the run: the event that began last waited for all
// that is missing of the plan.
func TestOpenLoopRate(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_point_select", `{"table_size": 10000}`)
	r := run(t, srv, "oltp_point_select", `{"rate": 200, "time": 4, "threads": 8}`)
	planned, missed, n := r.value(t, "planned_total"), r.value(t, "missed_total"), r.value(t, "transactions_total")
	if math.Abs(planned-800) > 4*math.Sqrt(800) || n+missed != planned {
		t.Errorf("%g events of %g planned at 200/s over 4 s, %g missed", n, planned, missed)
	}
	unsustained := strings.Contains(fmt.Sprint(r.Flags), "not_sustained") // where the machine is busy
	if m := r.metric(t, "latency_p50_seconds", "operation", "transaction", "kind", "response"); (m.Value == nil) != unsustained || unsustained != (missed > 0.01*planned) {
		t.Errorf("%g missed of %g, flags %v, %+v", missed, planned, r.Flags, m)
	}

	r = run(t, srv, "oltp_read_write", `{"rate": 20000, "time": 3, "threads": 2, "count_rows": false}`)
	flags := fmt.Sprint(r.Flags)
	if !strings.Contains(flags, "not_sustained") {
		t.Errorf("flags %s", flags)
	}
	if m := r.metric(t, "latency_p95_seconds", "operation", "transaction", "kind", "response"); m.Value != nil || !strings.Contains(m.Reason, "not sustained") {
		t.Errorf("an unsustained rate has a percentile: %+v", m)
	}
	longest := r.value(t, "latency_maximum_seconds", "operation", "transaction", "kind", "response")
	if want := r.value(t, "run_seconds") - r.value(t, "transactions_total")/20000; math.Abs(longest-want) > 0.1*want {
		t.Errorf("the longest response is %.3f s, the plan was %.3f s ahead", longest, want)
	}
	if mean, service := r.value(t, "latency_mean_seconds", "operation", "transaction", "kind", "response"), r.value(t, "latency_mean_seconds", "operation", "transaction", "kind", "service"); mean < 5*service || mean > longest {
		t.Errorf("mean response %.3f s, service %.3f s: the wait is missing", mean, service)
	}
}

// A run bound by time goes on for its time, and its series adds up to its total as far as it reaches.
func TestSeries(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_point_select", `{"table_size": 10000}`)
	r := run(t, srv, "oltp_point_select", `{"time": 3, "threads": 2}`)
	if s := r.value(t, "run_seconds"); s < 3 {
		t.Errorf("ran %.3f s", s)
	}
	var sum, last float64
	for _, x := range r.samples {
		if x.Seconds <= last {
			t.Errorf("a sample at %g s after one at %g s", x.Seconds, last)
		}
		sum += x.Values["transactions_per_second"] * (x.Seconds - last)
		last = x.Seconds
	}
	total := r.value(t, "transactions_total")
	if covered := last / r.value(t, "run_seconds"); sum > total+0.5 || sum < 0.2*covered*total || math.Abs(sum-math.Round(sum)) > 1e-3 {
		t.Errorf("the series of %d samples adds up to %.3f over %.2f of the run, the total is %.0f", len(r.samples), sum, covered, total)
	}
}
