package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// specification maps each row of the list by which an implementation of the classic generators is verified to the tests
// that hold us to it. The witness is the server's general log or its Com_ counters, and where the tool is a package of
// Debian's the tool itself on the same server.
var specification = []struct{ row, tests string }{
	{"0.4 complex, 1: statements of 3000 transactions", "TestLegacyCounts"},
	{"0.4 complex, 2: order of the statements, shared id, 101 ids", "TestLegacyFirstEvent TestLegacyEveryEvent"},
	{"0.4 complex, 3: read only, skip trx, simple, ten index updates", "TestLegacyCounts"},
	{"0.4 complex, 4: contention", "TestLegacyDeadlocks"},
	{"0.4 complex, 5: both published outputs", "TestLegacyPublishedCounts"},
	{"0.4 complex, 6: rows, ids and pad afterwards", "TestLegacyCounts TestLegacyFirstEvent"},
	{"0.4 complex, 7: what prepare makes", "TestLegacyPrepare"},
	{"0.4 complex, 8: table locks", "TestLegacyTableLocks"},
	{"0.4 complex, 9: default limit beside max-time, user delay", "TestLegacyCounts TestLegacyUserDelay"},
	{"distributions of 0.4 and the vector of 17 ids", "TestLegacyDistributions TestLegacyVector TestLegacyFirstEvent"},
	{"distributions of 1.0", "TestDistributions"},
	{"1.0, 10: statements and prepares of each script", "TestOLTPCounts"},
	{"1.0, 11: missing rows, contention", "TestOLTPMissingRowsAndContention"},
	{"1.0, 12: exact events, the load", "TestOLTPPrepareAndExactEvents"},
	{"1.0, 13: the scale of printed percentiles", "TestSysbenchGrid TestPrintedPercentiles"},
	{"1.0, 14: rates above and below capacity", "TestOpenLoopRate"},
	{"mysqlslap: the table of invocations", "TestMysqlslapCounts TestMysqlslapKeepsItsRows TestMysqlslapOwnStatements"},
	{"mysqlslap: number of inserts, what is timed", "TestMysqlslapLimitAndRows TestMysqlslapClock"},
	{"restore: checksums of every engine, six inserts, keys in the clock", "TestRestoreEngines TestRestoreFile"},
	{"TPC-C-like: rows, shares, rollbacks, remote, consistency", "TestTPCC"},
	{"insert benchmark: rows in and out, rates", "TestInsertBenchmark"},
	{"latency: a paused server, merged histograms", "TestPausedServer TestLatencyMerge TestPercentilesAreMerged"},
}

// TestSpecificationIsTested: every row names tests, and they are here.
func TestSpecificationIsTested(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	var source strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	for _, row := range specification {
		for _, test := range strings.Fields(row.tests) {
			if !strings.Contains(source.String(), "\nfunc "+test+"(t *testing.T) {") {
				t.Errorf("%s: there is no %s", row.row, test)
			}
		}
	}
}
