package workload_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"platter/guest/server"
	"platter/guest/workload"
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

// victim is a second server, which tests may hurt; each leaves it running.
var victim struct {
	sync.Once
	server *server.Server
	dir    string
	err    error
}

func victimServer(t *testing.T) *server.Server {
	t.Helper()
	realServer(t) // for the skip
	victim.Do(func() {
		if victim.dir, victim.err = os.MkdirTemp("", "platter-workload-"); victim.err != nil {
			return
		}
		if victim.err = errors.Join(os.Chmod(victim.dir, 0o755), os.Mkdir(filepath.Join(victim.dir, "fs"), 0o755)); victim.err == nil {
			victim.server, victim.err = startServer(victim.dir, nil)
		}
	})
	if victim.err != nil {
		t.Fatal(victim.err)
	}
	execute(t, victim.server, "DROP SCHEMA IF EXISTS sbtest")
	return victim.server
}

func prepareOn(t *testing.T, srv *server.Server, name, options string) {
	t.Helper()
	if err := decode(t, name, options).Prepare(t.Context(), session(srv, &record{})); err != nil {
		t.Fatal(err)
	}
}

// A server that dies in the middle of a run ends the run at once (the log tells how soon: well within a second where the
// machine is not overloaded), and the error says how it died and quotes the end of its log.
func TestServerKilledDuringRun(t *testing.T) {
	srv := victimServer(t)
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
			t.Logf("seen %v after the kill", took.Round(time.Millisecond))
			if took > 30*time.Second { // a run of 60 s
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
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 30*time.Second { // of 60
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
	begin := time.Now() // without it the run would wait for the lock, which is never given back
	err := decode(t, "oltp_legacy", `{"oltp_table_size": 1000, "mysql_engine_trx": "yes", "max_time": 1, "max_requests": 0, "forced_shutdown": "50%"}`).Run(t.Context(), session(srv, &record{}))
	if err == nil || !strings.Contains(err.Error(), "forced shutdown") {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// Coordinated omission: a server stopped for P seconds under λ requests a second delays about λ·P responses, spread evenly
// up to P, in an open loop; a closed loop sees as many as it has clients. A busy machine can only add to the delays, so
// only too few and too short ones are faults. The stop is listed as a stall.
func TestPausedServer(t *testing.T) {
	srv := victimServer(t)
	prepareOn(t, srv, "oltp_point_select", `{"table_size": 1000}`)
	const rate, clients = 100.0, 4
	pause := 3 * time.Second
	paused := func(options string) (histogram string, p float64, r *record) {
		r = &record{}
		s := session(srv, r)
		var once sync.Once
		done := make(chan float64, 1)
		s.Sample = func(workload.Sample) {
			once.Do(func() { // the run is under way
				begin := time.Now()
				syscall.Kill(srv.PID(), syscall.SIGSTOP)
				time.AfterFunc(pause, func() {
					done <- time.Since(begin).Seconds()
					syscall.Kill(srv.PID(), syscall.SIGCONT)
				})
			})
		}
		if err := decode(t, "oltp_point_select", options).Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Histograms {
			if h.Operation == "transaction" && (h.Kind == "response" || !strings.Contains(options, "rate")) {
				histogram = h.Encoded
			}
		}
		return histogram, <-done, r
	}
	h, p, r := paused(`{"table_size": 1000, "time": 6, "threads": 4, "rate": 100}`)
	for _, share := range []float64{0.05, 0.5, 0.75} { // evenly: as many responses as planned starts in the rest of the pause
		n, want := countAbove(t, h, time.Duration(share*p*float64(time.Second))), rate*p*(1-share)
		if float64(n) < want-5*math.Sqrt(want) {
			t.Errorf("open loop: %d responses over %.2f of the pause, want about %.0f", n, share, want)
		}
	}
	if most := r.value(t, "latency_maximum_seconds", "operation", "transaction", "kind", "response"); most < 0.9*p {
		t.Errorf("open loop: longest response %.3f s, the pause was %.3f s", most, p)
	}
	if !strings.Contains(fmt.Sprint(r.Flags), "no event ended during") {
		t.Errorf("the stall is not listed: %v", r.Flags)
	}
	h, p, _ = paused(`{"table_size": 1000, "time": 5, "threads": 4}`)
	if n := countAbove(t, h, time.Duration(0.9*p*float64(time.Second))); n < 1 || n > clients {
		t.Errorf("closed loop: %d delayed events of %d clients", n, clients)
	}
}

// A server that is restarted inside the window is no server under test any more: the run fails with its end, whatever
// errors are to be ignored, and has no number.
func TestRestartInsideTheWindow(t *testing.T) {
	srv := victimServer(t)
	prepareOn(t, srv, "oltp_read_write", `{"table_size": 1000}`)
	r := &record{}
	s := session(srv, r)
	restarted := make(chan error, 1)
	var once sync.Once
	s.Sample = func(workload.Sample) {
		once.Do(func() { go func() { restarted <- srv.Restart(context.Background()) }() })
	}
	err := decode(t, "oltp_read_write", `{"table_size": 1000, "time": 300, "threads": 4, "mysql_ignore_errors": "all"}`).Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "server") {
		t.Errorf("a run over a restart: %v", err)
	}
	for _, m := range r.Metrics {
		if (m.Name == "run_seconds" || strings.HasSuffix(m.Name, "_per_second")) && (m.Value != nil || m.Reason == "") {
			t.Errorf("a run over a restart has %+v", m)
		}
	}
	if err := <-restarted; err != nil {
		t.Fatal(err)
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
