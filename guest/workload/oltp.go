package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// OLTP holds the options of the OLTP scripts of sysbench 1.0.20, which all workloads oltp_* but oltp_legacy count like.
// Option names and defaults are the tool's with underscores; time is in seconds. Unlike the original a rate is measured from
// the planned start of each event, and events run their time without the tool's queue.
type OLTP struct {
	Threads         int     `json:"threads"`         // clients, one connection each
	Events          int64   `json:"events"`          // exact limit; 0 is none
	Time            float64 `json:"time"`            // seconds; 0 is no limit
	ForcedShutdown  float64 `json:"forced_shutdown"` // seconds after time until the run fails; 0 waits
	Percentile      float64 `json:"percentile"`      // also reported, besides the usual ones; 0 for none
	RandType        string  `json:"rand_type"`       // uniform, gaussian, special, pareto
	RandSpecIter    int     `json:"rand_spec_iter"`
	RandSpecPct     int     `json:"rand_spec_pct"` // % of the rows that are hot
	RandSpecRes     int     `json:"rand_spec_res"` // % of the draws sent to them
	RandParetoH     float64 `json:"rand_pareto_h"`
	RandSeed        uint64  `json:"rand_seed"` // 0 draws from the job's seed
	Tables          int     `json:"tables"`
	TableSize       int64   `json:"table_size"` // rows of each
	PointSelects    int     `json:"point_selects"`
	SimpleRanges    int     `json:"simple_ranges"`
	SumRanges       int     `json:"sum_ranges"`
	OrderRanges     int     `json:"order_ranges"`
	DistinctRanges  int     `json:"distinct_ranges"`
	IndexUpdates    int     `json:"index_updates"`
	NonIndexUpdates int     `json:"non_index_updates"`
	DeleteInserts   int     `json:"delete_inserts"` // pairs
	RangeSize       int64   `json:"range_size"`     // rows
	RangeSelects    bool    `json:"range_selects"`  // all ranges on or off
	SkipTrx         bool    `json:"skip_trx"`
	AutoInc         bool    `json:"auto_inc"`
	Secondary       bool    `json:"secondary"`        // a plain index instead of the primary key
	CreateSecondary bool    `json:"create_secondary"` // the index on k
	Engine          string  `json:"mysql_storage_engine"`
	IgnoreErrors    Words   `json:"mysql_ignore_errors"` // numbers that start an event again, or all
	Schema          string  `json:"mysql_db"`
	PSMode          string  `json:"db_ps_mode"` // auto, disable
	Prewarm         bool    `json:"prewarm"`    // the step warmup first reads the tables and indexes

	shared

	script script
}

// script is one of the tool's OLTP scripts.
type script struct {
	name       string
	statements []statementKind // prepared for each table
	brackets   bool            // BEGIN and COMMIT around an event, unless skip_trx
	event      func(*oltpClient) error
	readOnly   bool                                     // no statement changes a row
	empty      bool                                     // prepare makes no rows when auto_inc is off
	rows       func(before, events, writes int64) int64 // in all tables after a run; nil is what was loaded
}

// registerOLTP registers a workload with the tool's defaults.
func registerOLTP(doc string, sc script) {
	register(sc.name, doc, prepareAndRun, func() Workload {
		return &OLTP{Threads: 1, Time: 10, Percentile: 95, RandType: "special", RandSpecIter: 12, RandSpecPct: 1, RandSpecRes: 75, RandParetoH: 0.2,
			Tables: 1, TableSize: 10000, PointSelects: 10, SimpleRanges: 1, SumRanges: 1, OrderRanges: 1, DistinctRanges: 1, IndexUpdates: 1,
			NonIndexUpdates: 1, DeleteInserts: 1, RangeSize: 100, RangeSelects: true, AutoInc: true, CreateSecondary: true, Engine: "innodb",
			IgnoreErrors: Words{"1213", "1020", "1205"}, Schema: "sbtest", PSMode: "auto", Prewarm: true, shared: defaultShared(), script: sc}
	})
}

