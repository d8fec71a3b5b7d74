package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

type (
	htmlMatrix struct {
		ID, Heading, Name, Help, Corner string
		Columns                         []string
		Rows                            []htmlRow
		Means                           string
		Figure                          *htmlFigure
	}
	htmlRow struct {
		Label, Detail, ID string // ID: of the table with the details
		Cells             []htmlCell
	}
	htmlCell struct {
		Median, Class string
		Lines         []string
		Notes         []int
	}
)

// overviewOf puts all main metrics into one heat map, a line a metric and row; nil where one table shows all.
func overviewOf(m *Model) *htmlMatrix {
	out := htmlMatrix{Corner: "median", Columns: m.columnLabels()}
	tables := 0
	for _, t := range m.Tables {
		if !t.Headline {
			continue
		}
		tables++
		s := scale(t)
		for _, row := range t.Rows {
			line := htmlRow{Label: titleOf(t), Detail: row.Row, ID: anchor(tables)}
			for _, e := range row.Entries {
				cell := htmlCell{Median: medianText(e, s), Class: heat(e.Comparison)}
				if c := e.Comparison; c != nil {
					text := verdictSign(c.Verdict)
					if c.Ratio != nil {
						text = results.FormatChange(*c.Ratio) + " " + text
					}
					cell.Lines = []string{text}
				}
				line.Cells = append(line.Cells, cell)
			}
			out.Rows = append(out.Rows, line)
		}
	}
	if tables < 2 {
		return nil
	}
	return &out
}

func anchor(n int) string { return fmt.Sprintf("metric-%d", n) }

// matricesOf turns each main table into a heat map with all that is known of a cell: a line a row, a column a level.
func matricesOf(m *Model, figures map[string]htmlFigure) []htmlMatrix {
	var out []htmlMatrix
	for _, t := range m.Tables {
		if t.Headline {
			matrix := matrixOf(m, t, figures)
			matrix.ID = anchor(len(out) + 1)
			out = append(out, matrix)
		}
	}
	return out
}

func matrixOf(m *Model, t Table, figures map[string]htmlFigure) htmlMatrix {
	out := htmlMatrix{Heading: titleOf(t), Name: heading(t), Help: t.Metric.Help + "; " + judgedBy(t), Corner: join(m.Rows),
		Columns: m.columnLabels(), Means: strings.Join(meansText(t), "; ")}
	if f, ok := figures[figureID("bars", t.Key)]; ok {
		out.Figure = &f
	}
	s := scale(t)
	for _, row := range t.Rows {
		line := htmlRow{Label: row.Row}
		for _, e := range row.Entries {
			cell := m.cellOf(row.Row, e.Column)
			c := htmlCell{Median: medianText(e, s), Class: heat(e.Comparison), Notes: slices.Concat(cell.Notes, e.Notes)}
			spread := "n = " + nText(e, cell)
			if e.Summary.Low != nil {
				spread += ", 95% " + intervalText(e, s)
			}
			if cv := cvText(e); cv != "" {
				spread += ", CV " + cv
			}
			c.Lines = append(c.Lines, spread)
			if e.Comparison != nil {
				c.Lines = append(c.Lines, againstText(e.Comparison))
			} else if m.Baseline != "" {
				c.Lines = append(c.Lines, "baseline")
			}
			line.Cells = append(line.Cells, c)
		}
		out.Rows = append(out.Rows, line)
	}
	return out
}

// heat is the class of a cell: blue for better, orange for worse, three depths, hatched while undecided.
func heat(c *stats.Comparison) string {
	if c == nil || c.Verdict == stats.NotJudged || c.Verdict == stats.Unchanged {
		return ""
	}
	if !c.Verdict.Decided() || c.Ratio == nil {
		return "open"
	}
	depth := 1
	for _, bound := range []float64{0.10, 0.30} {
		if math.Abs(math.Log(*c.Ratio)) > bound {
			depth++
		}
	}
	if c.Verdict == stats.Improved {
		return fmt.Sprint("b", depth)
	}
	return fmt.Sprint("w", depth)
}
