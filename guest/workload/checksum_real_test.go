package workload_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"platter/guest/workload"
)

// Where the workload keeps its tables' content, CHECKSUM TABLE is the same before and after; where it writes, both are
// recorded. A change under a run that only reads makes it invalid.
func TestChecksumAroundRuns(t *testing.T) {
	srv := realServer(t)
	sums := func(r *record) (before, after string) {
		for _, f := range r.Flags {
			if m := regexp.MustCompile(`^sbtest\.sbtest1? (\d+) before the run, (\d+) after it$`).FindStringSubmatch(f.Detail); f.Name == "checksum" && m != nil {
				return m[1], m[2]
			}
		}
		t.Fatalf("no checksums among the flags %v", r.Flags)
		return "", ""
	}
	oltpTables(t, srv, "oltp_read_write", `{"table_size": 1000}`)
	const options = `{"table_size": 1000, "events": 50, "time": 0, "checksum": true}`
	for name, same := range map[string]bool{"oltp_read_only": true, "oltp_point_select": true, "oltp_update_index": false} {
		before, after := sums(run(t, srv, name, options))
		if (before == after) != same || after != checksum(t, srv, "sbtest.sbtest1") {
			t.Errorf("%s: %s before, %s after, the server says %s", name, before, after, checksum(t, srv, "sbtest.sbtest1"))
		}
	}

	// The second connection is the first client's, after the checksums were taken.
	r := &record{}
	s := session(srv, r)
	connections := 0
	s.Connect = func(ctx context.Context, schema string) (driver.Conn, error) {
		if connections++; connections == 2 {
			execute(t, srv, "UPDATE sbtest.sbtest1 SET k = k + 1 WHERE id = 1")
		}
		return srv.Connect(ctx, schema)
	}
	var invalid *workload.InvalidError
	if err := decode(t, "oltp_read_only", options).Run(t.Context(), s); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "CHECKSUM TABLE") {
		t.Errorf("a table that changed under a run that only reads: %v", err)
	}

	legacyTable(t, srv, 1000, "")
	before, after := sums(run(t, srv, "oltp_legacy", `{"oltp_connect_delay": 0, "oltp_table_size": 1000, "max_requests": 50, "oltp_read_only": true, "checksum": true}`))
	if before != after {
		t.Errorf("oltp_legacy, read only: %s before, %s after", before, after)
	}
}

// Row 13: a percentile sysbench itself prints lies on the scale 0.001·rⁱ ms to two decimals, and so does ours beside it.
func TestPrintedPercentiles(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_point_select", `{"table_size": 10000}`)
	onScale := func(ms float64) bool {
		r := math.Exp(math.Log(1e8) / 1023)
		near := math.Round(math.Log(ms/0.001) / math.Log(r))
		for i := near - 5; i <= near+5; i++ { // two decimals of a small value fit several
			if fmt.Sprintf("%.2f", 0.001*math.Pow(r, i)) == fmt.Sprintf("%.2f", ms) {
				return true
			}
		}
		return false
	}
	for _, p := range []int{50, 95, 99} {
		out := sysbench(t, srv, "oltp_read_write", `{"skip_trx": "on"}`, "--events=300", "--time=0", fmt.Sprintf("--percentile=%d", p))
		m := regexp.MustCompile(`percentile: +([\d.]+)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatal(out)
		}
		if theirs, err := strconv.ParseFloat(m[1], 64); err != nil || !onScale(theirs) {
			t.Errorf("sysbench printed %s ms, which is not on the scale", m[1])
		}
		r := run(t, srv, "oltp_read_write", fmt.Sprintf(`{"events": 300, "time": 0, "percentile": %d, "skip_trx": true}`, p))
		ours := r.value(t, "printed_percentile_seconds")
		if i := math.Log(ours/1e-6) / (math.Log(1e8) / 1023); math.Abs(i-math.Round(i)) > 1e-6 {
			t.Errorf("p%d: %g s is not on the scale", p, ours)
		}
		if exact := r.metric(t, fmt.Sprintf("latency_p%d_seconds", p), "operation", "transaction"); exact.Value != nil && math.Abs(ours / *exact.Value - 1) > 0.02 {
			t.Errorf("p%d: printed %g s, exact %g s", p, ours, *exact.Value)
		}
	}
}
