package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

var _ = register(Format{Name: "csv", Extension: ".csv", Help: "every value of every trial, one a line, full precision", write: writeCSV})

// writeCSV prints one line a value, so that a spreadsheet or R can group as it likes. Numbers are whole precision.
func writeCSV(w io.Writer, m *Model, _ Style) error {
	out := csv.NewWriter(w)
	var factors []string
	for _, f := range m.Factors {
		factors = append(factors, f.Name)
	}
	header := slices.Concat([]string{"metric", "unit", "step", "labels"}, factors, []string{"trial", "value"})
	if err := out.Write(safeCells(header)); err != nil {
		return err
	}
	levels := m.levelsOf()
	for _, t := range m.Tables {
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				for i, v := range e.Summary.Values {
					line := []string{t.Metric.Name, string(t.Metric.Unit), t.Step, labelsText(t.Labels)}
					for _, f := range factors {
						line = append(line, levels[[2]string{row.Row, e.Column}][f])
					}
					line = append(safeCells(line), safeCell(e.Trials[i]), strconv.FormatFloat(v, 'g', -1, 64))
					if err := out.Write(line); err != nil {
						return err
					}
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// safeCell keeps a spreadsheet from taking text for a formula: such text gets a leading apostrophe (OWASP, CSV injection).
func safeCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(s[0])) {
		return "'" + s
	}
	return s
}

func safeCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = safeCell(c)
	}
	return out
}

// labelsText prints labels in order: "clients=10 engine=innodb".
func labelsText(labels map[string]string) string {
	var parts []string
	for name, value := range labels {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
