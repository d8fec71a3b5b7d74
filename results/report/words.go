package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// The words below are shared by all formats that people read, so that a report says the same everywhere.

// heading names a table: "run_seconds, step slap, clients=10".
func heading(t Table) string {
	text := t.Metric.Name
	if t.Step != "" {
		text += ", step " + t.Step
	}
	if labels := labelsText(t.Labels); labels != "" {
		text += ", " + labels
	}
	return text
}

// titleOf names a table for people: "Transactions per second · run · clients=10".
func titleOf(t Table) string {
	parts := []string{metricTitle(t.Metric.Name)}
	if t.Step != "" {
		parts = append(parts, t.Step)
	}
	if labels := labelsText(t.Labels); labels != "" {
		parts = append(parts, labels)
	}
	return strings.Join(parts, " · ")
}

// shortTitle is titleOf without the labels that most tables of a step share.
func shortTitle(t Table) string {
	labels := maps.Clone(t.Labels)
	for _, name := range []string{"clients", "engine", "kind"} {
		delete(labels, name)
	}
	if labels["operation"] == "transaction" {
		delete(labels, "operation")
	}
	t.Labels = labels
	return titleOf(t)
}

// metricTitle turns a metric's name into words: latency_p999_seconds is "Latency p99.9", run_seconds "Run time".
func metricTitle(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	switch {
	case strings.HasPrefix(name, "latency_"):
		words = strings.TrimSuffix(words, " seconds")
		if p, is := results.Percentile(name); is {
			words = "latency p" + p
		}
	case strings.HasPrefix(name, "cpu_"):
		words = "processor" + strings.TrimSuffix(strings.TrimPrefix(words, "cpu"), " ratio")
		if before, is := strings.CutSuffix(words, " seconds"); is {
			words = before + " time"
		}
	case strings.HasSuffix(name, "_seconds"):
		words = strings.TrimSuffix(words, " seconds") + " time"
	case strings.HasSuffix(name, "_ratio"):
		words = strings.TrimSuffix(words, " ratio")
	case strings.HasSuffix(name, "_total"):
		words = strings.TrimSuffix(words, " total")
	case strings.HasSuffix(name, "_bytes"):
		words = strings.TrimSuffix(words, " bytes") + ", bytes"
	}
	if words == "" {
		return name
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// steadyText says which measured steps of a trial were steady; nothing where nobody knows.
func steadyText(steady map[string]bool) string {
	var yes, no []string
	for _, step := range slices.Sorted(maps.Keys(steady)) {
		if steady[step] {
			yes = append(yes, step)
		} else {
			no = append(no, step)
		}
	}
	switch {
	case len(yes)+len(no) == 0:
		return "unknown"
	case len(no) == 0:
		return "yes"
	case len(yes) == 0:
		return "no"
	default:
		return "not in " + join(no)
	}
}

// judgedBy says how a table is to be read: "lower is better, tolerance 5%".
func judgedBy(t Table) string {
	switch t.Metric.Direction {
	case results.HigherBetter, results.LowerBetter:
		return fmt.Sprintf("%s is better, tolerance %s%%", t.Metric.Direction, percent(t.Metric.ToleranceRatio))
	default:
		return "for explanation"
	}
}

// scale chooses one unit for all medians of a table.
func scale(t Table) results.Scale {
	var medians []float64
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			medians = append1(medians, e.Summary.Median)
		}
	}
	return results.ScaleOf(t.Metric.Unit, medians...)
}

func medianText(e Entry, s results.Scale) string {
	if e.Summary.Median == nil {
		return "n/a"
	}
	return s.Format(*e.Summary.Median)
}

// intervalText prints the interval of the median, or says that n is too small.
func intervalText(e Entry, s results.Scale) string {
	switch {
	case e.Summary.Low != nil:
		low := strings.TrimSuffix(s.Format(*e.Summary.Low), s.Suffix)
		return "[" + low + ", " + s.Format(*e.Summary.High) + "]"
	case e.Summary.N == 0:
		return ""
	default:
		return fmt.Sprintf("needs n ≥ %d", stats.MinIntervalN)
	}
}

func cvText(e Entry) string {
	if e.Summary.CV == nil {
		return ""
	}
	return fmt.Sprintf("%.1f%%", *e.Summary.CV*100)
}

// Line is an A/A control in one line, the same in every format.
func (c Control) Line() string {
	place := strings.Trim(c.Row+" "+c.Column, " ")
	if c.Comparison.Ratio == nil {
		return fmt.Sprintf("%s, %s: no valid trials on both sides", place, c.Key)
	}
	line := fmt.Sprintf("%s, %s: the same cell under two names lies %s apart", place, c.Key, results.FormatChange(*c.Comparison.Ratio))
	if c.Comparison.Low != nil {
		line += fmt.Sprintf(" [%s, %s]", results.FormatChange(*c.Comparison.Low), results.FormatChange(*c.Comparison.High))
	}
	return line + " (" + trials(&c.Comparison) + ")"
}

// countsText lists the counts that are not zero.
func countsText(c Counts) string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{c.OK, "ok"}, {c.Invalid, "invalid"}, {c.Failed, "failed"}, {c.Skipped, "skipped"}, {c.Lost, "lost"},
		{c.Interrupted, "interrupted"}, {c.Missing, "missing"}, {c.Retried, "tried again"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// planned is how many trials the plan has for a cell.
func (c Counts) planned() int {
	return c.OK + c.Invalid + c.Failed + c.Skipped + c.Lost + c.Interrupted + c.Missing
}

// cellOf finds the cell of a place in a table.
func (m *Model) cellOf(row, column string) Cell {
	for _, cell := range m.Cells {
		if cell.Row == row && cell.Column == column {
			return cell
		}
	}
	return Cell{Row: row, Column: column}
}

// isSetting tells the facts that are settings read back from those about the laboratory.
func isSetting(name string) bool {
	subject, rest, ok := strings.Cut(name, " ")
	return ok && rest != "" && subjectOwners[subject] != nil && subject != "disk"
}

// heldText lists what was held equal and counts the settings.
func heldText(m *Model) []string {
	var lines []string
	settings := 0
	for _, f := range m.Held {
		if isSetting(f.Name) {
			settings++
			continue
		}
		lines = append(lines, f.Name+" "+f.Value)
	}
	if settings > 0 {
		lines = append(lines, fmt.Sprintf("%d settings as read back", settings))
	}
	return lines
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// meansText says what all rows come to together: "xfs -7.4% (3 of 4 rows)".
func meansText(t Table) []string {
	var lines []string
	for _, m := range t.Means {
		ratio := "n/a"
		if m.Ratio != nil {
			ratio = results.FormatChange(*m.Ratio)
		}
		lines = append(lines, fmt.Sprintf("%s %s (%d of %d rows)", m.Column, ratio, m.K, m.M))
	}
	return lines
}

// declaredText lists the declared differences; many properties of one subject become a count.
func declaredText(m *Model) string {
	const few = 3
	bySubject := map[string][]string{}
	var order []string
	for _, d := range m.Differs {
		if !d.Declared {
			continue
		}
		subject := d.Name
		if isSetting(d.Name) {
			subject, _, _ = strings.Cut(d.Name, " ")
			subject += " settings"
		}
		if bySubject[subject] == nil {
			order = append(order, subject)
		}
		bySubject[subject] = append(bySubject[subject], d.Name)
	}
	var parts []string
	for _, subject := range order {
		if names := bySubject[subject]; len(names) <= few {
			parts = append(parts, names...)
		} else {
			parts = append(parts, fmt.Sprintf("%d %s", len(names), subject))
		}
	}
	return join(parts)
}
