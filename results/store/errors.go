package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// NoSpaceError says that the filesystem of the results is full. What was there before is intact.
type NoSpaceError struct {
	Path string
	Err  error
}

// Error says what to do next.
func (e *NoSpaceError) Error() string {
	return fmt.Sprintf("write %s: no space left there; free some, or choose another place with --results (earlier results are intact): %v", e.Path, e.Err)
}

// Unwrap returns the system's error.
func (e *NoSpaceError) Unwrap() error { return e.Err }

// NotARunError says that a path is not a run folder.
type NotARunError struct {
	Path string
	Err  error
}

// Error says what a run folder looks like.
func (e *NotARunError) Error() string {
	return fmt.Sprintf("%s is not a run folder (platter writes them as <results>/<time>-<study>-<digest>/ with a %s): %v", e.Path, RunFile, e.Err)
}

// Unwrap returns the cause.
func (e *NotARunError) Unwrap() error { return e.Err }

// ProblemKind says what is wrong with a file of a run folder.
type ProblemKind string

// The kinds of problems readers meet. None of them stops a reader.
const (
	Empty      ProblemKind = "empty"      // 0 bytes
	Broken     ProblemKind = "broken"     // not JSON, cut short, or with a byte order mark
	Foreign    ProblemKind = "foreign"    // another schema version, or a result that belongs elsewhere
	Invalid    ProblemKind = "invalid"    // against its schema or its own sums
	Directory  ProblemKind = "directory"  // a directory (or device, or link) where a file should be
	Unreadable ProblemKind = "unreadable" // no permission, or an I/O error
	TooLarge   ProblemKind = "too_large"
	Incomplete ProblemKind = "incomplete" // an attempt without result.json, a trial without an attempt, a run without an end
	Missing    ProblemKind = "missing"    // named in SHA256SUMS and not there
	Unlisted   ProblemKind = "unlisted"   // there and not named in SHA256SUMS
	Changed    ProblemKind = "changed"    // another digest than in SHA256SUMS
	Refused    ProblemKind = "refused"    // a packed file holds what no packed file of ours holds
)

// Problem is one file that could not be used, or not be trusted. Readers that skip it must show it.
type Problem struct {
	Path string      `json:"path"` // relative to the run folder where that is known
	Kind ProblemKind `json:"kind"`
	Err  error       `json:"-"`
}

// Error names the file first.
func (p *Problem) Error() string { return fmt.Sprintf("%s: %s: %v", p.Path, p.Kind, p.Err) }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// IncompleteAttempt returns the trial id when the problem is an attempt that left no result, which is the normal state
// of one that still goes on, or that was tried again.
func (p *Problem) IncompleteAttempt() (trialID string, ok bool) {
	attempt, found := strings.CutPrefix(p.Path, TrialsDir+"/")
	end := strings.LastIndexByte(attempt, '-')
	if p.Kind != Incomplete || !found || end < 0 {
		return "", false
	}
	return attempt[:end], true
}

// explain gives a write error its meaning where the system's own words are too few.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &NoSpaceError{Path: path, Err: err}
	}
	return fmt.Errorf("write %s: %w", path, err)
}
