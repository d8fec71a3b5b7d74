package workload_test

import (
	"strings"
	"testing"
)

// K10, left-over and half-loaded tables: a second prepare fails with the server's number; reuse is asked for, and takes
// only tables that are all there with the rows the options say.
func TestLeftOverTables(t *testing.T) {
	srv := realServer(t)
	const options = `{"table_size": 2000, "tables": 2`
	oltpTables(t, srv, "oltp_read_write", options+`}`)
	prepare := func(more string) error {
		return decode(t, "oltp_read_write", options+more+`}`).Prepare(t.Context(), session(srv, &record{}))
	}
	if err := prepare(``); err == nil || !strings.Contains(err.Error(), "1050") {
		t.Errorf("a second prepare: %v", err)
	}
	if err := prepare(`, "reuse": true`); err != nil {
		t.Errorf("reuse of whole tables: %v", err)
	}
	execute(t, srv, "DELETE FROM sbtest.sbtest2 WHERE id > 1000")
	refused := func(what, options string, words ...string) {
		err := decode(t, "oltp_read_write", options).Prepare(t.Context(), session(srv, &record{}))
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q in it", what, err, w)
			}
		}
	}
	refused("half of a table", options+`, "reuse": true}`, "sbtest2", "1000 rows", "2000 are asked for")
	refused("another size", `{"table_size": 3000, "reuse": true}`, "sbtest1", "2000 rows", "3000 are asked for")

	// A run on a table that is not what its options say gives no valid number.
	err := decode(t, "oltp_read_only", `{"table_size": 2000, "tables": 2, "events": 10, "time": 0}`).Run(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "hold 3000 rows after the run, its statements must have left 4000") {
		t.Errorf("a run on half-loaded tables: %v", err)
	}
}
