package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// OLTPLegacy counts like the OLTP test of sysbench 0.4 (0.4.12; 0.4.8 and 0.4.10 send the same statements). Option names
// and defaults are the tool's with underscores, its units too: max_time in seconds, delays in microseconds. Note that a run
// stops at max_requests even when max_time is set, unless max_requests is 0.
//
// Where the original cannot be followed: events are counted exactly, each client draws from its own generator (one client
// draws the original's numbers), and the engines aria, rocksdb and tokudb are known to auto.
type OLTPLegacy struct {
	NumThreads     int     `json:"num_threads"`     // clients, one connection each
	MaxRequests    int64   `json:"max_requests"`    // stop after this many events; 0 is no limit
	MaxTime        float64 `json:"max_time"`        // stop after this many seconds; 0 is no limit
	ForcedShutdown string  `json:"forced_shutdown"` // "off", seconds, or "N%" of max_time after which the run fails
	InitRNG        bool    `json:"init_rng"`        // draw from the job's seed; off draws the same numbers in every run
	Percentile     int     `json:"percentile"`      // also reported, besides the usual ones
	Validate       bool    `json:"validate"`        // a select with an unexpected number of rows fails the run

	TestMode        string `json:"oltp_test_mode"`  // complex, simple, nontrx, sp
	TableName       string `json:"oltp_table_name"` //
	TableSize       int64  `json:"oltp_table_size"` // rows
	ReadOnly        bool   `json:"oltp_read_only"`  // leave out every write (complex)
	SkipTrx         bool   `json:"oltp_skip_trx"`   // leave out begin and end
	PointSelects    int    `json:"oltp_point_selects"`
	SimpleRanges    int    `json:"oltp_simple_ranges"`
	SumRanges       int    `json:"oltp_sum_ranges"`
	OrderRanges     int    `json:"oltp_order_ranges"`
	DistinctRanges  int    `json:"oltp_distinct_ranges"`
	RangeSize       int64  `json:"oltp_range_size"` // rows
	IndexUpdates    int    `json:"oltp_index_updates"`
	NonIndexUpdates int    `json:"oltp_non_index_updates"`
	NontrxMode      string `json:"oltp_nontrx_mode"` // select, update_key, update_nokey, insert, delete
	AutoInc         bool   `json:"oltp_auto_inc"`
	DistType        string `json:"oltp_dist_type"` // uniform, gaussian, special
	DistIter        uint64 `json:"oltp_dist_iter"`
	DistPct         uint64 `json:"oltp_dist_pct"`       // % of the rows that are hot
	DistRes         uint64 `json:"oltp_dist_res"`       // % of the draws sent to them
	ConnectDelay    int64  `json:"oltp_connect_delay"`  // µs after each connect
	UserDelayMin    int64  `json:"oltp_user_delay_min"` // µs before every statement but begin and end
	UserDelayMax    int64  `json:"oltp_user_delay_max"` // µs
	ReconnectMode   string `json:"oltp_reconnect_mode"` // session, query, transaction, random
	SPName          string `json:"oltp_sp_name"`        // procedure of test mode sp

	Engine        string `json:"mysql_table_engine"`
	EngineTrx     string `json:"mysql_engine_trx"` // yes, no, auto
	MyISAMMaxRows int64  `json:"myisam_max_rows"`
	CreateOptions string `json:"mysql_create_options"` // added to the table definition
	Schema        string `json:"mysql_db"`
	PSMode        string `json:"db_ps_mode"` // auto, disable

	shared
}

// shared are the options every OLTP workload has beyond its original's.
type shared struct {
	Rate             float64 `json:"rate"`              // planned events a second (open loop); 0 is a closed loop
	LateShare        float64 `json:"late_share"`        // share of planned events that may be missed before the rate is "not sustained"
	WarmupTime       float64 `json:"warmup_time"`       // seconds of load in the step warmup
	Reuse            bool    `json:"reuse"`             // prepare accepts tables that are there, if their rows are right
	StatementLatency bool    `json:"statement_latency"` // a histogram for each kind of statement
	CountRows        bool    `json:"count_rows"`        // compare the rows with the expectation after the run
	Checksum         bool    `json:"checksum"`          // CHECKSUM TABLE before and after the run, which reads the tables whole
}

func defaultShared() shared {
	return shared{LateShare: 0.01, WarmupTime: 10, StatementLatency: true, CountRows: true}
}

func (o shared) check() []error {
	var errs []error
	if o.Rate < 0 || o.WarmupTime < 0 {
		errs = append(errs, errors.New("rate and warmup_time are 0 or more"))
	}
	if o.LateShare < 0 || o.LateShare > 1 {
		errs = append(errs, fmt.Errorf("late_share %g is a share: 0 to 1", o.LateShare))
	}
	return errs
}

