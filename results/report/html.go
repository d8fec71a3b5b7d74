package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"platter/results"
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
	M                              *Model
	CSS                            template.CSS
	JSON                           template.JS // the Model itself; no executable type, so that no script ever runs
	Chips                          []htmlChip
	Links                          []htmlLink
	Overview                       *htmlMatrix // all main metrics in one heat map, where there are several
	Matrices                       []htmlMatrix
	Claims                         []htmlClaim
	Times, Latencies               []htmlFigure
	Percentiles, Probes, Published *grid
	Why                            []htmlLevel
	Order, Rounds                  *htmlFigure
	Other                          []Difference
	Decide, Declared, FactorNames  string
	Kernel                         []htmlKernel
	Counts                         string
	Failed                         []Trial
	TrialTable                     grid
	TrialsLeft                     string
}

type (
	htmlChip struct {
		Text string
		Loud bool
	}
	htmlFigure struct {
		Title, Caption string
		SVG            template.HTML // made by package drawing, which escapes every text
		Narrow         bool          // fits a phone as it is
	}
	htmlLink  struct{ ID, Text string }
	htmlClaim struct {
		Text, Source, Direction, Order, Magnitude, Published, Ours, Reason, Mark string
	}
	// grid is a table whose first column names the lines; text reports print it too.
	grid struct {
		Header []string
		Rows   [][]string
	}
)

// maxTrialRows bounds the list of trials of a page; report.json, which the page carries, has all.
const maxTrialRows = 1000

// writeHTML prints the page.
//
// Note: uPlot was considered for the series over time and left out. The page has no script at all, and its policy allows
// none: what a guest wrote can never run, the page is the same with scripts off, and the figures' own titles name each
// trial; zooming is what JSON and CSV are for.
func writeHTML(w io.Writer, m *Model, _ Style) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p := htmlPage{M: m, CSS: template.CSS(pageCSS), JSON: template.JS(data), Chips: chips(m), Claims: claimRows(m),
		Counts: fmt.Sprintf("%d planned: %s.", m.Counts.planned(), countsText(m.Counts)), Kernel: kernelTables(m)}
	figures := map[string]htmlFigure{}
	for _, f := range m.Figures() {
		figure := htmlFigure{f.Title, f.Caption, template.HTML(f.Drawing.InlineSVG()), f.Narrow != nil}
		if f.Narrow != nil {
			figure.SVG = template.HTML(f.Narrow.InlineSVG())
		}
		figures[f.ID] = figure
		switch {
		case strings.HasPrefix(f.ID, "time"):
			p.Times = append(p.Times, figure)
		case strings.HasPrefix(f.ID, "latency"):
			p.Latencies = append(p.Latencies, figure)
		case f.ID == "order":
			p.Order = &figure
		case f.ID == "rounds":
			p.Rounds = &figure
		}
	}
	p.Overview, p.Matrices = overviewOf(m), matricesOf(m, figures)
	p.Why, p.Probes, p.Percentiles = levelsOfCost(m), gridOf(m, isProbe), percentilesOf(m)
	if rounds := m.roundsToDecide(); rounds > 0 && len(m.Again) == 1 {
		p.Decide = fmt.Sprintf("%s --set rounds=%d", m.Again[0], rounds)
	}
	if m.Published != nil {
		p.Published = m.Published.grid()
	}
	p.fillFacts()
	p.fillTrials()
	p.fillLinks()
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
	for _, p := range m.Passthrough {
		out = append(out, htmlChip{"passthrough: " + p, false})
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

func claimRows(m *Model) []htmlClaim {
	word := func(j Judgement) string { return strings.ReplaceAll(string(j), "_", " ") }
	var out []htmlClaim
	for _, c := range m.Claims {
		row := htmlClaim{Text: c.Text, Source: c.Source, Direction: word(c.Direction) + map[bool]string{true: " (equal)"}[c.Equal], Order: word(c.Order), Magnitude: word(c.Magnitude), Reason: c.Reason,
			Mark: map[Judgement]string{Reproduced: "ok", Reversed: "bad", NotReproduced: "bad"}[c.Direction]}
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

// fillLinks lists the sections that the page has.
func (p *htmlPage) fillLinks() {
	for _, link := range []struct {
		there bool
		htmlLink
	}{
		{len(p.Matrices) > 0, htmlLink{"results", "Results"}}, {len(p.Claims) > 0, htmlLink{"claims", "Claims"}},
		{p.Published != nil, htmlLink{"published", "Beside the write-up"}}, {len(p.Times) > 0, htmlLink{"time", "Over time"}},
		{len(p.Latencies) > 0 || p.Percentiles != nil, htmlLink{"latency", "Latency"}}, {len(p.Why) > 0, htmlLink{"why", "Why"}}, {p.Order != nil, htmlLink{"order", "Order and drift"}},
		{true, htmlLink{"differs", "What else differs"}}, {len(p.Kernel) > 0, htmlLink{"inside", "Inside the machine"}}, {true, htmlLink{"trials", "Trials"}},
		{true, htmlLink{"again", "Run it again"}},
	} {
		if link.there {
			p.Links = append(p.Links, link.htmlLink)
		}
	}
}

func (p *htmlPage) fillFacts() {
	p.Other = p.M.Differing()
	p.Declared, p.FactorNames = declaredText(p.M), join(names(p.M.Factors))
}

func (p *htmlPage) fillTrials() {
	p.TrialTable.Header = []string{"trial", "cell", "round", "attempt", "status", "steady", "boot", "overhead", "whole"}
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
				string(t.Status), steadyText(t.Steady), seconds(t.Boot), seconds(t.Overhead), seconds(t.Wall)})
		}
	}
	if left := len(p.M.Trials) - len(p.TrialTable.Rows); left > 0 {
		p.TrialsLeft = fmt.Sprintf("The first %d; %d more are in report.json.", len(p.TrialTable.Rows), left)
	}
}
