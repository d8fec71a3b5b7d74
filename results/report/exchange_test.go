package report

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// TestBenchstatReadsIt parses the export with benchstat's own reader.
func TestBenchstatReadsIt(t *testing.T) {
	for name, m := range models(t) {
		reader := benchfmt.NewReader(strings.NewReader(printed(t, m, "benchstat")), name)
		values := 0
		for reader.Scan() {
			switch record := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, record)
			case *benchfmt.Result:
				values += len(record.Values)
				if name != "ten" {
					continue
				}
				base, parts := record.Name.Parts()
				if string(base) != "Ext4-vs-xfs" || !strings.HasPrefix(string(parts[0]), "/storage=") {
					t.Errorf("name %s", record.Name)
				}
			}
		}
		if err := reader.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := countValues(m); values != want {
			t.Errorf("%s: %d values came back, want %d", name, values, want)
		}
		if name == "ten" && (reader.Units().GetBetter("run_seconds") != -1 || reader.Units().GetBetter("queries_per_second") != 1) {
			t.Errorf("the directions are lost: %v", reader.Units())
		}
	}
}

func countValues(m *Model) int {
	n := 0
	for _, table := range m.Tables {
		for _, row := range table.Rows {
			for _, e := range row.Entries {
				n += len(e.Summary.Values)
			}
		}
	}
	return n
}

// TestCSVKeepsEveryDigit reads the export back and compares it with the model, value by value.
func TestCSVKeepsEveryDigit(t *testing.T) {
	for name, m := range models(t) {
		lines, err := csv.NewReader(strings.NewReader(printed(t, m, "csv"))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(lines)-1 != countValues(m) {
			t.Fatalf("%s: %d values, want %d", name, len(lines)-1, countValues(m))
		}
		line := 1
		for _, table := range m.Tables {
			for _, row := range table.Rows {
				for _, e := range row.Entries {
					for _, want := range e.Summary.Values {
						if got, err := strconv.ParseFloat(lines[line][len(lines[line])-1], 64); err != nil || got != want {
							t.Errorf("%s: line %d: %v, %v, want %v", name, line+1, got, err, want)
						}
						line++
					}
				}
			}
		}
		for _, fields := range lines {
			for _, field := range fields {
				if field != "" && strings.ContainsRune("=+-@|%", rune(field[0])) {
					if _, err := strconv.ParseFloat(field, 64); err != nil {
						t.Errorf("%s: a spreadsheet would run %q", name, field)
					}
				}
			}
		}
	}
}

func TestJUnit(t *testing.T) {
	for name, want := range map[string]struct{ tests, failures, errors, skipped int }{
		"ten": {32, 0, 0, 0}, "two": {5, 0, 0, 1}, "troubled": {14, 1, 5, 0}, "hostile": {0, 1, 0, 0},
	} {
		var suites junitSuites
		if err := xml.Unmarshal([]byte(printed(t, models(t)[name], "junit")), &suites); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got struct{ tests, failures, errors, skipped int }
		for _, s := range suites.Suites {
			got.tests += s.Tests
			got.failures += s.Failures
			got.errors += s.Errors
			got.skipped += s.Skipped
			if len(s.Cases) != s.Tests {
				t.Errorf("%s: suite %s says %d tests and has %d", name, s.Name, s.Tests, len(s.Cases))
			}
		}
		if name != "hostile" && got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestJSONIsTheModel: the model survives its own format, so other tools can rely on it.
func TestJSONIsTheModel(t *testing.T) {
	m := models(t)["troubled"]
	var back Model
	decoder := json.NewDecoder(strings.NewReader(printed(t, m, "json")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if first, second := printed(t, m, "text"), printed(t, &back, "text"); first != second {
		t.Errorf("the text of the model read back differs:\n%s\n%s", first, second)
	}
}
