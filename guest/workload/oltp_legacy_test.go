package workload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"platter/results"
)

// The two published outputs, to the digit: a run of that many events must count exactly what sysbench printed.
func TestLegacyPublishedCounts(t *testing.T) {
	for _, c := range []struct {
		name                         string
		options                      string
		transactions                 int64
		deadlocks                    int // each aborted at its 8th write: 24 writes in all
		reads, writes, others, total float64
		requests                     float64
	}{
		{"100002 transactions", `"max_requests": 100002`, 100002, 0, 1400028, 500010, 200004, 2100042, 1900038},
		{"800199 transactions, 3 deadlocks", `"max_requests": 800199, "oltp_index_updates": 10`, 800199, 3, 11202828, 11202810, 1600401, 24006039, 22405638},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := Decode("oltp_legacy", json.RawMessage(`{"mysql_engine_trx": "yes", "oltp_connect_delay": 0, "count_rows": false, "statement_latency": false, "oltp_dist_type": "uniform", `+c.options+`}`))
			if err != nil {
				t.Fatal(err)
			}
			left, writes := c.deadlocks, 0
			server := &fakeServer{answer: func(text string) error {
				switch text[0] {
				case 'B':
					writes = 0
				case 'U', 'D', 'I':
					if writes++; writes == 8 && left > 0 {
						left--
						return &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}
					}
				}
				return nil
			}}
			var metrics []results.Metric
			if err := w.Run(t.Context(), fakeSession(server, &metrics)); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]float64{"transactions_total": float64(c.transactions), "deadlocks_total": float64(c.deadlocks), "reads_total": c.reads,
				"writes_total": c.writes, "others_total": c.others, "queries_total": c.total} {
				if got := valueOf(metrics, name); got != want {
					t.Errorf("%s %.0f, want %.0f", name, got, want)
				}
			}
			if got := valueOf(metrics, "requests_per_second") * valueOf(metrics, "run_seconds"); int64(got+0.5) != int64(c.requests) {
				t.Errorf("read/write requests %.1f, want %.0f", got, c.requests)
			}
			if n := server.calls.Load(); n != int64(c.total) {
				t.Errorf("the server saw %d statements, want %.0f", n, c.total)
			}
		})
	}
}

// Any other error ends the run, names the statement, and leaves no number.
func TestLegacyOtherErrorEndsTheRun(t *testing.T) {
	w, err := Decode("oltp_legacy", json.RawMessage(`{"mysql_engine_trx": "yes", "oltp_connect_delay": 0}`))
	if err != nil {
		t.Fatal(err)
	}
	server := &fakeServer{answer: func(text string) error {
		if strings.HasPrefix(text, "INSERT") {
			return &mysql.MySQLError{Number: 1062, Message: "Duplicate entry"}
		}
		return nil
	}}
	var metrics []results.Metric
	err = w.Run(t.Context(), fakeSession(server, &metrics))
	if err == nil || !strings.Contains(err.Error(), "1062") || !strings.Contains(err.Error(), "INSERT INTO sbtest") {
		t.Errorf("%v", err)
	}
	for _, m := range metrics {
		if (m.Name == "run_seconds" || m.Name == "transactions_per_second") && (m.Value != nil || m.Reason == "") {
			t.Errorf("a failed run has %+v", m)
		}
	}
	if n := valueOf(metrics, "errors_total"); n != 1 {
		t.Errorf("errors_total %g", n)
	}
}

func TestLegacyCheck(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{"oltp_range_size": 20000}`, "oltp_range_size 20000 is larger than the table's 10000 rows"},
		{`{"percentile": 101}`, "percentile 101"},
		{`{"max_requests": 0}`, "never ends"},
		{`{"num_threads": 0}`, "num_threads is 0"},
		{`{"oltp_test_mode": "complicated"}`, "not one of complex, simple, nontrx, sp"},
		{`{"oltp_dist_res": 100}`, "0 to 99"},
		{`{"mysql_table_engine": "aria", "mysql_engine_trx": "perhaps"}`, "mysql_engine_trx"},
		{`{"mysql_table_engine": "csv"}`, "does not know engine"},
		{`{"mysql_table_engine": "bdb"}`, `engine "bdb" is not one of mariadb`},
		{`{"num_threads": 500}`, "501 connections are needed, the server takes 151"},
		{`{"oltp_table_size": 100000000}`, "bytes are needed on disk"},
		{`{"forced_shutdown": "soon"}`, "forced_shutdown"},
		{`{"oltp_test_mode": "sp"}`, "give oltp_sp_name"},
		{`{"oltp_user_delay_min": 10, "oltp_user_delay_max": 5}`, "oltp_user_delay_max is 5; it is 10 or more"},
	} {
		w, err := Decode("oltp_legacy", json.RawMessage(c.options))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(w.Check(Place{Flavour: "mariadb", MaxConnections: 151, DiskBytes: 1 << 30})); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %q in it", c.options, text, c.want)
		}
	}
	w, err := Decode("oltp_legacy", json.RawMessage(`{"oltp_table_size": 20000000}`))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(w.Check(Place{Flavour: "mysql", Filesystem: "vfat", MaxFileBytes: 1<<32 - 1})); !strings.Contains(text, "vfat takes files of at most 4294967295") {
		t.Errorf("a table over vfat's limit: %s", text)
	}
}
