package workload

import "context"

// The ways a workload may have its load end.
const (
	MachineKill = "machine_kill" // the whole machine ends at once: what only its memory held is gone
	PowerCut    = "power_cut"    // what the disk completed without a flush behind it is gone too
)

// Crasher is a workload for the steps crash and verify: its load runs until something ends the server, and later it tells
// which acknowledged commits are still there.
type Crasher interface {
	Workload
	// How says what ends the load, and after how many seconds; it is pure.
	How() (kind string, seconds float64)
	// Crash runs the load until its context ends. Each commit is told at once, from the goroutine of its client, with
	// how many that client has by now. Errors after the context's end belong to the crash and are none.
	Crash(ctx context.Context, s *Session, acknowledged func(client int, commits int64)) error
	// Verify counts the acknowledged commits that are gone.
	Verify(ctx context.Context, s *Session, acknowledged []int64) (lost int64, err error)
	// Clients is the number of clients of Crash; it is pure.
	Clients() int
}
