package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// cellFacts holds the critical facts of each cell's valid trials: place → fact.
type cellFacts map[[2]string]map[string]*cellFact

// cellFact is one critical fact of a cell.
type cellFact struct {
	values map[string]bool
	asked  map[string]bool
	free   bool // the factor of the columns was declared to change it
}

// gatherFacts fills cellFacts. Within a row only the columns are compared, so what their factors may change is free:
// wholly where nobody could ask for it, else as far as something else was asked for.
func gatherFacts(trials []*trial, columns []string) cellFacts {
	cells := cellFacts{}
	for _, t := range trials {
		if t.status != results.StatusOK {
			continue
		}
		place := [2]string{t.row, t.column}
		if cells[place] == nil {
			cells[place] = map[string]*cellFact{}
		}
		for _, f := range t.facts {
			free := slices.ContainsFunc(f.owners, func(o string) bool { return slices.Contains(columns, o) })
			if !f.critical || free && f.asked == "" {
				continue
			}
			known := cells[place][f.name]
			if known == nil {
				known = &cellFact{values: map[string]bool{}, asked: map[string]bool{}, free: free}
				cells[place][f.name] = known
			}
			known.values[f.value], known.asked[f.asked] = true, true
		}
	}
	return cells
}

// why says what forbids comparing two cells, or nothing: a critical fact must have one value, the same on both sides.
func (c cellFacts) why(a, b [2]string) string {
	var reasons []string
	for _, name := range slices.Sorted(maps.Keys(c[a])) {
		left, right := c[a][name], c[b][name]
		if right == nil || len(left.values) == 1 && maps.Equal(left.values, right.values) {
			continue // a side without trials, or without that disk, is another matter
		}
		if left.free && !maps.Equal(left.asked, right.asked) {
			continue // as declared
		}
		reasons = append(reasons, fmt.Sprintf("%s differs: %s against %s", name, join(sorted(right.values)), join(sorted(left.values))))
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
