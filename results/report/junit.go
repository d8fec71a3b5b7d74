package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"platter/results"
	"platter/results/stats"
)

var _ = register(Format{Name: "junit", Extension: ".xml", Help: "for CI: a test case a comparison and a trial", write: writeJUnit})

// The elements of a JUnit report that CI systems read (the schema of Jenkins' xunit plugin).
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Name    string       `xml:"name,attr"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Time    string     `xml:"time,attr,omitempty"`
		Failure *junitNote `xml:"failure,omitempty"`
		Error   *junitNote `xml:"error,omitempty"`
		Skipped *junitNote `xml:"skipped,omitempty"`
		Output  string     `xml:"system-out,omitempty"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit prints a suite of comparisons a headline metric (worse is a failure, undecided is skipped, without trials
// or not comparable is an error) and a suite of the trials themselves.
func writeJUnit(w io.Writer, m *Model, _ Style) error {
	suites := junitSuites{Name: m.Title()}
	for _, t := range m.Tables {
		if !t.Headline || t.Metric.Direction == results.Neutral {
			continue
		}
		suite := junitSuite{Name: heading(t)}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if e.Comparison != nil {
					suite.add(comparisonCase(m, t, row, e))
				}
			}
		}
		if suite.Tests > 0 {
			suites.Suites = append(suites.Suites, suite)
		}
	}
	trials := junitSuite{Name: "trials"}
	for _, t := range m.Trials {
		trials.add(trialCase(m, t))
	}
	for _, problem := range m.Problems {
		trials.add(junitCase{Class: m.Study + ".files", Name: problem, Error: &junitNote{Message: "the file could not be used"}})
	}
	suites.Suites = append(suites.Suites, trials)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func comparisonCase(m *Model, t Table, row TableRow, e Entry) junitCase {
	s := scale(t)
	c := junitCase{Class: m.Study + "." + t.Metric.Name, Name: strings.Trim(row.Row+" "+e.Column+" against "+m.Baseline, " ")}
	c.Output = fmt.Sprintf("%s, median %s %s, n = %d", againstText(e.Comparison), medianText(e, s), intervalText(e, s), e.Summary.N)
	note := &junitNote{Message: againstText(e.Comparison), Text: e.Comparison.Reason}
	switch e.Comparison.Verdict {
	case stats.Regressed:
		c.Failure = note
	case stats.Missing, stats.NotComparable:
		c.Error = note
	case stats.Suspect, stats.Inconclusive:
		c.Skipped = note
	}
	return c
}

func trialCase(m *Model, t Trial) junitCase {
	c := junitCase{Class: m.Study + ".trials", Name: t.ID}
	if t.Wall != nil {
		c.Time = fmt.Sprintf("%.3f", *t.Wall)
	}
	note := &junitNote{Message: fmt.Sprintf("%s: %s", t.Status, t.Reason), Text: t.Evidence}
	switch t.Status {
	case results.StatusOK:
	case results.StatusFailed, results.StatusInvalid:
		c.Failure = note
	case results.StatusSkipped:
		c.Skipped = note
	default:
		c.Error = note
	}
	return c
}
