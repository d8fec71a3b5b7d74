package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// finding is one headline comparison.
type finding struct {
	table Table
	row   string
	entry Entry
}

// few is how many comparisons an answer tells one by one.
const few = 3

// answer says in a sentence or a few what the trials say, and never more than they do. It speaks of the first headline
// metric that can be judged, and of the others too while they are few.
func answer(m *Model) string {
	if m.Counts.OK == 0 {
		return "No answer: none of the trials is valid."
	}
	return strings.TrimSpace(losses(m) + " " + compared(m))
}

// compared answers with the comparisons.
func compared(m *Model) string {
	all := findings(m)
	switch {
	case len(all) == 0:
		return "There is nothing to compare: the trials have one cell, or no metric that can be better or worse."
	case len(all) <= few && tooFew(all):
		return undecided(m, all)
	case len(all) <= few:
		var parts []string
		for _, f := range all {
			parts = append(parts, sentence(m, f))
		}
		return strings.Join(parts, " ")
	default:
		return overview(m, all)
	}
}

// tooFew reports whether all comparisons are open because n is too small for any.
func tooFew(all []finding) bool {
	for _, f := range all {
		c := f.entry.Comparison
		if c.Verdict != stats.Inconclusive || c.Ratio == nil || c.Low != nil || c.Reason != all[0].entry.Comparison.Reason {
			return false
		}
	}
	return true
}

// undecided answers for comparisons that are all open for the same reason, and still says what was measured.
func undecided(m *Model, all []finding) string {
	var parts []string
	needed := 0
	for _, f := range all {
		parts = append(parts, change(m, f)+where(f))
		if n := f.entry.Comparison.NeededN; n != nil {
			needed = max(needed, *n)
		}
	}
	text := "These trials cannot tell: " + strings.Join(parts, ", and ") + ", but there are " + all[0].entry.Comparison.Reason
	if needed > 0 {
		text += fmt.Sprintf("; about %d trials a side would decide", needed)
	}
	return text + "."
}

// findings lists the headline comparisons.
func findings(m *Model) []finding {
	var all []finding
	for _, t := range m.Tables {
		if !t.Headline || t.Metric.Direction == results.Neutral {
			continue
		}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if c := e.Comparison; c != nil && c.NBase+c.NOther > 0 { // what neither side measured is no finding
					all = append(all, finding{t, row.Row, e})
				}
			}
		}
	}
	return all
}

// sentence answers with a single comparison.
func sentence(m *Model, f finding) string {
	c := f.entry.Comparison
	switch c.Verdict {
	case stats.Regressed, stats.Improved:
		return fmt.Sprintf("%s%s [%s, %s] (%s).", change(m, f), where(f), results.FormatChange(*c.Low), results.FormatChange(*c.High), trials(c))
	case stats.Unchanged:
		return fmt.Sprintf("No difference between %s and %s%s beyond the tolerance of %s%% (%s).",
			f.entry.Column, m.Baseline, where(f), percent(c.ToleranceRatio), trials(c))
	case stats.Missing, stats.NotComparable:
		return fmt.Sprintf("No answer for %s against %s: %s.", f.entry.Column, m.Baseline, c.Reason)
	}
	if c.Ratio == nil {
		return fmt.Sprintf("These trials cannot tell: %s.", c.Reason)
	}
	but := "but "
	if c.Low == nil {
		but = "but there are "
	}
	text := fmt.Sprintf("These trials cannot tell: %s%s, %s%s", change(m, f), where(f), but, c.Reason)
	if c.NeededN != nil {
		text += fmt.Sprintf("; about %d trials a side would decide", *c.NeededN)
	}
	return text + "."
}

// overview answers with many: counts first, then the largest difference that is sure.
func overview(m *Model, all []finding) string {
	by := map[stats.Verdict][]finding{}
	for _, f := range all {
		by[f.entry.Comparison.Verdict] = append(by[f.entry.Comparison.Verdict], f)
	}
	var parts []string
	for _, v := range []struct {
		verdict stats.Verdict
		words   string
	}{
		{stats.Improved, "better"}, {stats.Regressed, "worse"}, {stats.Unchanged, "without a difference"}, {stats.Suspect, "suspect"},
		{stats.Inconclusive, "undecided"}, {stats.Missing, "without trials"}, {stats.NotComparable, "not comparable"},
	} {
		if n := len(by[v.verdict]); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v.words))
		}
	}
	text := fmt.Sprintf("Of %d comparisons against %s: %s.", len(all), m.Baseline, strings.Join(parts, ", "))
	if tooFew(all) {
		text = strings.TrimSuffix(text, ".") + ", for there are " + all[0].entry.Comparison.Reason + "."
	}
	var largest *finding
	for _, f := range append(append([]finding(nil), by[stats.Improved]...), by[stats.Regressed]...) {
		if largest == nil || math.Abs(math.Log(*f.entry.Comparison.Ratio)) > math.Abs(math.Log(*largest.entry.Comparison.Ratio)) {
			largest = &f
		}
	}
	if largest == nil {
		return text
	}
	c := largest.entry.Comparison
	return text + fmt.Sprintf(" The largest sure difference: %s%s [%s, %s].",
		change(m, *largest), where(*largest), results.FormatChange(*c.Low), results.FormatChange(*c.High))
}

// change says what the estimate means in words that need no direction: "xfs needed 7.4% less time than ext4".
func change(m *Model, f finding) string {
	ratio := *f.entry.Comparison.Ratio
	name := f.entry.Column
	amount, word := strings.TrimPrefix(strings.TrimPrefix(results.FormatChange(ratio), "+"), "-"), "more"
	switch {
	case strings.HasPrefix(amount, "×"), strings.HasPrefix(amount, "÷"):
		factor := strings.TrimLeft(amount, "×÷")
		if ratio < 1 {
			return fmt.Sprintf("%s %s, by a factor of %s, than %s", name, verb(f.table.Metric.Unit, "less"), factor, m.Baseline)
		}
		return fmt.Sprintf("%s %s, by a factor of %s, than %s", name, verb(f.table.Metric.Unit, "more"), factor, m.Baseline)
	case amount == "0.0%":
		return fmt.Sprintf("%s and %s are equal", name, m.Baseline)
	case ratio < 1:
		word = "less"
	}
	return fmt.Sprintf("%s %s than %s", name, verb(f.table.Metric.Unit, amount+" "+word), m.Baseline)
}

func verb(unit results.Unit, amount string) string {
	switch unit {
	case results.Seconds:
		return "needed " + amount + " time"
	case results.PerSecond:
		return "did " + amount + " a second"
	default:
		return "had " + amount
	}
}

// where names the metric and, where there are rows, the row.
func where(f finding) string {
	text := f.table.Metric.Name
	if f.row != "" {
		text += ", " + f.row
	}
	return " (" + text + ")"
}

func trials(c *stats.Comparison) string {
	if c.NBase == c.NOther {
		return fmt.Sprintf("n = %d", c.NBase)
	}
	return fmt.Sprintf("n = %d and %d", c.NBase, c.NOther)
}

// percent prints a tolerance: 0.05 is "5".
func percent(ratio float64) string { return strconv.FormatFloat(ratio*100, 'g', 3, 64) }
