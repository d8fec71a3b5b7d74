package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"platter/guest"
)

// slapRun is one timed part and what it counted.
type slapRun struct {
	seconds float64
	queries int64
	byKind  map[slapKind]*latency
}

// Run implements Workload: engines × client counts × iterations, each with its own set-up, in the original's order.
func (m *Mysqlslap) Run(ctx context.Context, s *Session) error {
	ctx, cancel := s.watched(ctx)
	defer cancel()
	setup, err := s.connect(ctx, "")
	if err != nil {
		return s.explain(ctx, err)
	}
	defer setup.close()
	m.flagTraps(s)
	script := m.script()
	total, done := len(m.Engine)*len(m.Concurrency)*m.Iterations, 0
	for _, engine := range m.Engine {
		for _, clients := range m.Concurrency {
			cell := slapCell{m: m, s: s, script: script, engine: engine, clients: clients}
			for i := range m.Iterations {
				s.progress(float64(done), float64(total), "iterations")
				if err := cell.iterate(ctx, setup, i); err != nil {
					cell.emitFailure(err)
					return s.explain(ctx, fmt.Errorf("mysqlslap engine %s, %d clients, iteration %d: %w", cell.engineName(), clients, i+1, err))
				}
				done++
			}
			if err := cell.emit(); err != nil {
				return err
			}
		}
		if m.drops() {
			if err := setup.must(m.dropSchema()); err != nil {
				return s.explain(ctx, err)
			}
		}
	}
	s.progress(float64(done), float64(total), "iterations")
	return nil
}

// drops tells whether schemas are dropped. Own statements without own set-up run in a schema that is not ours to drop.
func (m *Mysqlslap) drops() bool {
	return !m.NoDrop && (m.AutoGenerateSQL || m.create() != nil)
}

// flagTraps tells the reader where the original's ways make numbers mean something else than they seem to.
func (m *Mysqlslap) flagTraps(s *Session) {
	if m.NumberOfQueries > 0 {
		for _, c := range m.Concurrency {
			if m.limit(c) == 0 {
				s.flag("mysqlslap_whole_list", "number_of_queries %d is below %d clients: every client runs the whole list of %d", m.NumberOfQueries, c, m.listLength())
			}
		}
	}
	if m.Commit > 0 && m.Detach > 0 {
		s.flag("mysqlslap_detach_autocommit", "connections reopened by detach are back in autocommit, as in the original")
	}
	if m.uncommittedSetup() {
		s.flag("mysqlslap_uncommitted_setup", "with commit, the set-up rows of the second and later iterations are never committed, as in the original: clients see an empty table")
	}
}

func (m *Mysqlslap) uncommittedSetup() bool { return m.Commit > 0 && m.Iterations > 1 }

// slapCell is one engine and client count: the unit mysqlslap prints a result for.
type slapCell struct {
	m       *Mysqlslap
	s       *Session
	script  slapScript
	engine  string
	clients int
	runs    []slapRun
	rows    *int64
	keys    []string
	errors  map[uint16]int64
}

func (c *slapCell) engineName() string {
	name, _, _ := strings.Cut(c.engine, ":")
	return orUnknown(name, "default")
}

// iterate makes the set-up and times the clients once.
func (c *slapCell) iterate(ctx context.Context, setup *conn, iteration int) error {
	m := c.m
	if m.drops() {
		if err := setup.must(m.dropSchema()); err != nil {
			return err
		}
	}
	if err := c.setUp(setup); err != nil {
		return err
	}
	if c.script.hasID {
		if err := c.readKeys(setup); err != nil {
			return err
		}
	}
	if m.Commit > 0 {
		if err := setup.must("SET AUTOCOMMIT=0"); err != nil {
			return err
		}
	}
	for _, q := range m.PreQuery.split(m.cut()) {
		if err := setup.must(q); err != nil {
			return err
		}
	}
	run, err := c.timed(ctx, iteration)
	if err != nil {
		return err
	}
	c.runs = append(c.runs, run)
	for _, q := range m.PostQuery.split(m.cut()) {
		if err := setup.must(q); err != nil {
			return err
		}
	}
	return c.countRows(ctx)
}

