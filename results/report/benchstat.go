package report

import (
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"platter/results"
)

var _ = register(Format{Name: "benchstat", Extension: ".bench", Help: "for golang.org/x/perf/cmd/benchstat: a line a value", write: writeBenchstat})

// writeBenchstat prints each value as a benchmark that ran once, named by study, factors, step and labels, so that
// benchstat can group, filter and compare: benchstat -col /storage report.bench.
func writeBenchstat(w io.Writer, m *Model, _ Style) error {
	out := benchfmt.NewWriter(w)
	var units []string
	for _, t := range m.Tables {
		name := t.Metric.Name
		if t.Metric.Direction == results.Neutral || slices.Contains(units, name) {
			continue
		}
		units = append(units, name)
		better := string(t.Metric.Direction)
		metadata := &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: name, Key: "better"}, OrigUnit: name, Value: better}
		if err := out.Write(metadata); err != nil {
			return err
		}
	}
	config := []benchfmt.Config{}
	for _, line := range [][2]string{{"study", m.Study}, {"scale", m.Scale}, {"accel", join(m.Accelerators)}, {"durability", join(m.Durability)}} {
		if line[1] != "" {
			config = append(config, benchfmt.Config{Key: line[0], Value: []byte(oneLine(line[1])), File: true})
		}
	}
	levels := m.levelsOf()
	for _, t := range m.Tables {
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				name := benchName(m, t, levels[[2]string{row.Row, e.Column}])
				for _, v := range e.Summary.Values {
					line := &benchfmt.Result{Config: config, Name: benchfmt.Name(name), Iters: 1, Values: []benchfmt.Value{{Value: v, Unit: t.Metric.Name}}}
					if err := out.Write(line); err != nil {
						return err
					}
				}
			}
		}
	}
	_, err := io.WriteString(w, "\n") // benchstat reads concatenated files: end with an empty line
	return err
}

// levelsOf indexes the levels of the factors by a cell's place.
func (m *Model) levelsOf() map[[2]string]map[string]string {
	levels := map[[2]string]map[string]string{}
	for _, cell := range m.Cells {
		levels[[2]string{cell.Row, cell.Column}] = cell.Levels
	}
	return levels
}

// benchName is the sub-benchmark's name: Ext4-vs-xfs/storage=xfs/step=slap/clients=10. benchstat takes /key=value for
// configuration; a number after the last dash would be taken for GOMAXPROCS, so a step or "all" ends the name.
func benchName(m *Model, t Table, levels map[string]string) string {
	parts := []string{strings.ToUpper(benchWord(m.Study)[:1]) + benchWord(m.Study)[1:]}
	for _, f := range m.Factors {
		parts = append(parts, benchWord(f.Name)+"="+benchWord(levels[f.Name]))
	}
	labels := strings.Fields(labelsText(t.Labels))
	for _, label := range labels {
		parts = append(parts, benchWord(label))
	}
	step := t.Step
	if step == "" {
		step = "all"
	}
	return strings.Join(append(parts, "step="+benchWord(step)+"."), "/")
}

// benchWord keeps letters, digits and a few signs; anything else would end a name or a line.
func benchWord(s string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+=,", r) {
			return r
		}
		return '_'
	}, s)
	if word == "" {
		return "_"
	}
	return word
}
