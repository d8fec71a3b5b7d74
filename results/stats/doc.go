// Package stats owns the statistics: what one cell's trials say together, how two cells differ, and how sure that is.
//
// The unit is the trial, one value each; per-second samples never come here. Nothing is trimmed. What a reader must know
// about a number comes as a Warning value beside it, and what cannot be computed is nil with a reason. Everything is a
// pure function of its arguments. results/report is the caller.
//
// The pipeline: Summarize describes a cell. Compare sets a cell against its baseline: Hodges–Lehmann ratio with its exact
// interval, Mann–Whitney's exact p, a Verdict by the metric's tolerance, and the smallest change it could have seen.
// Holm adjusts the p-values of all comparisons of a family, and Family applies that to their verdicts. GeometricMean
// joins ratios to one baseline, and says how many of how many cells it joins.
package stats
