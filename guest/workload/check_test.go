package workload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"platter/guest"
	"platter/results"
)

// Bad input is answered before a machine is made, with the number that is wrong and what to do.
func TestBadInput(t *testing.T) {
	place := Place{Flavour: "mariadb", MaxConnections: 151, MaxPrepared: 16382, DiskBytes: 1 << 30}
	vfat := Place{Flavour: "mysql", Filesystem: "vfat", MaxFileBytes: 1<<32 - 1}
	for _, c := range []struct {
		workload, options string
		place             Place
		want              string
	}{
		{"oltp_read_write", `{"percentile": 101}`, place, "percentile 101 is not one of 0 to 100"},
		{"oltp_legacy", `{"percentile": 101}`, place, "percentile 101 is not one of 1 to 100"},
		{"oltp_read_only", `{"range_size": 20000}`, place, "range_size 20000 is larger than the table's 10000 rows"},
		{"oltp_legacy", `{"oltp_table_size": 50}`, place, "oltp_range_size 100 is larger than the table's 50 rows"},
		{"oltp_read_write", `{"table_size": 100000000}`, place, "bytes are needed on disk, there are 1073741824"},
		{"oltp_legacy", `{"oltp_table_size": 100000000}`, place, "bytes are needed on disk"},
		{"restore", `{"dump_bytes": 100000000000}`, place, "bytes are needed on disk"},
		{"tpcc", `{"warehouses": 1000}`, place, "bytes are needed on disk"},
		{"insert", `{"rows": 1000000000}`, place, "bytes are needed on disk"},
		{"oltp_point_select", `{"threads": 151}`, place, "152 connections are needed, the server takes 151"},
		{"mysqlslap", `{"auto_generate_sql": true, "concurrency": "1,500"}`, place, "502 connections are needed, the server takes 151"},
		{"tpcc", `{"threads": 500}`, place, "501 connections are needed"},
		{"script", `{"statements": "SELECT 1", "threads": 500}`, place, "501 connections are needed"},
		{"oltp_read_write", `{"threads": 100, "tables": 20}`, place, "18200 prepared statements are needed, the server takes 16382"},
		{"oltp_read_write", `{"mysql_storage_engine": "bdb"}`, place, `engine "bdb" is not one of mariadb`},
		{"oltp_read_write", `{"mysql_storage_engine": "aria"}`, Place{Flavour: "mysql"}, `engine "aria" is not one of mysql`},
		{"mysqlslap", `{"auto_generate_sql": true, "engine": "innodb,rocksdb"}`, Place{Flavour: "mysql"}, `engine "rocksdb" is not one of mysql`},
		{"restore", `{"engine": "enodb"}`, place, `engine "enodb"`},
		{"tpcc", `{"engine": "columnstor"}`, place, `engine "columnstor"`},
		{"insert", `{"engine": "falcon"}`, place, `engine "falcon"`},
		{"oltp_read_write", `{"mysql_storage_engine": "rocksdb"}`, Place{Flavour: "mariadb", Engines: []string{"InnoDB", "MyISAM"}}, `engine "rocksdb" is not one of mariadb: InnoDB, MyISAM`},
		{"oltp_read_write", `{"table_size": 20000000}`, vfat, "vfat takes files of at most 4294967295"},
		{"oltp_legacy", `{"oltp_table_size": 20000000}`, vfat, "vfat takes files of at most 4294967295"},
	} {
		w, err := Decode(c.workload, json.RawMessage(c.options))
		if err != nil {
			t.Errorf("%s %s: %v", c.workload, c.options, err)
			continue
		}
		if text := fmt.Sprint(w.Check(c.place)); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s, want %q in it", c.workload, c.options, text, c.want)
		}
	}
}

// A run without events has no time, no rate and no percentile, and says why; what was counted is zero.
func TestZeroEventsIsNoNumber(t *testing.T) {
	var got []results.Metric
	s := &Session{Step: "run", Emit: func(m guest.Measurement) { got = append(got, m.Metrics...) }}
	if err := s.emitOLTP(outcome{seconds: 10, service: newLatency(), perEvent: []clientSum{{}, {}}}, 95, nil); err != nil {
		t.Fatal(err)
	}
	seen := map[string]results.Metric{}
	for _, m := range got {
		seen[m.Name] = m
	}
	for _, name := range []string{"run_seconds", "transactions_per_second", "queries_per_second", "requests_per_second", "latency_p50_seconds", "latency_p95_seconds",
		"latency_mean_seconds", "latency_minimum_seconds", "latency_maximum_seconds"} {
		if m, ok := seen[name]; !ok || m.Value != nil || m.Reason == "" {
			t.Errorf("%s of nothing: %+v", name, m)
		}
	}
	if m := seen["transactions_total"]; m.Value == nil || *m.Value != 0 {
		t.Errorf("transactions_total: %+v", m)
	}
	for _, m := range got {
		if (m.Value == nil) == (m.Reason == "") {
			t.Errorf("neither a number nor a reason, or both: %+v", m)
		}
	}
}

// K11, units and locale: options are plain JSON numbers in base units; text that looks like one in some tool's output or
// some country is refused with the option's name.
func TestNumbersAreNotGuessedAt(t *testing.T) {
	for _, text := range []string{`"999.9us"`, `"1.0ms"`, `"1.00 s"`, `"1 min 0.01 sec"`, `"1:02:03"`, `"12,5"`, `"1.234,5"`, `"4.0K"`, `"1,234.5"`, `"NaN"`, `true`, `[1]`} {
		if _, err := Decode("oltp_read_write", json.RawMessage(`{"time": `+text+`}`)); err == nil || !strings.Contains(err.Error(), `"time"`) {
			t.Errorf("time %s: %v, want it refused", text, err)
		}
	}
	w, err := Decode("oltp_read_write", json.RawMessage(`{"time": 1e-05}`))
	if err != nil || w.(*OLTP).Time != 0.00001 {
		t.Errorf("time 1e-05: %+v, %v", w, err)
	}
}
