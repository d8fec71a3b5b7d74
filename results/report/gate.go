package report

import (
	"fmt"
	"maps"
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

// tally counts what a gate looks at.
type tally struct {
	by         map[stats.Verdict]int
	total      int
	numberless int // trials without numbers
	problems   int // files that could not be used
	compared   bool
}

// count adds the comparisons of a report, without those in some places.
func (t *tally) count(m *Model, without [][2]string) {
	for _, f := range findings(m) {
		if slices.Contains(without, [2]string{f.row, f.entry.Column}) {
			continue
		}
		t.by[f.entry.Comparison.Verdict]++
		t.total++
	}
	t.numberless += m.Counts.planned() - m.Counts.OK - m.Counts.Skipped
	t.problems += len(m.Problems)
	t.compared = t.compared || m.Compared()
}

// Gate judges a comparison of runs as a whole and says why in a sentence.
func (m *Model) Gate() (Outcome, string) {
	t := tally{by: map[stats.Verdict]int{}}
	t.count(m, nil)
	return t.outcome()
}

// GateConfirmed judges a comparison whose suspects were measured again: fresh alone decides about them, and what was not
// in doubt stays as it was.
func (m *Model) GateConfirmed(fresh *Model) (Outcome, string) {
	t := tally{by: map[stats.Verdict]int{}}
	t.count(m, m.Suspects())
	t.count(fresh, nil)
	outcome, reason := t.outcome()
	return outcome, reason + ", suspects by fresh trials alone"
}

func (t tally) outcome() (Outcome, string) {
	by, open := t.by, t.by[stats.Suspect]+t.by[stats.Inconclusive]
	switch {
	case !t.compared || by[stats.NotComparable] > 0:
		return GateNotComparable, fmt.Sprintf("%d of %d comparisons cannot be made", max(by[stats.NotComparable], t.total-decidable(by)), t.total)
	case by[stats.Regressed] > 0:
		return GateRegressed, fmt.Sprintf("%d of %d comparisons are worse than their tolerance", by[stats.Regressed], t.total)
	case by[stats.Missing] > 0 || t.numberless > 0 || t.problems > 0:
		return GateIncomplete, fmt.Sprintf("%s without numbers, %s that could not be used", plural(t.numberless, "trial"), plural(t.problems, "file"))
	case open > 0:
		return GateInconclusive, fmt.Sprintf("%d of %d comparisons are undecided", open, t.total)
	default:
		return GatePassed, fmt.Sprintf("%s unchanged or better", plural(t.total, "comparison"))
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

// SuspectLevels lists the cells of Suspects by the levels that both runs know them by.
func (m *Model) SuspectLevels() []map[string]string {
	var out []map[string]string
	for _, place := range m.Suspects() {
		levels := maps.Clone(m.cellOf(place[0], place[1]).Levels)
		delete(levels, RunFactor)
		if !slices.ContainsFunc(out, func(o map[string]string) bool { return maps.Equal(o, levels) }) {
			out = append(out, levels)
		}
	}
	return out
}

// Differing lists what is not the same on both sides and was not declared, for explain: the first thing to look at.
func (m *Model) Differing() []Difference {
	return slices.DeleteFunc(slices.Clone(m.Differs), func(d Difference) bool { return d.Declared })
}