// Check implements Workload.
func (o *OLTP) Check(p Place) []error {
	errs := o.check()
	errs = append(errs, checkChoice("rand_type", o.RandType, []string{"uniform", "gaussian", "special", "pareto"})...)
	errs = append(errs, checkChoice("db_ps_mode", o.PSMode, []string{"auto", "disable"})...)
	for _, n := range []struct {
		name         string
		value, least int64
	}{
		{"threads", int64(o.Threads), 1}, {"events", o.Events, 0}, {"tables", int64(o.Tables), 1}, {"table_size", o.TableSize, 1},
		{"point_selects", int64(o.PointSelects), 0}, {"simple_ranges", int64(o.SimpleRanges), 0}, {"sum_ranges", int64(o.SumRanges), 0},
		{"order_ranges", int64(o.OrderRanges), 0}, {"distinct_ranges", int64(o.DistinctRanges), 0}, {"index_updates", int64(o.IndexUpdates), 0},
		{"non_index_updates", int64(o.NonIndexUpdates), 0}, {"delete_inserts", int64(o.DeleteInserts), 0}, {"range_size", o.RangeSize, 1},
		{"rand_spec_iter", int64(o.RandSpecIter), 1},
	} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s is %d; it is %d or more", n.name, n.value, n.least))
		}
	}
	errs = append(errs, o.checkRest()...)
	errs = append(errs, checkEngine(o.Engine, p)...)
	return append(errs, checkNeeds(o.Needs(), p)...)
}

