package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

var _ = register(Format{Name: "html", Extension: ".html", Help: "one page for a browser, without network", People: true, write: writeHTML})

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.html.tmpl
	pageTemplate string

	pageHTML = template.Must(template.New("page").Funcs(template.FuncMap{"plural": plural, "join": join}).Parse(pageTemplate))
)

// htmlPage is what the template prints: the Model in the words of a page.
type htmlPage struct {
	M                                   *Model
	CSS                                 template.CSS
	JSON                                template.JS // the Model itself; no executable type, so that no script ever runs
	Chips                               []htmlChip
	Matrices                            []htmlMatrix
	Claims                              []htmlClaim
	Times, Latencies                    []htmlFigure
	Percentiles, Why, Probes, Published *grid
	Order                               *htmlFigure
	Other                               []Difference
	Decide, Declared, FactorNames       string
	Kernel                              []htmlKernel
	Counts                              string
	Failed                              []Trial
	TrialTable                          grid
	TrialsLeft                          string
}

type (
	htmlChip struct {
		Text string
		Loud bool
	}
	htmlFigure struct {
		Title, Caption string
		SVG            template.HTML // made by package drawing, which escapes every text
	}
	htmlMatrix struct {
		Heading, Help, Corner string
		Columns               []string
		Rows                  []htmlRow
		Means                 string
		Figure                *htmlFigure
	}
	htmlRow struct {
		Label string
		Cells []htmlCell
	}
	htmlCell struct {
		Median, Class string
		Lines         []string
		Notes         []int
	}
	htmlClaim struct {
		Text, Source, Direction, Order, Magnitude, Published, Ours, Reason string
	}
	// grid is a table whose first column names the lines; text reports print it too.
	grid struct {
		Header []string
		Rows   [][]string
	}
	htmlKernel struct {
		Heading string
		Table   grid
	}
)

// maxTrialRows bounds the list of trials of a page; report.json, which the page carries, has all.
const maxTrialRows = 1000

func writeHTML(w io.Writer, m *Model, _ Style) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p := htmlPage{M: m, CSS: template.CSS(pageCSS), JSON: template.JS(data), Chips: chips(m), Claims: claimRows(m),
		Counts: fmt.Sprintf("%d planned: %s.", m.Counts.planned(), countsText(m.Counts)), Kernel: kernelTables(m)}
	figures := map[string]htmlFigure{}
	for _, f := range m.Figures() {
		figure := htmlFigure{f.Title, f.Caption, template.HTML(f.Drawing.InlineSVG())}
		figures[f.ID] = figure
		switch {
		case strings.HasPrefix(f.ID, "time"):
			p.Times = append(p.Times, figure)
		case strings.HasPrefix(f.ID, "latency"):
			p.Latencies = append(p.Latencies, figure)
		case f.ID == "order":
			p.Order = &figure
		}
	}
	for _, t := range m.Tables {
		if t.Headline {
			p.Matrices = append(p.Matrices, matrixOf(m, t, figures))
		}
	}
	p.Why, p.Probes, p.Percentiles = gridOf(m, isCost), gridOf(m, isProbe), gridOf(m, isLatency)
	if rounds := m.roundsToDecide(); rounds > 0 && len(m.Again) == 1 {
		p.Decide = fmt.Sprintf("%s --set rounds=%d", m.Again[0], rounds)
	}
	if m.Published != nil {
		p.Published = m.Published.grid()
	}
	p.fillFacts()
	p.fillTrials()
	return pageHTML.Execute(w, p)
}

// chips are the words without which numbers mean nothing; those that make numbers doubtful are loud.
func chips(m *Model) []htmlChip {
	var out []htmlChip
	for _, a := range m.Accelerators {
		text := "accelerator " + a
		if a == "tcg" {
			text = "software emulation (tcg)"
		}
		out = append(out, htmlChip{text, a == "tcg"})
	}
	for _, e := range m.Emulated {
		out = append(out, htmlChip{"emulated device: " + e, true})
	}
	for _, c := range m.Caches {
		out = append(out, htmlChip{"disk cache " + c, c == "unsafe"})
	}
	for _, d := range m.Durability {
		out = append(out, htmlChip{"durability " + d, d == "none"})
	}
	return append(out, htmlChip{countsText(m.Counts), m.Counts.OK < m.Counts.planned()})
}

// matrixOf turns a table into a heat map: a line a row of cells, a column a level.
func matrixOf(m *Model, t Table, figures map[string]htmlFigure) htmlMatrix {
	out := htmlMatrix{Heading: heading(t), Help: t.Metric.Help + "; " + judgedBy(t), Corner: join(m.Rows), Columns: m.columnLabels(), Means: strings.Join(meansText(t), "; ")}
	if f, ok := figures[figureID("bars", t.Key)]; ok {
		out.Figure = &f
	}
	s := scale(t)
	for _, row := range t.Rows {
		line := htmlRow{Label: row.Row}
		if line.Label == "" {
			line.Label = t.Metric.Name
		}
		for _, e := range row.Entries {
			cell := m.cellOf(row.Row, e.Column)
			c := htmlCell{Median: medianText(e, s), Class: heat(e.Comparison), Notes: slices.Concat(cell.Notes, e.Notes)}
			spread := "n = " + nText(e, cell)
			if e.Summary.Low != nil {
				spread += ", 95% " + intervalText(e, s)
			} else if e.Summary.N > 0 {
				spread += ", interval needs n ≥ " + fmt.Sprint(stats.MinIntervalN)
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

func claimRows(m *Model) []htmlClaim {
	word := func(j Judgement) string { return strings.ReplaceAll(string(j), "_", " ") }
	var out []htmlClaim
	for _, c := range m.Claims {
		row := htmlClaim{Text: c.Text, Source: c.Source, Direction: word(c.Direction) + map[bool]string{true: " (equal)"}[c.Equal], Order: word(c.Order), Magnitude: word(c.Magnitude), Reason: c.Reason}
		if c.Published != nil {
			row.Published = results.FormatNumber(*c.Published)
		}
		if c.Ratio != nil {
			row.Ours = results.FormatNumber(*c.Ratio)
		}
		if c.Low != nil {
			row.Ours += fmt.Sprintf(" [%s, %s]", results.FormatNumber(*c.Low), results.FormatNumber(*c.High))
		}
		out = append(out, row)
	}
	return out
}

func (p *htmlPage) fillFacts() {
	p.Other = p.M.Differing()
	p.Declared, p.FactorNames = declaredText(p.M), join(names(p.M.Factors))
}

func (p *htmlPage) fillTrials() {
	p.TrialTable.Header = []string{"trial", "cell", "round", "attempt", "status", "boot", "overhead", "whole"}
	seconds := func(v *float64) string {
		if v == nil {
			return ""
		}
		return results.FormatValue(*v, results.Seconds)
	}
	for _, t := range p.M.Trials {
		if t.Status != results.StatusOK && len(p.Failed) < maxTrialRows {
			p.Failed = append(p.Failed, t)
		}
		if len(p.TrialTable.Rows) < maxTrialRows {
			p.TrialTable.Rows = append(p.TrialTable.Rows, []string{t.ID, strings.Trim(t.Row+" "+t.Column, " "), fmt.Sprint(t.Round), fmt.Sprint(t.Attempt),
				string(t.Status), seconds(t.Boot), seconds(t.Overhead), seconds(t.Wall)})
		}
	}
	if left := len(p.M.Trials) - len(p.TrialTable.Rows); left > 0 {
		p.TrialsLeft = fmt.Sprintf("The first %d; %d more are in report.json.", len(p.TrialTable.Rows), left)
	}
}
