package workload_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"platter/guest/server"
	"platter/guest/workload"
)

var (
	generator        = flag.Bool("generator", false, "compare this generator with sysbench and mariadb-slap on one server (minutes; wants a quiet machine)")
	generatorThreads = flag.Int("generator-threads", 4, "clients on each side of the comparison")
	generatorRounds  = flag.Int("generator-rounds", 21, "rounds of the comparison; each runs both sides, in turn first")
)

// effort is what one side of a round did and took.
type effort struct {
	perSecond    float64
	transactions float64
	cpuSeconds   float64 // of the client, its start included
}

// side runs a workload with this many clients, for seconds or events; 0 is no limit.
type side func(t *testing.T, srv *server.Server, name string, threads, seconds, events int) effort

// short is the median of runs that do next to nothing but begin: a process that starts, reads its script and connects.
func (f side) short(t *testing.T, srv *server.Server, name string) effort {
	t.Helper()
	var cpu []float64
	for range 7 {
		cpu = append(cpu, f(t, srv, name, *generatorThreads, 0, shortEvents).cpuSeconds)
	}
	return effort{transactions: shortEvents, cpuSeconds: median(cpu)}
}

// shortEvents is enough for mariadb-slap to print a time other than zero.
const shortEvents = 200

// cpuEach is the client CPU of one transaction: what a run took more than a short one, over what it did more. Our side has
// no process to start, and the start is a tenth of what sysbench takes in a second.
func (e effort) cpuEach(short effort) float64 {
	return (e.cpuSeconds - short.cpuSeconds) / (e.transactions - short.transactions)
}

// TestGenerator first has each side do the same fixed work and wants the server to count the same statements; then it
// prints throughput and client CPU a transaction, without that of the start, as ratios to the original tools, both sides
// over the same socket with the same number of clients and the same way of preparing, no CPU pinned. It fails when the
// medians of the pairs miss the first target: at least 0.95 of the throughput, at most 1.15 of the CPU.
func TestGenerator(t *testing.T) {
	if !*generator {
		t.Skip("needs -vm -generator: minutes on a quiet machine")
	}
	srv := realServer(t)
	for _, c := range []struct {
		name    string
		seconds int
		events  int
	}{{"oltp_read_write", 1, 0}, {"oltp_point_select", 1, 0}, {"mysqlslap", 0, 20000}} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := side(slapEffort), side(slapToolEffort)
			if c.name != "mysqlslap" {
				oltpTables(t, srv, c.name, `{"table_size": 10000}`)
				ours, theirs = oltpEffort, sysbenchEffort
			}
			sameStatements(t, srv, c.name, ours, theirs)
			ourShort, theirShort := ours.short(t, srv, c.name), theirs.short(t, srv, c.name)
			t.Logf("client CPU of %d transactions and the start: %.1f ms against %.1f ms", shortEvents, ourShort.cpuSeconds*1e3, theirShort.cpuSeconds*1e3)
			var speed, cpu []float64
			for round := range *generatorRounds {
				var a, b effort
				if round%2 == 0 {
					a = ours(t, srv, c.name, *generatorThreads, c.seconds, c.events)
					b = theirs(t, srv, c.name, *generatorThreads, c.seconds, c.events)
				} else {
					b = theirs(t, srv, c.name, *generatorThreads, c.seconds, c.events)
					a = ours(t, srv, c.name, *generatorThreads, c.seconds, c.events)
				}
				ourCPU, theirCPU := a.cpuEach(ourShort), b.cpuEach(theirShort)
				speed, cpu = append(speed, a.perSecond/b.perSecond), append(cpu, ourCPU/theirCPU)
				t.Logf("round %d: %.0f/s against %.0f/s (%.3f), client CPU %.1f µs against %.1f µs (%.3f)", round+1,
					a.perSecond, b.perSecond, a.perSecond/b.perSecond, ourCPU*1e6, theirCPU*1e6, ourCPU/theirCPU)
			}
			s, u := median(speed), median(cpu)
			fmt.Printf("generator %s: throughput %.3f x, client CPU %.3f x of the original's (median of %d)\n", c.name, s, u, len(speed))
			if s < 0.95 || u > 1.15 {
				t.Errorf("throughput %.3f x (at least 0.95), CPU %.3f x (at most 1.15)", s, u)
			}
		})
	}
}

