package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"platter/results"
	"platter/results/stats"
)

// table prints one metric: a line a cell, with its factors, n, median, interval, spread, what it is against the
// baseline, and a dot for each trial. Where the page is too narrow the dots come in a block of their own.
func (p *page) table(t Table) {
	fmt.Fprintf(p, "%s\n", p.bold(heading(t)))
	p.indented("", t.Metric.Help+"; "+judgedBy(t), 2)
	lines := p.lines(t, 0)
	low, high := extremes(t)
	if low < high {
		room := p.style.Width - 2 - text.StringWidthWithoutEscSequences(lines[1]) - len("  ||")
		if room >= max(narrowStrip, text.StringWidthWithoutEscSequences(stripTitle(scale(t), low, high))-2) {
			lines = p.lines(t, min(room, wideStrip))
		} else {
			lines = append(append(lines, ""), p.strips(t)...)
		}
	}
	for _, line := range lines {
		p.WriteString(strings.TrimRight("  "+line, " ") + "\n")
	}
	if means := meansText(t); len(means) > 0 {
		p.indented("", "geometric mean of the ratios against "+p.m.Baseline+": "+strings.Join(means, "; "), 2)
	}
	p.WriteString("\n")
}

// The widths of the strips of dots.
const (
	narrowStrip = 16
	wideStrip   = 40
)

// lines renders a table; strip is the width of its column of dots, 0 for none.
func (p *page) lines(t Table, strip int) []string {
	w, factors := p.newTable()
	header := append(p.factorNames(factors), "n", "median", "95% interval", "CV")
	if p.m.Baseline != "" {
		header = append(header, "against "+p.m.Baseline)
	}
	low, high := extremes(t)
	s := scale(t)
	if strip > 0 {
		header = append(header, stripTitle(s, low, high))
	}
	w.AppendHeader(header)
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			cell := p.m.cellOf(row.Row, e.Column)
			line := append(p.levels(cell, factors), nText(e, cell)+p.marks(cell.Notes),
				medianText(e, s)+p.marksOf(e, "not_measured"), intervalText(e, s), cvText(e))
			if p.m.Baseline != "" {
				line = append(line, p.against(e))
			}
			if strip > 0 {
				line = append(line, dots(e.Summary.Values, low, high, strip))
			}
			w.AppendRow(line)
		}
	}
	var right []table.ColumnConfig
	for i := factors + 1; i <= factors+4; i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	w.SetColumnConfigs(right)
	return strings.Split(w.Render(), "\n")
}

// strips renders the dots of a table alone.
func (p *page) strips(t Table) []string {
	w, factors := p.newTable()
	low, high := extremes(t)
	w.AppendHeader(append(p.factorNames(factors), stripTitle(scale(t), low, high)))
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			w.AppendRow(append(p.levels(p.m.cellOf(row.Row, e.Column), factors), dots(e.Summary.Values, low, high, wideStrip)))
		}
	}
	return strings.Split(w.Render(), "\n")
}

func stripTitle(s results.Scale, low, high float64) string {
	return fmt.Sprintf("trials %s–%s", strings.TrimSuffix(s.Format(low), s.Suffix), s.Format(high))
}

// newTable returns an empty table and how many of its columns name the cell.
func (p *page) newTable() (table.Writer, int) {
	w := table.NewWriter()
	w.SetStyle(plainStyle())
	return w, max(1, len(p.m.Rows)+len(p.m.Columns))
}

func (p *page) factorNames(columns int) table.Row {
	names := table.Row{}
	for _, name := range slices.Concat(p.m.Rows, p.m.Columns) {
		names = append(names, name)
	}
	for len(names) < columns {
		names = append(names, "")
	}
	return names
}

// shortCosts are the costs worth a line on a terminal.
var shortCosts = []string{"flushes_per_transaction_ratio", "written_bytes_per_transaction_ratio", "device_busy_ratio",
	"cpu_user_ratio", "cpu_system_ratio", "cpu_iowait_ratio", "cpu_steal_ratio", "context_switches_per_second"}

