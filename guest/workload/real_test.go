package workload_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"database/sql"

	"platter/guest"
	"platter/guest/server"
	"platter/guest/workload"
	"platter/results"
)

var vm = flag.Bool("vm", false, "run tests that need an installed database server and root")

// shared is the server of all tests of this package: MariaDB of this machine's package on a private data directory.
var shared struct {
	sync.Once
	server *server.Server
	dir    string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range []*server.Server{shared.server, victim.server} {
		if s != nil {
			s.Close()
		}
	}
	for _, dir := range []string{shared.dir, victim.dir} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// realServer starts the shared server once. It is tuned for tests of counts, not of speed.
func realServer(t *testing.T) *server.Server {
	t.Helper()
	if !*vm {
		t.Skip("needs -vm: Debian's mariadb-server package on this machine, and root")
	}
	shared.Do(func() {
		shared.dir, shared.err = os.MkdirTemp("", "platter-workload-")
		if shared.err == nil {
			shared.err = os.Chmod(shared.dir, 0o755)
		}
		if shared.err == nil {
			shared.err = os.Mkdir(filepath.Join(shared.dir, "fs"), 0o755)
		}
		if shared.err == nil {
			shared.server, shared.err = startServer(shared.dir, map[string]string{"innodb-flush-log-at-trx-commit": "0"})
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

var serverRoot = flag.String("server-root", "", "run the database out of this unpacked server image instead of this machine's package")

func startServer(dir string, options map[string]string) (*server.Server, error) {
	ctx := context.Background()
	needs := server.Needs{Connections: 300, PreparedStatements: 40000}
	if options["max_connections"] != "" || options["max_prepared_stmt_count"] != "" {
		needs = server.Needs{} // the test is about too low a limit
	}
	s, err := server.Prepare(ctx, server.Config{Root: *serverRoot, MountPoint: filepath.Join(dir, "fs"), RunDir: filepath.Join(dir, "run"), Options: options, Needs: needs})
	if err != nil {
		return nil, err
	}
	if err := s.Init(ctx); err != nil {
		return s, err
	}
	return s, s.Start(ctx)
}

// record is what a session emitted.
type record struct {
	guest.Measurement
	samples []workload.Sample
	logs    []guest.Log
}

func session(srv *server.Server, r *record) *workload.Session {
	return &workload.Session{Connect: srv.Connect, Exited: srv.Exited(), ExitErr: srv.ExitErr, Seed: 7, Step: "run", Flavour: srv.Product().Flavour,
		Emit: func(m guest.Measurement) {
			for _, one := range m.Metrics {
				if _, known := results.LookupMetric(one.Name); !known {
					panic(one.Name + " is not in results/registry.go")
				}
			}
			r.Metrics = append(r.Metrics, m.Metrics...)
			r.Histograms = append(r.Histograms, m.Histograms...)
			r.Flags = append(r.Flags, m.Flags...)
		},
		Sample: func(s workload.Sample) { r.samples = append(r.samples, s) },
		Log:    func(l guest.Log) { r.logs = append(r.logs, l) }}
}

func decode(t *testing.T, name, options string) workload.Workload {
	t.Helper()
	w, err := workload.Decode(name, json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	if errs := w.Check(workload.Place{Flavour: "mariadb"}); errs != nil {
		t.Fatal(errs)
	}
	return w
}

// value finds the one metric of that name whose labels include those given.
func (r *record) value(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	m := r.metric(t, name, labels...)
	if m.Value == nil {
		t.Fatalf("%s %v has no value: %s", name, labels, m.Reason)
	}
	return *m.Value
}

func (r *record) metric(t *testing.T, name string, labels ...string) results.Metric {
	t.Helper()
	var found []results.Metric
	for _, m := range r.Metrics {
		ok := m.Name == name
		for i := 0; i+1 < len(labels); i += 2 {
			ok = ok && m.Labels[labels[i]] == labels[i+1]
		}
		if ok {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d metrics %s %v, want one: %v", len(found), name, labels, found)
	}
	return found[0]
}

// counters reads the server's own counters, the witness of what was sent.
func counters(t *testing.T, srv *server.Server) map[string]int64 {
	t.Helper()
	db := open(t, srv)
	rows, err := db.Query("SHOW GLOBAL STATUS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			out[name] = n
		}
	}
	return out
}

// witness returns how much each counter grew during f.
func witness(t *testing.T, srv *server.Server, f func()) map[string]int64 {
	t.Helper()
	before := counters(t, srv)
	f()
	after := maps.Clone(counters(t, srv))
	for name := range after {
		after[name] -= before[name]
	}
	return after
}

func open(t *testing.T, srv *server.Server) *sql.DB {
	t.Helper()
	db, err := srv.DB(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func one(t *testing.T, srv *server.Server, query string) int64 {
	t.Helper()
	var n int64
	if err := open(t, srv).QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func execute(t *testing.T, srv *server.Server, statements ...string) {
	t.Helper()
	db := open(t, srv)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func expect(t *testing.T, got map[string]int64, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: the server counted %d, want %d", name, got[name], n)
		}
	}
}

// clientConnects is the connections a witnessed load opened: the two readings of the counters open one each, the second
// of them inside the difference.
func clientConnects(w map[string]int64) int64 { return w["Connections"] - 1 }

func run(t *testing.T, srv *server.Server, name, options string) *record {
	t.Helper()
	r := &record{}
	if err := decode(t, name, options).Run(t.Context(), session(srv, r)); err != nil {
		t.Fatalf("%s %s: %v", name, options, err)
	}
	return r
}

func label(n int) string { return fmt.Sprint(n) }

func checksum(t *testing.T, srv *server.Server, table string) string {
	t.Helper()
	var name, sum string
	if err := open(t, srv).QueryRow("CHECKSUM TABLE "+table).Scan(&name, &sum); err != nil {
		t.Fatal(err)
	}
	return sum
}
