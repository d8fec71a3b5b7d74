package workload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"platter/guest/server"
)

// ownServer is a server of one test, which may be hurt.
func ownServer(t *testing.T, options map[string]string) *server.Server {
	t.Helper()
	realServer(t) // for the skip
	dir, err := os.MkdirTemp("", "platter-workload-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "fs"), 0o755); err != nil {
		t.Fatal(err)
	}
	srv, err := startServer(dir, options)
	if srv != nil {
		t.Cleanup(func() { srv.Close() })
	}
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

func prepareOn(t *testing.T, srv *server.Server, name, options string) {
	t.Helper()
	if err := decode(t, name, options).Prepare(t.Context(), session(srv, &record{})); err != nil {
		t.Fatal(err)
	}
}

// A server that dies in the middle of a run ends the run within a second, and the error says how it died.
func TestServerKilledDuringRun(t *testing.T) {
	srv := ownServer(t, nil)
	prepareOn(t, srv, "oltp_read_write", `{"table_size": 1000}`)
	for _, c := range []struct{ name, workload, options string }{
		{"closed", "oltp_read_write", `{"table_size": 1000, "time": 60, "threads": 8}`},
		{"open", "oltp_read_write", `{"table_size": 1000, "time": 60, "threads": 8, "rate": 20}`},
		{"mysqlslap", "mysqlslap", `{"auto_generate_sql": true, "concurrency": 4, "number_of_queries": 1000000}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &record{}
			killed := make(chan time.Time, 1)
			time.AfterFunc(500*time.Millisecond, func() {
				killed <- time.Now()
				syscall.Kill(srv.PID(), syscall.SIGKILL)
			})
			err := decode(t, c.workload, c.options).Run(t.Context(), session(srv, r))
			took := time.Since(<-killed)
			if took > time.Second {
				t.Errorf("seen %v after the kill", took)
			}
			var exit *server.ExitError
			if !errors.As(err, &exit) || exit.Signal != "SIGKILL" {
				t.Errorf("%v", err)
			}
			for _, m := range r.Metrics {
				if (m.Name == "run_seconds" || strings.HasSuffix(m.Name, "_per_second")) && m.Value != nil {
					t.Errorf("a run that was cut short has %s = %g", m.Name, *m.Value)
				}
			}
			if err := srv.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A run that is cancelled ends at once and leaves no number.
func TestOLTPCancelled(t *testing.T) {
	srv := realServer(t)
	oltpTables(t, srv, "oltp_read_write", `{"table_size": 1000}`)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err := decode(t, "oltp_read_write", `{"table_size": 1000, "time": 60, "threads": 8}`).Run(ctx, session(srv, &record{}))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// forced_shutdown ends a run whose last events hang.
func TestForcedShutdown(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 1000, "")
	db := open(t, srv)
	if _, err := db.Exec("LOCK TABLES sbtest.sbtest WRITE"); err != nil {
		t.Fatal(err)
	}
	defer db.Exec("UNLOCK TABLES")
	begin := time.Now()
	err := decode(t, "oltp_legacy", `{"oltp_table_size": 1000, "mysql_engine_trx": "yes", "max_time": 1, "max_requests": 0, "forced_shutdown": "50%"}`).Run(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "forced shutdown") || time.Since(begin) > 4*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// Coordinated omission: a server stopped for P seconds under λ requests a second delays about λ·P responses, spread evenly
// up to P, in an open loop; a closed loop sees as many as it has clients.
func TestPausedServer(t *testing.T) {
	srv := ownServer(t, nil)
	prepareOn(t, srv, "oltp_point_select", `{"table_size": 1000}`)
	const p, rate, clients = 1.0, 100.0, 4
	slow := func(options string, above time.Duration) (slow int, r *record) {
		r = &record{}
		time.AfterFunc(time.Second, func() {
			syscall.Kill(srv.PID(), syscall.SIGSTOP)
			time.Sleep(time.Duration(p * float64(time.Second)))
			syscall.Kill(srv.PID(), syscall.SIGCONT)
		})
		if err := decode(t, "oltp_point_select", options).Run(t.Context(), session(srv, r)); err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Histograms {
			if h.Operation == "transaction" && (h.Kind == "response" || !strings.Contains(options, "rate")) {
				slow = countAbove(t, h.Encoded, above)
			}
		}
		return slow, r
	}
	n, r := slow(`{"table_size": 1000, "time": 4, "threads": 4, "rate": 100}`, 50*time.Millisecond)
	if want := rate * (p - 0.05); float64(n) < 0.7*want || float64(n) > 1.4*want {
		t.Errorf("open loop: %d delayed responses, want about %.0f", n, want)
	}
	if most := r.value(t, "latency_maximum_seconds", "operation", "transaction", "kind", "response"); most < 0.9*p || most > 1.3*p {
		t.Errorf("open loop: longest response %.3f s, want about %.1f s", most, p)
	}
	n, _ = slow(`{"table_size": 1000, "time": 4, "threads": 4}`, 500*time.Millisecond)
	if n < 1 || n > clients {
		t.Errorf("closed loop: %d delayed events of %d clients", n, clients)
	}
}

// Limits of the server that the clients hit: the run fails with the server's number, and no client works alone.
func TestServerLimits(t *testing.T) {
	srv := ownServer(t, map[string]string{"max_connections": "10", "max_prepared_stmt_count": "20"})
	prepareOn(t, srv, "oltp_read_write", `{"table_size": 1000}`)
	for options, number := range map[string]string{`{"table_size": 1000, "time": 5, "threads": 4}`: "1461", `{"table_size": 1000, "time": 5, "threads": 32, "db_ps_mode": "disable"}`: "1040"} {
		r := &record{}
		err := decode(t, "oltp_read_write", options).Run(t.Context(), session(srv, r))
		if err == nil || !strings.Contains(err.Error(), number) {
			t.Errorf("%s: %v, want error %s", options, err, number)
		}
		if m := r.metric(t, "run_seconds"); m.Value != nil {
			t.Errorf("%s: a time of %g", options, *m.Value)
		}
	}
}
