package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// cellFacts holds the critical facts of each cell's valid trials: place → fact → values.
type cellFacts map[[2]string]map[string]map[string]bool

// gatherFacts fills cellFacts, leaving out what the column factors were declared to change: within a row only the
// columns are compared.
func gatherFacts(trials []*trial, columns []string) cellFacts {
	cells := cellFacts{}
	for _, t := range trials {
		if t.status != results.StatusOK {
			continue
		}
		place := [2]string{t.row, t.column}
		if cells[place] == nil {
			cells[place] = map[string]map[string]bool{}
		}
		for _, f := range t.facts {
			if !f.critical || slices.ContainsFunc(f.owners, func(o string) bool { return slices.Contains(columns, o) }) {
				continue
			}
			if cells[place][f.name] == nil {
				cells[place][f.name] = map[string]bool{}
			}
			cells[place][f.name][f.value] = true
		}
	}
	return cells
}

// why says what forbids comparing two cells, or nothing: a critical fact must have one value, the same on both sides.
func (c cellFacts) why(a, b [2]string) string {
	var reasons []string
	for _, name := range slices.Sorted(maps.Keys(c[a])) {
		left, right := c[a][name], c[b][name]
		if len(right) == 0 || len(left) == 1 && maps.Equal(left, right) {
			continue // a side without trials, or without that disk, is another matter
		}
		reasons = append(reasons, fmt.Sprintf("%s differs: %s against %s", name, join(sorted(right)), join(sorted(left))))
	}
	return strings.Join(reasons, "; ")
}

// compare compares a cell with the baseline of its row, unless a critical fact forbids it. With Options.Anyway it is done
// all the same, and override says what was overridden.
func (b *builder) compare(row, column string, base, other *cellSamples, info results.MetricInfo) (c stats.Comparison, override string) {
	reason := b.facts.why([2]string{row, b.base}, [2]string{row, column})
	if reason != "" && !b.anyway {
		return stats.Comparison{NBase: len(base.values), NOther: len(other.values), ToleranceRatio: info.ToleranceRatio,
			Verdict: stats.NotComparable, Reason: reason}, ""
	}
	return stats.Compare(base.values, other.values, stats.Question{Direction: info.Direction, ToleranceRatio: info.ToleranceRatio}), reason
}
