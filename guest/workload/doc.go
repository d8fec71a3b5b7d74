// Package workload owns the loads platter puts on a server: a registry of workloads that count like the classic generators
// (sysbench 0.4 and 1.0, mysqlslap, a dump restore, TPC-C-like, the insert benchmark) and the machinery they share.
//
// The host imports it too: Decode, Check and Needs are pure, so a study is refused before a machine is made. In the guest
// the agent gives a Session to Prepare, Warmup, Run and Cleanup. The package opens connections only through the Session;
// it starts no server, knows no disk and keeps no files.
//
// # How to add a workload
//
// One file, named as the user types the workload. It holds, in this order:
//
//   - a struct of options whose json tags are the option names (snake_case, base units) with a doc comment for each,
//   - an init function that registers the name, a sentence, and a function that returns the struct with its defaults,
//   - Check, which says everything that is wrong with the options at a Place, without touching anything,
//   - Needs, which says what a run takes: connections, prepared statements, the longest statement, bytes on disk,
//   - Prepare, Warmup, Run and Cleanup, each of which may do nothing.
//
// Run emits its numbers as metrics of the results registry. A statement that fails is never a number: Run returns the
// error, or counts it by number where the workload's rules say the event is tried again. The conformance test loops over
// the registry, so a new workload is tested for its shape the moment it registers.
package workload