// setUp creates the schema, the table and its rows over the set-up connection.
func (c *slapCell) setUp(setup *conn) error {
	if len(c.script.create) == 0 {
		return nil
	}
	if err := setup.must("CREATE SCHEMA " + quoteName(c.m.CreateSchema)); err != nil {
		return err
	}
	if err := setup.must("USE " + quoteName(c.m.CreateSchema)); err != nil {
		return err
	}
	if c.script.ownText {
		for _, q := range c.script.create {
			if err := setup.must(c.withEngine(q)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := setup.must(c.withEngine(c.script.create[0])); err != nil {
		return err
	}
	inserts := c.script.create[1:]
	for i := range c.m.setupInserts() {
		if err := setup.must(inserts[i%len(inserts)]); err != nil {
			return err
		}
	}
	return nil
}

// withEngine adds the engine, and its table option after a colon, to a CREATE TABLE.
func (c *slapCell) withEngine(statement string) string {
	if c.engine == "" || !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(statement)), "CREATE TABLE") {
		return statement
	}
	engine, option, found := strings.Cut(c.engine, ":")
	if found {
		return statement + " Engine = " + engine + " " + option
	}
	return statement + " Engine = " + engine
}

func (c *slapCell) readKeys(setup *conn) error {
	rows, err := setup.rows("SELECT id from t1")
	if err != nil {
		return err
	}
	c.keys = c.keys[:0]
	for _, r := range rows {
		c.keys = append(c.keys, r[0])
	}
	if len(c.keys) == 0 {
		return errors.New("the table has no key to choose from: auto_generate_sql_write_number is too small")
	}
	return nil
}

// timed releases the clients together and waits for the last. Connecting and disconnecting are inside.
func (c *slapCell) timed(ctx context.Context, iteration int) (slapRun, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer processorFor(c.clients)()
	clients := make([]*slapClient, c.clients)
	release := make(chan struct{})
	var ready, done sync.WaitGroup
	for i := range clients {
		clients[i] = &slapClient{cell: c, byKind: map[slapKind]*latency{}, random: rand.New(rand.NewPCG(c.s.Seed, uint64(iteration)<<32|uint64(i)))}
		for _, st := range c.script.list { // made before the clock starts
			if clients[i].byKind[st.kind] == nil {
				clients[i].byKind[st.kind] = newLatency()
			}
		}
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			<-release
			if err := clients[i].run(ctx); err != nil {
				cancel(err) // the first error ends the others; its cause is what is reported
			}
		}()
	}
	ready.Wait()
	begin := time.Now()
	close(release)
	done.Wait()
	run := slapRun{seconds: time.Since(begin).Seconds(), byKind: map[slapKind]*latency{}}
	for _, client := range clients {
		run.queries += client.queries
		for kind, l := range client.byKind {
			if run.byKind[kind] == nil {
				run.byKind[kind] = newLatency()
			}
			run.byKind[kind].merge(l)
		}
	}
	return run, context.Cause(ctx)
}

// countRows compares the rows of the generated table with what the statements must have left.
func (c *slapCell) countRows(ctx context.Context) error {
	if !c.m.CountRows || c.script.ownText || c.m.uncommittedSetup() {
		return nil
	}
	if e := canonicalEngine(c.engineName()); e == "blackhole" || e == "null" {
		return nil // keeps no rows, which is its purpose
	}
	conn, err := c.s.connect(ctx, c.m.CreateSchema)
	if err != nil {
		return err
	}
	defer conn.close()
	n, err := conn.count("SELECT COUNT(*) FROM t1")
	if err != nil {
		return err
	}
	c.rows = &n
	if want := c.m.expectedRows(c.clients); n != want {
		return invalidf("mysqlslap: t1 holds %d rows after %d clients, the statements must have left %d", n, c.clients, want)
	}
	return nil
}

func pause(ctx context.Context, seconds float64) error {
	if seconds <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Duration(seconds * float64(time.Second))):
		return nil
	}
}

// emitFailure says that there is no number, and which error is why.
func (c *slapCell) emitFailure(err error) {
	m := metrics{step: c.s.Step, labels: c.labels()}
	m.missing("run_seconds", shorten(err.Error()))
	if n := errorNumber(err); n != 0 {
		m.errors(map[uint16]int64{n: 1})
	}
	c.s.Emit(guest.Measurement{Metrics: m.list})
}

func (c *slapCell) labels() map[string]string {
	return map[string]string{"engine": c.engineName(), "clients": strconv.Itoa(c.clients)}
}