func (o *OLTP) checkRest() []error {
	var errs []error
	if o.RangeSize > o.TableSize {
		errs = append(errs, fmt.Errorf("range_size %d is larger than the table's %d rows", o.RangeSize, o.TableSize))
	}
	if o.Percentile < 0 || o.Percentile > 100 {
		errs = append(errs, fmt.Errorf("percentile %g is not one of 0 to 100", o.Percentile))
	}
	if o.RandSpecPct < 1 || o.RandSpecPct > 100 || o.RandSpecRes < 0 || o.RandSpecRes > 100 {
		errs = append(errs, fmt.Errorf("rand_spec_pct %d is 1 to 100, rand_spec_res %d is 0 to 100", o.RandSpecPct, o.RandSpecRes))
	}
	if o.RandParetoH <= 0 || o.RandParetoH >= 1 {
		errs = append(errs, fmt.Errorf("rand_pareto_h %g lies between 0 and 1", o.RandParetoH))
	}
	if o.Events == 0 && o.Time <= 0 {
		errs = append(errs, errors.New("the run never ends: set events or time"))
	}
	if o.Time < 0 || o.ForcedShutdown < 0 {
		errs = append(errs, errors.New("time and forced_shutdown are 0 or more"))
	}
	if _, _, err := o.ignored(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// ignored are the error numbers that start an event again.
func (o *OLTP) ignored() (numbers map[uint16]bool, all bool, err error) {
	numbers = map[uint16]bool{}
	for _, w := range o.IgnoreErrors {
		if w == "all" {
			return nil, true, nil
		}
		if w == "" {
			continue
		}
		n, err := strconv.ParseUint(w, 10, 16)
		if err != nil {
			return nil, false, fmt.Errorf("mysql_ignore_errors %q is not an error number or all", w)
		}
		numbers[uint16(n)] = true
	}
	return numbers, false, nil
}

// Bytes a row of the 1.0 table takes with its indexes.
const (
	oltpRowBytes    = 252
	oltpMyISAMBytes = 209
)

// Needs implements Workload.
func (o *OLTP) Needs() Needs {
	row := int64(oltpRowBytes)
	if canonicalEngine(o.Engine) == "myisam" {
		row = oltpMyISAMBytes
	}
	n := Needs{Connections: o.Threads + 1, DiskBytes: int64(o.Tables) * o.TableSize * row * 5 / 4, LargestFileBytes: o.TableSize * row, PacketBytes: bulkBytes}
	if o.PSMode == "auto" {
		n.PreparedStatements = o.Threads * (len(o.kinds())*o.Tables + 2)
	}
	return n
}

// kinds are the statements a client prepares for each table; without range selects those of the ranges are left out.
func (o *OLTP) kinds() []statementKind {
	if o.RangeSelects {
		return o.script.statements
	}
	return slices.DeleteFunc(slices.Clone(o.script.statements), func(k statementKind) bool { return k >= kindSimpleRange && k <= kindDistinctRange })
}

func (o *OLTP) loop(s *Session) loop {
	return loop{clients: o.Threads, limit: o.Events, duration: seconds(o.Time), grace: seconds(o.ForcedShutdown), rate: o.Rate, seed: s.Seed, lateShare: o.LateShare}
}

// random is the generator of one client, the same in every run of the same seed.
func (o *OLTP) random(s *Session, client int) *rand.Rand {
	seed := o.RandSeed
	if seed == 0 {
		seed = s.Seed
	}
	return rand.New(rand.NewPCG(seed, uint64(client)))
}

// Run implements Workload.
func (o *OLTP) Run(ctx context.Context, s *Session) error {
	want := int64(o.Tables) * o.TableSize
	if o.CountRows && o.script.rows != nil {
		n, err := o.countTables(ctx, s)
		if err != nil {
			return err
		}
		want = n
	}
	var tables []string
	for i := range o.Tables {
		tables = append(tables, tableName(i))
	}
	sums, err := s.sumTables(ctx, o.Checksum, o.Schema, tables...)
	if err != nil {
		return err
	}
	out, err := s.runLoad(ctx, o.loop(s), func(i int) client { return newOLTPClient(o, s, i) })
	if err != nil {
		s.emitFailure(out, err)
		return fmt.Errorf("%s: %w", o.script.name, err)
	}
	if o.script.rows != nil {
		want = o.script.rows(want, out.counts.events, out.counts.writes)
	}
	rows, err := o.compareTables(ctx, s, want)
	s.emitPrinted(out.service, o.Percentile, sysbenchGrid)
	return errors.Join(err, sums.compare(ctx, o.script.readOnly), s.emitOLTP(out, o.Percentile, rows))
}

// Warmup implements Workload: the tables are read (prewarm), then the load runs for warmup_time seconds without numbers.
func (o *OLTP) Warmup(ctx context.Context, s *Session) error {
	if o.Prewarm {
		if err := o.prewarm(ctx, s); err != nil {
			return err
		}
	}
	if o.WarmupTime <= 0 {
		return nil
	}
	warm := *o
	warm.Time, warm.Events, warm.Rate = o.WarmupTime, 0, 0
	l := warm.loop(s)
	l.quiet = true
	_, err := s.runLoad(ctx, l, func(i int) client { return newOLTPClient(&warm, s, i) })
	return err
}

// countTables counts the rows of all tables. Before a run it is done only where the rows change, because it reads a table
// that may be meant to be cold.
func (o *OLTP) countTables(ctx context.Context, s *Session) (int64, error) {
	c, err := s.connect(ctx, o.Schema)
	if err != nil {
		return 0, s.explain(ctx, err)
	}
	defer c.close()
	var sum int64
	for i := range o.Tables {
		n, err := c.count("SELECT COUNT(*) FROM " + tableName(i))
		if err != nil {
			return 0, s.explain(ctx, err)
		}
		sum += n
	}
	return sum, nil
}

// compareTables makes a run invalid when its tables hold another number of rows than its statements must have left.
func (o *OLTP) compareTables(ctx context.Context, s *Session, want int64) (*int64, error) {
	if !o.CountRows {
		return nil, nil
	}
	n, err := o.countTables(ctx, s)
	if err != nil {
		return nil, err
	}
	if n != want {
		return &n, invalidf("%s: the tables hold %d rows after the run, its statements must have left %d", o.script.name, n, want)
	}
	return &n, nil
}

func tableName(i int) string { return "sbtest" + strconv.Itoa(i+1) }
