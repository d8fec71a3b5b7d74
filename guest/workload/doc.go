// Package workload owns the loads platter puts on a server: a registry of workloads that count like the classic generators
// (sysbench 0.4 and 1.0, mysqlslap, a dump restore, TPC-C-like, the insert benchmark) and the machinery they share.
//
// The host imports it too: Decode, Check and Needs are pure, so a study is refused before a machine is made. In the guest
// the agent gives a Session to Prepare, Warmup, Run and Cleanup. The package opens connections only through the Session;
// it starts no server, knows no disk and keeps no files.
//
// # How to add a workload
//
// One file, named as the user types the workload; script.go is a good one to read first. It holds, in this order:
//
//   - a struct of options whose json tags are the option names (snake_case, base units) with a doc comment for each,
//   - an init function that registers the name, a sentence, the steps a study means when it names only the workload, and
//     a function that returns the struct with its defaults,
//   - Check, which says everything that is wrong with the options at a Place, without touching anything,
//   - Needs, which says what a run takes: connections, prepared statements, the longest statement, bytes on disk,
//   - Prepare, Warmup, Run and Cleanup, each of which may do nothing.
//
// In full, for a load that asks the server its version:
//
//	package workload
//
//	func init() {
//		register("version", "asks for the server's version again and again", []string{"run"}, func() Workload { return &Version{Threads: 1, Events: 1000} })
//	}
//
//	// Version holds the options.
//	type Version struct {
//		Threads int   `json:"threads"` // clients, one connection each
//		Events  int64 `json:"events"`  // exact number of questions
//	}
//
//	// Check implements Workload.
//	func (v *Version) Check(p Place) []error { return checkNeeds(v.Needs(), p) }
//
//	// Needs implements Workload.
//	func (v *Version) Needs() Needs { return Needs{Connections: v.Threads} }
//
//	// Prepare implements Workload; there is nothing to make.
//	func (v *Version) Prepare(context.Context, *Session) error { return nil }
//
//	// Run implements Workload.
//	func (v *Version) Run(ctx context.Context, s *Session) error {
//		out, err := s.runLoad(ctx, loop{clients: v.Threads, limit: v.Events}, func(int) client { return &versionClient{s: s} })
//		if err != nil {
//			s.emitFailure(out, err)
//			return fmt.Errorf("version: %w", err)
//		}
//		return s.emitOLTP(out, 95, nil)
//	}
//
// and so on for Warmup and Cleanup. versionClient connects in open, sends one statement in event, and counts it in its
// tally; the clock, the series, open and closed loops, latencies, errors and the server's death are the machinery's.
//
// Run emits its numbers as metrics of the results registry (TestMetricsAreRegistered finds one that is not there). A
// statement that fails is never a number: Run returns the error, or counts it by number where the workload's rules say the
// event is tried again. A run that gave numbers which must not be used returns an InvalidError. The conformance test loops
// over the registry, so a new workload is tested for its shape the moment it registers; spec_test.go maps what the classic
// generators are known to do to the tests that hold us to it.
package workload
