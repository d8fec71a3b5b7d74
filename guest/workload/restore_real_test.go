package workload_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The restored tables have the same checksum for every engine, in 6 inserts, with the indexes built inside the clock.
func TestRestoreEngines(t *testing.T) {
	srv := realServer(t)
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS platter_restore") })
	sums := map[string]bool{}
	for _, engine := range []string{"innodb", "myisam", "aria"} {
		for _, more := range []string{``, `, "autocommit": false`} {
			var r *record
			w := witness(t, srv, func() { r = run(t, srv, "restore", `{"engine": "`+engine+`"`+more+`}`) })
			expect(t, w, map[string]int64{"Com_insert": 6, "Com_lock_tables": 1, "Com_unlock_tables": 1, "Com_alter_table": 2})
			if r.value(t, "rows_total") != 30000 || r.value(t, "restore_seconds") <= 0 || r.value(t, "restore_bytes") < 5.9e6 {
				t.Errorf("%s: rows %g, seconds %g, bytes %g", engine, r.value(t, "rows_total"), r.value(t, "restore_seconds"), r.value(t, "restore_bytes"))
			}
			for _, f := range r.Flags {
				if f.Name == "checksum" {
					sums[f.Detail] = true
				}
			}
			if n := one(t, srv, "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'platter_restore' AND index_name = 'k_1'"); n != 1 {
				t.Errorf("%s: no index on k", engine)
			}
		}
	}
	if len(sums) != 1 {
		t.Errorf("checksums differ between engines: %v", sums)
	}
}

// A dump that mariadb-dump made restores to the checksum of its source.
func TestRestoreFile(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_read_write", `{"table_size": 20000}`)
	t.Cleanup(func() { execute(t, srv, "DROP SCHEMA IF EXISTS platter_restore") })
	dump := filepath.Join(t.TempDir(), "dump.sql")
	out, err := exec.CommandContext(t.Context(), "mariadb-dump", "--no-defaults", "--user=root", "--socket="+srv.Socket(), "--result-file="+dump, "sbtest").CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-dump: %v\n%s", err, out)
	}
	run(t, srv, "restore", fmt.Sprintf(`{"file": %q}`, dump))
	if a, b := checksum(t, srv, "sbtest.sbtest1"), checksum(t, srv, "platter_restore.sbtest1"); a != b || a == "" {
		t.Errorf("checksum of the source %s, of the restored table %s", a, b)
	}
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dump, text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	err = decode(t, "restore", fmt.Sprintf(`{"file": %q}`, dump)).Run(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "middle of a statement") {
		t.Errorf("half a dump: %v", err)
	}
}
