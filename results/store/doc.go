// Package store owns run folders: every on-disk name, how files come to be there whole or not at all, and how they are
// read again years later.
//
// It does not decide what a result means (results), what its shape is (results/schema) or how it is shown
// (results/report). lab/runner writes through it; cmd/platter lists, verifies and hands folders to results/report.
//
// A run folder only grows. A trial attempt is complete when its result.json is there, because that file is written last,
// under a temporary name, fsynced and renamed. Readers skip what is broken, name it in a Problem, and go on.
package store