// sameStatements has one client of each side do the same work, and compares what the server counted.
func sameStatements(t *testing.T, srv *server.Server, name string, ours, theirs side) {
	t.Helper()
	const events = 1000
	a := witness(t, srv, func() { ours(t, srv, name, 1, 0, events) })
	b := witness(t, srv, func() { theirs(t, srv, name, 1, 0, events) })
	for _, counter := range []string{"Com_select", "Com_insert", "Com_update", "Com_delete", "Com_begin", "Com_commit", "Com_create_table", "Com_drop_db",
		"Com_stmt_prepare", "Com_stmt_execute", "Connections"} {
		t.Logf("%s: ours %d, the original's %d", counter, a[counter], b[counter])
		if a[counter] != b[counter] {
			t.Errorf("%s: ours %d, the original's %d", counter, a[counter], b[counter])
		}
	}
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// cpuOf is the CPU time this process used during f; the server is another process.
func cpuOf(f func()) float64 {
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	f()
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	sum := func(r syscall.Rusage) time.Duration {
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return (sum(after) - sum(before)).Seconds()
}

func oltpEffort(t *testing.T, srv *server.Server, name string, threads, seconds, events int) effort {
	var r *record
	cpu := cpuOf(func() {
		r = run(t, srv, name, fmt.Sprintf(`{"threads": %d, "time": %d, "events": %d, "count_rows": false}`, threads, seconds, events))
	})
	return effort{r.value(t, "transactions_per_second"), r.value(t, "transactions_total"), cpu}
}

func sysbenchEffort(t *testing.T, srv *server.Server, name string, threads, seconds, events int) effort {
	cmd := exec.Command("sysbench", name, "--mysql-user=root", "--mysql-socket="+srv.Socket(), "--table-size=10000",
		fmt.Sprintf("--threads=%d", threads), fmt.Sprintf("--time=%d", seconds), fmt.Sprintf("--events=%d", events), "run")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`transactions: +(\d+) +\(([\d.]+) per sec`).FindStringSubmatch(string(out))
	if m == nil {
		t.Fatalf("sysbench printed no count and rate of transactions:\n%s", out)
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	rate, _ := strconv.ParseFloat(m[2], 64)
	return effort{rate, n, (cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()).Seconds()}
}

const slapGenerator = `"auto_generate_sql_load_type": "key", "auto_generate_sql_add_autoincrement": true`

func slapEffort(t *testing.T, srv *server.Server, _ string, threads, _, events int) effort {
	w, err := workload.Decode("mysqlslap", json.RawMessage(fmt.Sprintf(`{"auto_generate_sql": true, %s, "concurrency": %d, "number_of_queries": %d, "count_rows": false}`, slapGenerator, threads, events)))
	if err != nil {
		t.Fatal(err)
	}
	r := &record{}
	cpu := cpuOf(func() {
		if err := w.Run(t.Context(), session(srv, r)); err != nil {
			t.Fatal(err)
		}
	})
	return effort{float64(events) / r.value(t, "run_seconds"), float64(events), cpu}
}

func slapToolEffort(t *testing.T, srv *server.Server, _ string, threads, _, events int) effort {
	cmd := exec.Command("mariadb-slap", "--no-defaults", "--user=root", "--socket="+srv.Socket(), "-a", "--auto-generate-sql-load-type=key",
		"--auto-generate-sql-add-autoincrement", fmt.Sprintf("-c%d", threads), fmt.Sprintf("--number-of-queries=%d", events), "--csv")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Split(strings.TrimSpace(string(out)), ",")
	if len(fields) != 7 { // engine, load type, average, minimum, maximum, clients, queries
		t.Fatalf("mariadb-slap printed %q", out)
	}
	seconds, err := strconv.ParseFloat(fields[2], 64)
	if err != nil || seconds == 0 {
		t.Fatalf("mariadb-slap printed %q", out)
	}
	return effort{float64(events) / seconds, float64(events), (cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()).Seconds()}
}
