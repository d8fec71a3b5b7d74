package report

import (
	"strings"

	"platter/results"
	"platter/results/stats"
)

// verdictSign is one character a verdict; it is always beside the number.
func verdictSign(v stats.Verdict) string {
	switch v {
	case stats.Unchanged:
		return "~"
	case stats.Improved:
		return "✓"
	case stats.Regressed:
		return "✗"
	case stats.Suspect:
		return "!"
	case stats.NotJudged:
		return ""
	default:
		return "?"
	}
}

// verdictWord says a verdict about a level, where "regressed" would suggest time.
func verdictWord(v stats.Verdict) string {
	switch v {
	case stats.Unchanged:
		return "no difference"
	case stats.Improved:
		return "better"
	case stats.Regressed:
		return "worse"
	case stats.Suspect:
		return "perhaps worse"
	case stats.Inconclusive:
		return "cannot tell"
	case stats.NotJudged:
		return ""
	default:
		return strings.ReplaceAll(string(v), "_", " ")
	}
}

// againstText prints a comparison: "-7.4% [-9.1%, -5.2%] p=.002 ✗ worse".
func againstText(c *stats.Comparison) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if c.Ratio != nil {
		add(results.FormatChange(*c.Ratio))
	}
	if c.Low != nil {
		add("[" + results.FormatChange(*c.Low) + ", " + results.FormatChange(*c.High) + "]")
	}
	if c.P != nil {
		add(results.FormatP(*c.P))
	}
	add(verdictSign(c.Verdict))
	add(verdictWord(c.Verdict))
	return strings.Join(parts, " ")
}

// roundsToDecide is how many rounds would decide all open headline comparisons that can be decided at all, or 0.
func (m *Model) roundsToDecide() int {
	rounds := 0
	for _, f := range findings(m) {
		if n := f.entry.Comparison.NeededN; n != nil {
			rounds = max(rounds, *n)
		}
	}
	return rounds
}

// Compared reports whether any headline comparison had values on both sides. A comparison of runs that have nothing in
// common must not end well.
func (m *Model) Compared() bool {
	for _, f := range findings(m) {
		if c := f.entry.Comparison; c.NBase > 0 && c.NOther > 0 {
			return true
		}
	}
	return false
}