func newOLTPLegacy() Workload {
	return &OLTPLegacy{NumThreads: 1, MaxRequests: 10000, ForcedShutdown: "off", Percentile: 95,
		TestMode: "complex", TableName: "sbtest", TableSize: 10000, PointSelects: 10, SimpleRanges: 1, SumRanges: 1, OrderRanges: 1,
		DistinctRanges: 1, RangeSize: 100, IndexUpdates: 1, NonIndexUpdates: 1, NontrxMode: "select", AutoInc: true,
		DistType: "special", DistIter: 12, DistPct: 1, DistRes: 75, ConnectDelay: 10000, ReconnectMode: "session",
		Engine: "innodb", EngineTrx: "auto", MyISAMMaxRows: 1000000, Schema: "sbtest", PSMode: "auto", shared: defaultShared()}
}

func init() {
	register("oltp_legacy", "OLTP transactions on one table, counted like sysbench 0.4", prepareAndRun, newOLTPLegacy)
}

// Check implements Workload.
func (o *OLTPLegacy) Check(p Place) []error {
	errs := o.check()
	for _, c := range []struct {
		name, value string
		of          []string
	}{
		{"oltp_test_mode", o.TestMode, []string{"complex", "simple", "nontrx", "sp"}},
		{"oltp_nontrx_mode", o.NontrxMode, []string{"select", "update_key", "update_nokey", "insert", "delete"}},
		{"oltp_dist_type", o.DistType, []string{"uniform", "gaussian", "special"}},
		{"oltp_reconnect_mode", o.ReconnectMode, []string{"session", "query", "transaction", "random"}},
		{"mysql_engine_trx", o.EngineTrx, []string{"yes", "no", "auto"}},
		{"db_ps_mode", o.PSMode, []string{"auto", "disable"}},
	} {
		errs = append(errs, checkChoice(c.name, c.value, c.of)...)
	}
	errs = append(errs, o.checkNumbers()...)
	errs = append(errs, checkEngine(o.Engine, p)...)
	if _, err := o.grace(); err != nil {
		errs = append(errs, err)
	}
	if o.TestMode == "sp" && o.SPName == "" {
		errs = append(errs, errors.New("oltp_test_mode sp calls a procedure: give oltp_sp_name"))
	}
	if o.EngineTrx == "auto" && o.Engine != "" {
		if _, known := legacyEngineTrx[strings.ToLower(o.Engine)]; !known {
			errs = append(errs, fmt.Errorf("mysql_engine_trx auto does not know engine %q: say yes or no", o.Engine))
		}
	}
	return append(errs, checkNeeds(o.Needs(), p)...)
}

func checkChoice(name, value string, of []string) []error {
	for _, v := range of {
		if v == value {
			return nil
		}
	}
	return []error{fmt.Errorf("%s %q is not one of %s", name, value, strings.Join(of, ", "))}
}

func (o *OLTPLegacy) checkNumbers() []error {
	var errs []error
	for _, n := range []struct {
		name         string
		value, least int64
	}{
		{"num_threads", int64(o.NumThreads), 1}, {"max_requests", o.MaxRequests, 0}, {"oltp_table_size", o.TableSize, 1},
		{"oltp_point_selects", int64(o.PointSelects), 0}, {"oltp_simple_ranges", int64(o.SimpleRanges), 0}, {"oltp_sum_ranges", int64(o.SumRanges), 0},
		{"oltp_order_ranges", int64(o.OrderRanges), 0}, {"oltp_distinct_ranges", int64(o.DistinctRanges), 0}, {"oltp_range_size", o.RangeSize, 1},
		{"oltp_index_updates", int64(o.IndexUpdates), 0}, {"oltp_non_index_updates", int64(o.NonIndexUpdates), 0}, {"oltp_dist_iter", int64(o.DistIter), 1},
		{"oltp_connect_delay", o.ConnectDelay, 0}, {"oltp_user_delay_min", o.UserDelayMin, 0}, {"oltp_user_delay_max", o.UserDelayMax, o.UserDelayMin},
	} {
		if n.value < n.least {
			errs = append(errs, fmt.Errorf("%s is %d; it is %d or more", n.name, n.value, n.least))
		}
	}
	if o.RangeSize > o.TableSize {
		errs = append(errs, fmt.Errorf("oltp_range_size %d is larger than the table's %d rows", o.RangeSize, o.TableSize))
	}
	if o.Percentile < 1 || o.Percentile > 100 {
		errs = append(errs, fmt.Errorf("percentile %d is not one of 1 to 100", o.Percentile))
	}
	if o.DistPct > 100 || o.DistPct < 1 || o.DistRes > 99 {
		errs = append(errs, fmt.Errorf("oltp_dist_pct %d is 1 to 100, oltp_dist_res %d is 0 to 99", o.DistPct, o.DistRes))
	}
	if o.MaxRequests == 0 && o.MaxTime <= 0 {
		errs = append(errs, errors.New("the run never ends: set max_requests or max_time"))
	}
	if o.MaxTime < 0 {
		errs = append(errs, fmt.Errorf("max_time is %g; it is 0 or more", o.MaxTime))
	}
	return errs
}