// costs prints what the machine did for the work, where that fits the page: the first thing to look at for a why.
func (p *page) costs() {
	g := gridOf(p.m, func(t Table) bool { return isCost(t) && !t.Headline && slices.Contains(shortCosts, t.Metric.Name) })
	if g == nil {
		return
	}
	if lines := p.gridLines(*g); text.StringWidthWithoutEscSequences(lines[1]) <= p.style.Width {
		p.block("What it cost", lines)
	}
}

// published prints a write-up's figures beside ours.
func (p *page) published() {
	if p.m.Published == nil {
		return
	}
	p.block(fmt.Sprintf("Beside %s", p.m.Published.Source), p.gridLines(*p.m.Published.grid()))
	for i, line := range p.m.Published.Era {
		p.field(map[bool]string{true: "Then and now"}[i == 0], line)
	}
	p.WriteString("\n")
}

func (p *page) block(title string, lines []string) {
	p.WriteString(p.bold(title) + "\n" + strings.Join(lines, "\n") + "\n\n")
}

// gridLines renders a grid, indented.
func (p *page) gridLines(g grid) []string {
	w := table.NewWriter()
	w.SetStyle(plainStyle())
	row := func(cells []string) table.Row {
		out := table.Row{}
		for _, cell := range cells {
			out = append(out, cell)
		}
		return out
	}
	w.AppendHeader(row(g.Header))
	var right []table.ColumnConfig
	for i := range g.Header[1:] {
		right = append(right, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	w.SetColumnConfigs(right)
	for _, cells := range g.Rows {
		w.AppendRow(row(cells))
	}
	lines := strings.Split(w.Render(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("  "+line, " ")
	}
	return lines
}

// plainStyle is a table without a frame: a rule under the header and two blanks between columns.
func plainStyle() table.Style {
	style := table.StyleLight
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	return style
}

func (p *page) levels(cell Cell, factors int) table.Row {
	line := table.Row{}
	for _, name := range slices.Concat(p.m.Rows, p.m.Columns) {
		line = append(line, cell.Levels[name])
	}
	for len(line) < factors {
		line = append(line, "")
	}
	return line
}

// nText is how many trials count, and of how many when some do not.
func nText(e Entry, cell Cell) string {
	if planned := cell.Counts.planned(); planned != e.Summary.N {
		return fmt.Sprintf("%d of %d", e.Summary.N, planned)
	}
	return fmt.Sprint(e.Summary.N)
}

// against prints the comparison of an entry, coloured by its verdict.
func (p *page) against(e Entry) string {
	if e.Comparison == nil {
		return "(baseline)"
	}
	escape := map[stats.Verdict]string{stats.Improved: escGreen, stats.Regressed: escRed, stats.Suspect: escRed}[e.Comparison.Verdict]
	return p.paint(escape, againstText(e.Comparison)) + p.marksExcept(e, "not_measured")
}

func (p *page) marksOf(e Entry, codes ...string) string {
	return p.marks(slices.DeleteFunc(slices.Clone(e.Notes), func(n int) bool { return !slices.Contains(codes, p.codes[n]) }))
}

func (p *page) marksExcept(e Entry, codes ...string) string {
	return p.marks(slices.DeleteFunc(slices.Clone(e.Notes), func(n int) bool { return slices.Contains(codes, p.codes[n]) }))
}

// marks prints the numbers of notes: " [1][3]".
func (p *page) marks(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteByte(' ')
	for _, n := range numbers {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// extremes returns the smallest and the largest value of a table; low ≥ high when there are no two.
func extremes(t Table) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, row := range t.Rows {
		for _, e := range row.Entries {
			for _, v := range e.Summary.Values {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

// dots draws a dot a trial between low and high; where several fall together their number stands.
func dots(values []float64, low, high float64, width int) string {
	counts := make([]int, width)
	for _, v := range values {
		counts[int(math.Round((v-low)/(high-low)*float64(width-1)))]++
	}
	var b strings.Builder
	for _, n := range counts {
		switch {
		case n == 0:
			b.WriteByte(' ')
		case n == 1:
			b.WriteRune('•')
		case n < 10:
			b.WriteByte(byte('0' + n))
		default:
			b.WriteByte('#')
		}
	}
	return "│" + b.String() + "│"
}
