package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

var _ = register(Format{Name: "text", Extension: ".txt", Help: "for the terminal", People: true, write: writeText})

// page is a text report being written.
type page struct {
	strings.Builder
	m     *Model
	style Style
	codes map[int]string // note number → code
}

func writeText(w io.Writer, m *Model, s Style) error {
	p := &page{m: m, style: s, codes: map[int]string{}}
	for _, n := range m.Notes {
		p.codes[n.Number] = n.Code
	}
	p.head()
	for _, t := range m.Tables {
		if t.Headline {
			p.table(t)
		}
	}
	p.costs()
	p.controls()
	p.claims()
	p.published()
	p.facts()
	p.failures()
	p.notes()
	p.problems()
	p.tail()
	_, err := io.WriteString(w, p.String())
	return err
}

// head prints what a reader must know before any number.
func (p *page) head() {
	fmt.Fprintf(p, "%s\n\n", p.bold(p.m.Title()))
	p.field("Question", p.m.Question)
	p.field("Answer", p.m.Answer)
	counts := fmt.Sprintf("%d planned: %s", p.m.Counts.planned(), countsText(p.m.Counts))
	if p.m.Lab.Boot.Median != nil && p.m.Lab.Overhead.Median != nil {
		counts += fmt.Sprintf("; medians: boot to login %.1f s, overhead %.1f s", *p.m.Lab.Boot.Median, *p.m.Lab.Overhead.Median)
	}
	p.field("Trials", counts)
	p.WriteString("\n")
}

// controls prints how far two runs of the same cell lie apart.
func (p *page) controls() {
	for i, c := range p.m.Controls {
		p.field(map[bool]string{true: "A/A control"}[i == 0], c.Line())
	}
	if len(p.m.Controls) > 0 {
		p.WriteString("\n")
	}
}

func (p *page) claims() {
	for i, claim := range p.m.Claims {
		p.field(map[bool]string{true: "Claims"}[i == 0], claim.Line())
	}
	if len(p.m.Claims) > 0 {
		p.WriteString("\n")
	}
}

// facts prints what was held equal and what was not.
func (p *page) facts() {
	p.field("Held equal", strings.Join(heldText(p.m), "; "))
	if declared := declaredText(p.m); declared != "" {
		p.field("Differs", "with "+join(names(p.m.Factors))+", as declared: "+declared)
	}
	var other []string
	for _, d := range p.m.Differing() {
		var values []string
		for _, v := range d.Values {
			values = append(values, fmt.Sprintf("%s (%s)", v.Value, strings.Join(v.Cells, "; ")))
		}
		other = append(other, d.Name+": "+strings.Join(values, " | "))
	}
	if len(other) == 0 {
		other = []string{"nothing that platter looks at"}
	}
	for i, line := range other {
		p.field(map[bool]string{true: "What else differs"}[i == 0], line)
	}
	p.WriteString("\n")
}

// failures prints the trials without numbers, with the telling lines of their logs.
func (p *page) failures() {
	shown := 0
	const most = 10
	for _, t := range p.m.Trials {
		if t.Status == "ok" {
			continue
		}
		if shown++; shown > most {
			continue
		}
		p.field(map[bool]string{true: "Without numbers"}[shown == 1], fmt.Sprintf("%s: %s: %s", t.ID, t.Status, t.Reason))
		for _, line := range lastLines(t.Evidence, 5) {
			p.field("", "  > "+line)
		}
	}
	if shown > most {
		p.field("", fmt.Sprintf("and %d more", shown-most))
	}
	if shown > 0 {
		p.WriteString("\n")
	}
}

func lastLines(s string, n int) []string {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	return lines[max(0, len(lines)-n):]
}

func (p *page) notes() {
	for _, n := range p.m.Notes {
		p.indented(fmt.Sprintf("[%d]", n.Number), n.Text, noteWidth)
	}
	if len(p.m.Notes) > 0 {
		p.WriteString("\n")
	}
}

func (p *page) problems() {
	if !p.m.Partial() {
		return
	}
	p.field("PARTIAL", plural(len(p.m.Problems), "file")+" could not be used and nothing of them is in these numbers:")
	for _, problem := range p.m.Problems {
		p.field("", problem)
	}
	p.WriteString("\n")
}

// tail prints how to run it again and where everything lies.
func (p *page) tail() {
	for i, command := range p.m.Again {
		p.field(map[bool]string{true: "Run it again"}[i == 0], command)
	}
	if rounds := p.m.roundsToDecide(); rounds > 0 && len(p.m.Again) == 1 {
		p.field("Likely to decide", fmt.Sprintf("%s --set rounds=%d", p.m.Again[0], rounds))
	}
	for i, run := range p.m.Runs {
		line := run.Path
		if run.Status != "done" {
			line += "  (" + run.Status + ")"
		}
		p.field(map[bool]string{true: "Everything lies in"}[i == 0], line)
	}
}

// The columns in which a field's and a note's text begins.
const (
	labelWidth = 19
	noteWidth  = 5
)

// field prints a label and a text.
func (p *page) field(label, content string) { p.indented(label, content, labelWidth) }

// indented prints a label and a text, wrapped and indented to a column.
func (p *page) indented(label, content string, column int) {
	width := max(20, p.style.Width-column)
	for i, line := range strings.Split(text.WrapSoft(content, width), "\n") {
		if i > 0 {
			label = ""
		}
		pad := max(1, column-text.StringWidthWithoutEscSequences(label))
		fmt.Fprintf(p, "%s%s%s\n", p.bold(label), strings.Repeat(" ", pad), strings.TrimRight(line, " "))
	}
}

// The escape sequences of a colour terminal; without colour they are empty.
const (
	escBold  = "\x1b[1m"
	escGreen = "\x1b[32m"
	escRed   = "\x1b[31m"
	escReset = "\x1b[0m"
)

func (p *page) bold(s string) string { return p.paint(escBold, s) }

func (p *page) paint(escape, s string) string {
	if !p.style.Color || escape == "" || s == "" {
		return s
	}
	return escape + s + escReset
}