// grace is forced_shutdown as a time, 0 when it is off.
func (o *OLTPLegacy) grace() (time.Duration, error) {
	text := o.ForcedShutdown
	if text == "off" || text == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("forced_shutdown %q is not off, a number of seconds, or N%%", text)
	}
	if percent {
		n *= o.MaxTime / 100
	}
	return time.Duration(n * float64(time.Second)), nil
}

// legacyEngineTrx is what auto knows of engines, by the names they go by in options and in the server's answers. The
// original does not know the last rows.
var legacyEngineTrx = map[string]bool{
	"innodb": true, "bdb": true, "berkeleydb": true, "ndbcluster": true, "federated": true, "pbxt": true, "falcon": true,
	"myisam": false, "heap": false, "maria": false,
	"memory": false, "aria": false, "rocksdb": true, "tokudb": true, "xtradb": true,
}

// Bytes a row of the 0.4 table takes with its indexes, and a 10000-row insert as text.
const (
	legacyRowBytes    = 273
	legacyMyISAMBytes = 210
	legacyInsertBytes = 700 << 10
)

// legacyStatements is the most statements a client prepares, begin and end among them.
const legacyStatements = 11

// Needs implements Workload.
func (o *OLTPLegacy) Needs() Needs {
	row := int64(legacyRowBytes)
	if canonicalEngine(o.Engine) == "myisam" {
		row = legacyMyISAMBytes
	}
	rows := o.TableSize
	if o.TestMode == "nontrx" && o.NontrxMode == "insert" {
		rows = max(rows, o.MaxRequests)
	}
	n := Needs{Connections: o.NumThreads + 1, DiskBytes: rows * row * 5 / 4, LargestFileBytes: rows * row, PacketBytes: legacyInsertBytes}
	if o.PSMode == "auto" {
		n.PreparedStatements = o.NumThreads * legacyStatements
	}
	return n
}

func (o *OLTPLegacy) loop(s *Session) loop {
	grace, _ := o.grace() // checked before
	return loop{clients: o.NumThreads, limit: o.MaxRequests, duration: seconds(o.MaxTime), grace: grace, rate: o.Rate, seed: s.Seed, lateShare: o.LateShare}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Warmup implements Workload: the same load for warmup_time seconds, without numbers.
func (o *OLTPLegacy) Warmup(ctx context.Context, s *Session) error {
	if o.WarmupTime <= 0 {
		return nil
	}
	warm := *o
	warm.MaxTime, warm.MaxRequests, warm.Rate = o.WarmupTime, 0, 0
	trx, err := warm.transactional(ctx, s)
	if err != nil {
		return err
	}
	l := warm.loop(s)
	l.quiet = true
	_, err = s.runLoad(ctx, l, func(i int) client { return newLegacyClient(&warm, s, i, trx) })
	return err
}

// Run implements Workload.
func (o *OLTPLegacy) Run(ctx context.Context, s *Session) error {
	trx, err := o.transactional(ctx, s)
	if err != nil {
		return err
	}
	if o.nontrxInsert() {
		if err := s.once(ctx, o.Schema, "TRUNCATE TABLE "+o.TableName); err != nil {
			return err
		}
	}
	sums, err := s.sumTables(ctx, o.Checksum, o.Schema, o.TableName)
	if err != nil {
		return err
	}
	out, err := s.runLoad(ctx, o.loop(s), func(i int) client { return newLegacyClient(o, s, i, trx) })
	if err != nil {
		s.emitFailure(out, err)
		return fmt.Errorf("oltp_legacy: %w", err)
	}
	rows, err := o.countRows(ctx, s, out)
	s.emitPrinted(out.service, float64(o.Percentile), legacyGrid)
	return errors.Join(err, sums.compare(ctx, o.onlyReads()), s.emitOLTP(out, float64(o.Percentile), rows))
}

// onlyReads tells whether no statement of an event writes; what a procedure does is not known.
func (o *OLTPLegacy) onlyReads() bool {
	switch o.TestMode {
	case "complex":
		return o.ReadOnly
	case "nontrx":
		return o.NontrxMode == "select"
	}
	return o.TestMode == "simple"
}

func (o *OLTPLegacy) nontrxInsert() bool { return o.TestMode == "nontrx" && o.NontrxMode == "insert" }
