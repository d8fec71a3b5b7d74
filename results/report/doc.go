// Package report owns how results are shown: one Model built from run folders, and formats that print it.
//
// Build reads results once, one at a time, and makes the Model; report.json is that Model, so no two formats can differ
// in a number. A format is one file that registers itself; the conformance test loops over all of them. Statistics come
// from results/stats. Folders come from the caller (cmd/platter), who opens them with results/store.
//
// Everything that comes from a guest or a file is hostile: Build replaces control characters in every string once, and
// each format escapes what is special to it.
package report
