package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"platter/results/stats"
)

var _ = register(Format{Name: "markdown", Extension: ".md", Help: "for a comment in code review or CI", People: true, write: writeMarkdown})

// markdownLimit keeps a comment below what code hosts accept (65,536 characters).
const markdownLimit = 60_000

// writeMarkdown prints the answer, the cells that changed, and the full table folded away.
func writeMarkdown(w io.Writer, m *Model, _ Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", md(m.Title()))
	fmt.Fprintf(&b, "**Question:** %s\n\n**Answer:** %s\n\n", md(m.Question), md(m.Answer))
	fmt.Fprintf(&b, "Trials: %s.\n\n", md(countsText(m.Counts)))
	if m.Partial() {
		fmt.Fprintf(&b, "**Partial:** %d files could not be used, the first: %s\n\n", len(m.Problems), md(m.Problems[0]))
	}
	changed := func(e Entry) bool {
		return e.Comparison != nil && slices.Contains([]stats.Verdict{stats.Improved, stats.Regressed, stats.Suspect}, e.Comparison.Verdict)
	}
	markdownTables(&b, m, changed)
	for _, claim := range m.Claims {
		fmt.Fprintf(&b, "- %s\n", md(claim.Line()))
	}
	if len(m.Claims) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("<details><summary>All cells</summary>\n\n")
	full := b.Len()
	markdownTables(&b, m, func(Entry) bool { return true })
	text := b.String()
	tail := "\n</details>\n\n" + markdownTail(m)
	if len(text)+len(tail) > markdownLimit {
		text = text[:full] + "Too many to show here; see the run folder.\n"
	}
	if len(text)+len(tail) > markdownLimit {
		tail = "\n</details>\n"
	}
	_, err := io.WriteString(w, text+tail)
	return err
}

// markdownTables prints one table a headline metric, with the entries that keep admits and their baselines.
func markdownTables(b *strings.Builder, m *Model, keep func(Entry) bool) {
	for _, t := range m.Tables {
		if !t.Headline {
			continue
		}
		s := scale(t)
		var lines []string
		for _, row := range t.Rows {
			if !slices.ContainsFunc(row.Entries, keep) {
				continue
			}
			for _, e := range row.Entries {
				if !keep(e) && e.Column != m.Baseline {
					continue
				}
				against := ""
				if e.Comparison != nil {
					against = againstText(e.Comparison)
				}
				lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s%s |\n", md(row.Row), md(e.Column),
					nText(e, m.cellOf(row.Row, e.Column)), medianText(e, s), intervalText(e, s), against, markdownMarks(e.Notes)))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(b, "**%s** (%s)\n\n| %s | %s | n | median | 95%% interval | against %s |\n| --- | --- | ---: | ---: | ---: | --- |\n%s\n",
				md(heading(t)), judgedBy(t), md(join(m.Rows)), md(join(m.Columns)), md(m.Baseline), strings.Join(lines, ""))
			if means := meansText(t); len(means) > 0 {
				fmt.Fprintf(b, "Geometric mean of the ratios: %s\n\n", md(strings.Join(means, "; ")))
			}
		}
	}
}

// markdownTail prints notes, differences and how to run it again.
func markdownTail(m *Model) string {
	var b strings.Builder
	for _, n := range m.Notes {
		fmt.Fprintf(&b, "<sup>%d</sup> %s  \n", n.Number, md(n.Text))
	}
	for _, d := range m.Differs {
		if !d.Declared {
			fmt.Fprintf(&b, "\nAlso differs: %s", md(d.Name))
		}
	}
	if len(m.Again) > 0 {
		fmt.Fprintf(&b, "\nRun it again: %s\n", mdCode(m.Again[0]))
	}
	return b.String()
}

func markdownMarks(numbers []int) string {
	var b strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&b, " <sup>%d</sup>", n)
	}
	return b.String()
}

// mdSpecial is what Markdown or HTML inside Markdown could take for more than text.
var mdSpecial = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;",
	"|", `\|`, "#", `\#`, "~", `\~`, "@", "@\u200b", "\n", " ", "!", `\!`, "&", "&amp;")

// md escapes a text for Markdown; an at sign gets a zero-width space so that nobody is notified.
func md(s string) string { return mdSpecial.Replace(s) }

// mdCode prints a text as code, whatever back-ticks it holds.
func mdCode(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}
