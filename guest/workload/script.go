package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"platter/guest"
)

// Script runs the user's own statements. An event is the list of statements in order, over one connection a client;
// {name} in a statement stands for a value drawn once an event, by the generator that values gives for the name:
//
//	uniform(1,1000) gaussian(1,1000) special(1,1000) pareto(1,1000)   a whole number
//	sequence(1)      1, 2, 3 … from there, shared by all clients
//	client()         the client's number, from 0
//	digits(10)       groups of eleven digits with dashes between
//	letters(5,20)    so many letters and digits
//	choice(a,b,c)    one of the words
//
// Statements are prepared once a connection and the values bound, unless db_ps_mode is disable.
type Script struct {
	Schema     string            `json:"schema"`
	Setup      Statements        `json:"setup"`      // step prepare; a list, or one text cut at semicolons
	Statements Statements        `json:"statements"` // one event
	Teardown   Statements        `json:"teardown"`   // step cleanup, before the schema is dropped
	Values     map[string]string `json:"values"`
	Threads    int               `json:"threads"`
	Events     int64             `json:"events"` // 0 is no limit
	Time       float64           `json:"time"`   // seconds; 0 is no limit
	Percentile float64           `json:"percentile"`
	Retry      Words             `json:"retry_errors"` // error numbers after which ROLLBACK is sent and the event starts again
	PSMode     string            `json:"db_ps_mode"`   // auto, disable
	Expect     map[string]int64  `json:"expect_rows"`  // table → rows after the run

	shared
}

func init() {
	register("script", "the user's own statements, with drawn values", prepareAndRun, func() Workload {
		return &Script{Schema: "platter_script", Threads: 1, Time: 10, Percentile: 95, Retry: Words{"1213", "1205", "1020"}, PSMode: "auto", shared: defaultShared()}
	})
}

const scriptDelimiter = ';'

// Check implements Workload.
func (sc *Script) Check(p Place) []error {
	errs := sc.check()
	if sc.Threads < 1 {
		errs = append(errs, fmt.Errorf("threads is %d; it is 1 or more", sc.Threads))
	}
	if sc.Events < 0 || sc.Time < 0 || sc.Events == 0 && sc.Time == 0 {
		errs = append(errs, errors.New("the run never ends: set events or time"))
	}
	if sc.Percentile < 0 || sc.Percentile > 100 {
		errs = append(errs, fmt.Errorf("percentile %g is not one of 0 to 100", sc.Percentile))
	}
	if sc.Schema == "" {
		errs = append(errs, errors.New("schema is not empty"))
	}
	errs = append(errs, checkChoice("db_ps_mode", sc.PSMode, []string{"auto", "disable"})...)
	for _, w := range sc.Retry {
		if _, err := strconv.ParseUint(w, 10, 16); err != nil && w != "" {
			errs = append(errs, fmt.Errorf("retry_errors: %q is not an error number", w))
		}
	}
	if _, err := sc.compile(); err != nil {
		errs = append(errs, err)
	}
	return append(errs, checkNeeds(sc.Needs(), p)...)
}

// Needs implements Workload; what the statements store is not known.
func (sc *Script) Needs() Needs {
	n := Needs{Connections: max(sc.Threads, 1) + 1}
	if sc.PSMode == "auto" {
		n.PreparedStatements = sc.Threads * len(sc.Statements.split(scriptDelimiter))
	}
	return n
}

// Prepare implements Workload.
func (sc *Script) Prepare(ctx context.Context, s *Session) error {
	if err := s.once(ctx, "", "CREATE DATABASE IF NOT EXISTS "+quoteName(sc.Schema)); err != nil {
		return err
	}
	return s.once(ctx, sc.Schema, sc.Setup.split(scriptDelimiter)...)
}

// Warmup implements Workload.
func (sc *Script) Warmup(ctx context.Context, s *Session) error {
	if sc.WarmupTime <= 0 {
		return nil
	}
	l := loop{clients: sc.Threads, duration: seconds(sc.WarmupTime), quiet: true}
	_, err := sc.load(ctx, s, l)
	return err
}

// Run implements Workload.
func (sc *Script) Run(ctx context.Context, s *Session) error {
	l := loop{clients: sc.Threads, limit: sc.Events, duration: seconds(sc.Time), rate: sc.Rate, seed: s.Seed, lateShare: sc.LateShare}
	out, err := sc.load(ctx, s, l)
	if err != nil {
		s.emitFailure(out, err)
		return fmt.Errorf("script: %w", err)
	}
	var rowErr error
	for _, table := range sortedNames(sc.Expect) {
		n, err := s.compareRows(ctx, sc.Schema, table, sc.Expect[table])
		rowErr = errors.Join(rowErr, err)
		if n != nil {
			m := metrics{step: s.Step, labels: map[string]string{"table": table}}
			m.add("rows_total", float64(*n))
			s.Emit(guest.Measurement{Metrics: m.list})
		}
	}
	return errors.Join(rowErr, s.emitOLTP(out, sc.Percentile, nil))
}

func (sc *Script) load(ctx context.Context, s *Session, l loop) (outcome, error) {
	compiled, err := sc.compile()
	if err != nil {
		return outcome{}, err
	}
	return s.runLoad(ctx, l, func(i int) client { return newScriptClient(sc, s, compiled, i) })
}

// Cleanup implements Workload.
func (sc *Script) Cleanup(ctx context.Context, s *Session) error {
	if err := s.once(ctx, sc.Schema, sc.Teardown.split(scriptDelimiter)...); err != nil {
		return err
	}
	return s.once(ctx, "", "DROP DATABASE IF EXISTS "+quoteName(sc.Schema))
}
