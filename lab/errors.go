package lab

import "fmt"

// BootError says that a machine never became usable. Console is the tail of its console.
type BootError struct {
	What    string
	Console string
	Err     error
}

// Error names the requirement that was not met.
func (e *BootError) Error() string { return fmt.Sprintf("boot: %s: %v", e.What, e.Err) }

// Unwrap returns the cause.
func (e *BootError) Unwrap() error { return e.Err }

// InfraError says that the lab itself failed (daemon, connection, host space): it is retried or
// recorded as lost, and never stored as a measurement.
type InfraError struct {
	What string
	Err  error
}

// Error names what was attempted.
func (e *InfraError) Error() string { return fmt.Sprintf("%s: %v", e.What, e.Err) }

// Unwrap returns the cause.
func (e *InfraError) Unwrap() error { return e.Err }

// JobError says that the subject failed (server, filesystem, workload): that is a result.
type JobError struct {
	Reason   string
	Evidence string
}

// Error gives the guest's reason.
func (e *JobError) Error() string { return e.Reason }

// InputError says that what the user asked for cannot be done; nothing was created.
type InputError struct{ Err error }

// Error gives every fault found, one a line.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the faults.
func (e *InputError) Unwrap() error { return e.Err }
