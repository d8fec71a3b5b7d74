package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// CrashCheck commits single rows, each client into a table of its own with the keys 1, 2, 3 …, until the machine is killed
// or the disk cut off. Afterwards every row whose commit was acknowledged must be there. It has numbers of what was lost
// and of the recovery, none of speed.
type CrashCheck struct {
	Threads  int     `json:"threads"`   // clients, one connection and one table each
	Time     float64 `json:"time"`      // seconds of load before the crash
	Kind     string  `json:"crash"`     // machine_kill or power_cut
	RowBytes int     `json:"row_bytes"` // of the one text column
	Engine   string  `json:"engine"`
	Schema   string  `json:"schema"`
}

func init() {
	register("crash_check", "commit rows until the machine is killed or the power cut, then look for every acknowledged one",
		[]string{"prepare", "crash", "verify"}, func() Workload {
			return &CrashCheck{Threads: 4, Time: 10, Kind: MachineKill, RowBytes: 100, Engine: "innodb", Schema: "platter_crash"}
		})
}

// Check implements Workload.
func (w *CrashCheck) Check(p Place) []error {
	errs := checkChoice("crash", w.Kind, []string{MachineKill, PowerCut})
	if w.Threads < 1 || w.Threads > 1000 {
		errs = append(errs, fmt.Errorf("threads is %d; it is 1 to 1000", w.Threads))
	}
	if w.Time <= 0 {
		errs = append(errs, fmt.Errorf("time is %g; the load needs some seconds before the crash", w.Time))
	}
	if w.RowBytes < 1 || w.RowBytes > 8000 {
		errs = append(errs, fmt.Errorf("row_bytes is %d; it is 1 to 8000", w.RowBytes))
	}
	if w.Schema == "" {
		errs = append(errs, errors.New("schema is empty"))
	}
	errs = append(errs, checkEngine(w.Engine, p)...)
	return append(errs, checkNeeds(w.Needs(), p)...)
}

// Needs implements Workload. How much is written is not known before.
func (w *CrashCheck) Needs() Needs {
	return Needs{Connections: w.Threads + 1, PacketBytes: int64(w.RowBytes) + 1024}
}

// How implements Crasher.
func (w *CrashCheck) How() (string, float64) { return w.Kind, w.Time }

// Clients implements Crasher.
func (w *CrashCheck) Clients() int { return w.Threads }

// Prepare implements Workload: one empty table a client.
func (w *CrashCheck) Prepare(ctx context.Context, s *Session) error {
	if err := s.once(ctx, "", "CREATE DATABASE IF NOT EXISTS "+quoteName(w.Schema)); err != nil {
		return err
	}
	for i := range w.Threads {
		statement := fmt.Sprintf("CREATE TABLE %s (id BIGINT NOT NULL PRIMARY KEY, c VARCHAR(%d) CHARACTER SET latin1 NOT NULL) ENGINE = %s", tableName(i), w.RowBytes, w.Engine)
		if err := s.once(ctx, w.Schema, statement); err != nil {
			return err
		}
	}
	return nil
}

// Warmup implements Workload; there is nothing to warm.
func (w *CrashCheck) Warmup(context.Context, *Session) error { return nil }

// Run implements Workload. A run to the end says nothing here.
func (w *CrashCheck) Run(context.Context, *Session) error {
	return errors.New("crash_check has no step run: use prepare, crash and verify")
}

// Cleanup implements Workload.
func (w *CrashCheck) Cleanup(ctx context.Context, s *Session) error {
	return s.once(ctx, "", "DROP DATABASE IF EXISTS "+quoteName(w.Schema))
}

// Crash implements Crasher.
func (w *CrashCheck) Crash(ctx context.Context, s *Session, acknowledged func(int, int64)) error {
	defer processorFor(w.Threads)()
	errs := make([]error, w.Threads)
	var all sync.WaitGroup
	for i := range w.Threads {
		all.Add(1)
		go func() {
			defer all.Done()
			errs[i] = w.insert(ctx, s, i, acknowledged)
		}()
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(errs...)
}

func (w *CrashCheck) insert(ctx context.Context, s *Session, client int, acknowledged func(int, int64)) error {
	c, err := s.connect(ctx, w.Schema)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer c.close()
	head := "INSERT INTO " + tableName(client) + " VALUES ("
	tail := ",'" + strings.Repeat("x", w.RowBytes) + "')"
	for n := int64(1); ctx.Err() == nil; n++ {
		if _, err := c.run(head + strconv.FormatInt(n, 10) + tail); err != nil {
			return s.explain(ctx, err)
		}
		acknowledged(client, n)
	}
	return nil
}

// repairable are the server's errors for a table that a crash left broken: it says so, and offers to mend it.
var repairable = map[uint16]bool{126: true, 127: true, 144: true, 145: true, 1034: true, 1035: true, 1194: true, 1195: true}

// Verify implements Crasher.
func (w *CrashCheck) Verify(ctx context.Context, s *Session, acknowledged []int64) (lost int64, err error) {
	c, err := s.connect(ctx, w.Schema)
	if errorNumber(err) == 1049 { // the schema itself is gone
		s.flag("schema_lost", "the schema %s is gone after the crash", w.Schema)
		return total(acknowledged), nil
	}
	if err != nil {
		return 0, s.explain(ctx, err)
	}
	defer c.close()
	for i, commits := range acknowledged {
		found, err := w.found(c, s, i, commits)
		if err != nil {
			return 0, s.explain(ctx, err)
		}
		lost += commits - found
	}
	return lost, nil
}

// found is how many of a client's rows 1 … commits are there, after a repair where the server asks for one.
func (w *CrashCheck) found(c *conn, s *Session, client int, commits int64) (int64, error) {
	table := tableName(client)
	query := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE id BETWEEN 1 AND %d", table, commits)
	n, err := c.count(query)
	if number := errorNumber(err); repairable[number] {
		s.flag("table_repaired", "table %s was broken by the crash and repaired: %v", table, err)
		if _, err := c.rows("REPAIR TABLE " + table); err != nil {
			return 0, err
		}
		n, err = c.count(query)
	}
	switch errorNumber(err) {
	case 1146, 1017, 1932: // no such table; its files are gone; it is not in the engine
		s.flag("table_lost", "table %s is gone after the crash: %v", table, err)
		return 0, nil
	}
	return n, err
}

func total(commits []int64) (sum int64) {
	for _, n := range commits {
		sum += n
	}
	return sum
}
