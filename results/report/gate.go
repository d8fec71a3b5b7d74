package report

import (
	"fmt"
	"slices"

	"platter/results/stats"
)

// Outcome is what a gate comes to; the command maps it to its exit status.
type Outcome string

// The outcomes, in the order of precedence: a gate that meets several reports the first. (Wrong usage and broken
// integrity come before all of them and are found before a Model is made.)
const (
	GateNotComparable Outcome = "not_comparable" // the sides differ in a critical fact, or have nothing in common
	GateRegressed     Outcome = "regressed"      // at least one comparison is surely worse than its tolerance
	GateIncomplete    Outcome = "incomplete"     // trials are missing or have no numbers, or files could not be used
	GateInconclusive  Outcome = "inconclusive"   // at least one comparison is suspect or undecided
	GatePassed        Outcome = "passed"         // all are unchanged or improved
)

// Gate judges a comparison of runs as a whole and says why in a sentence. Confirmation is the caller's work: it runs the
// suspects again and calls Gate on the fresh data alone.
func (m *Model) Gate() (Outcome, string) {
	by := map[stats.Verdict]int{}
	total := 0
	for _, f := range findings(m) {
		by[f.entry.Comparison.Verdict]++
		total++
	}
	numberless := m.Counts.planned() - m.Counts.OK - m.Counts.Skipped
	switch {
	case !m.Compared() || by[stats.NotComparable] > 0:
		return GateNotComparable, fmt.Sprintf("%d of %d comparisons cannot be made", max(by[stats.NotComparable], total-decidable(by)), total)
	case by[stats.Regressed] > 0:
		return GateRegressed, fmt.Sprintf("%d of %d comparisons are worse than their tolerance", by[stats.Regressed], total)
	case by[stats.Missing] > 0 || numberless > 0 || m.Partial():
		return GateIncomplete, fmt.Sprintf("%d trials without numbers, %s that could not be used", numberless, plural(len(m.Problems), "file"))
	case by[stats.Suspect]+by[stats.Inconclusive] > 0:
		return GateInconclusive, fmt.Sprintf("%d of %d comparisons are undecided", by[stats.Suspect]+by[stats.Inconclusive], total)
	default:
		return GatePassed, fmt.Sprintf("%d comparisons unchanged or better", total)
	}
}

func decidable(by map[stats.Verdict]int) int {
	n := 0
	for verdict, count := range by {
		if verdict != stats.Missing && verdict != stats.NotComparable {
			n += count
		}
	}
	return n
}

// Suspects lists the places (row and column labels) of comparisons that a confirmation must run again.
func (m *Model) Suspects() [][2]string {
	var out [][2]string
	for _, f := range findings(m) {
		place := [2]string{f.row, f.entry.Column}
		if v := f.entry.Comparison.Verdict; (v == stats.Suspect || v == stats.Regressed) && !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return out
}

// Differing lists what is not the same on both sides and was not declared, for explain: the first thing to look at.
func (m *Model) Differing() []Difference {
	return slices.DeleteFunc(slices.Clone(m.Differs), func(d Difference) bool { return d.Declared })
}
