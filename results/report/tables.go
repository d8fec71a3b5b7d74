package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// samples is one metric of all trials: cell → values with the trials they are of.
type samples struct {
	metric results.Metric // name, step, labels
	info   results.MetricInfo
	cells  map[[2]string]*cellSamples
}

type cellSamples struct {
	values  []float64
	trials  []string
	reasons []string // why values are null
}

// tables makes one table a metric key, in the registry's order. Only the chosen names are headline; without a choice
// those of the registry are, and where a run has none of them, every metric that can be judged.
func (b *builder) tables(chosen []string) ([]Table, error) {
	series := b.gather()
	for _, name := range chosen {
		if !slices.ContainsFunc(series, func(s *samples) bool { return s.metric.Name == name }) {
			return nil, &OptionError{"metric", name, join(metricNames(series))}
		}
	}
	headline := func(s *samples) bool {
		return s.info.Headline && s.measured() && !restated(s, series) && !isPart(s, series)
	}
	if len(chosen) > 0 {
		headline = func(s *samples) bool { return slices.Contains(chosen, s.metric.Name) }
	} else if !slices.ContainsFunc(series, headline) {
		headline = func(s *samples) bool { return s.info.Direction != results.Neutral }
	}
	var tables []Table
	for _, s := range series {
		tables = append(tables, b.table(s, headline(s)))
	}
	b.judgeFamilies(tables)
	return tables, nil
}

// restates lists metrics that say again what another one of the same step says better.
var restates = map[string][]string{"queries_per_second": {"run_seconds", "transactions_per_second"}}

func restated(s *samples, series []*samples) bool {
	return slices.ContainsFunc(series, func(o *samples) bool {
		return o.metric.Step == s.metric.Step && slices.Contains(restates[s.metric.Name], o.metric.Name)
	})
}

// measured reports whether any trial has a value: a metric that none could measure is no main one.
func (s *samples) measured() bool {
	for _, cell := range s.cells {
		if len(cell.values) > 0 {
			return true
		}
	}
	return false
}

// isPart reports whether a metric is of one operation while the same step has it of whole transactions.
func isPart(s *samples, series []*samples) bool {
	const whole = "transaction"
	operation := s.metric.Labels["operation"]
	return operation != "" && operation != whole && slices.ContainsFunc(series, func(o *samples) bool {
		return o.metric.Name == s.metric.Name && o.metric.Step == s.metric.Step && o.metric.Labels["operation"] == whole
	})
}

// gather sorts the values of all valid trials by metric and cell.
func (b *builder) gather() []*samples {
	byKey := map[string]*samples{}
	var list []*samples
	for _, t := range b.trials {
		if t.status != results.StatusOK {
			continue
		}
		for _, metric := range t.metrics {
			key := metric.Key()
			s := byKey[key]
			if s == nil {
				info, _ := results.LookupMetric(metric.Name)
				s = &samples{metric: metric, info: info, cells: map[[2]string]*cellSamples{}}
				byKey[key] = s
				list = append(list, s)
			}
			s.add([2]string{t.row, t.column}, t, metric)
		}
	}
	rank := map[string]int{}
	for i, info := range results.Metrics() {
		rank[info.Name] = i + 1
	}
	slices.SortStableFunc(list, func(x, y *samples) int {
		rx, ry := rank[x.metric.Name], rank[y.metric.Name]
		if (rx == 0) != (ry == 0) { // unknown metrics last
			return cmp.Compare(ry, rx)
		}
		return cmp.Or(cmp.Compare(rx, ry), cmp.Compare(x.metric.Name, y.metric.Name), cmp.Compare(x.metric.Key(), y.metric.Key()))
	})
	return list
}

func (s *samples) add(place [2]string, t *trial, metric results.Metric) {
	cell := s.cells[place]
	if cell == nil {
		cell = &cellSamples{}
		s.cells[place] = cell
	}
	if metric.Value == nil {
		if reason := oneLine(metric.Reason); !slices.Contains(cell.reasons, reason) {
			cell.reasons = append(cell.reasons, reason)
		}
		return
	}
	cell.values, cell.trials = append(cell.values, *metric.Value), append(cell.trials, t.id)
}

func metricNames(series []*samples) []string {
	var out []string
	for _, s := range series {
		out = append(out, s.metric.Name)
	}
	return unique(out)
}

// table summarises each cell and compares it with the baseline of its row.
func (b *builder) table(s *samples, headline bool) Table {
	t := Table{Key: s.metric.Key(), Metric: s.info, Step: s.metric.Step, Labels: s.metric.Labels, Headline: headline}
	for _, row := range b.rowSet {
		if b.elsewhere(s, row) {
			continue
		}
		line := TableRow{Row: row}
		base := s.at(row, b.base)
		for _, column := range b.colSet {
			cell := s.at(row, column)
			entry := Entry{Column: column, Trials: cell.trials, Summary: stats.Summarize(cell.values), Reasons: cell.reasons}
			if b.base != "" && column != b.base {
				comparison, override := b.compare(row, column, base, cell, s.info)
				entry.Comparison = &comparison
				if headline && override != "" {
					entry.Notes = b.notes.attach(entry.Notes, "compared_anyway", "compared anyway, as asked, although "+override)
				}
			}
			if headline {
				b.noteEntry(&entry, cell)
			}
			line.Entries = append(line.Entries, entry)
		}
		t.Rows = append(t.Rows, line)
	}
	if len(t.Rows) > 1 && b.base != "" && s.info.Direction != results.Neutral {
		t.Means = b.means(t)
	}
	return t
}

// elsewhere reports whether a row has nothing to do with a metric: its trials are valid, and none of them knows it.
func (b *builder) elsewhere(s *samples, row string) bool {
	for _, column := range b.colSet {
		if s.cells[[2]string{row, column}] != nil {
			return false
		}
	}
	return slices.ContainsFunc(b.trials, func(t *trial) bool { return t.row == row && t.status == results.StatusOK })
}

// means joins each column's ratios.
func (b *builder) means(t Table) []ColumnMean {
	var means []ColumnMean
	for i, column := range b.colSet {
		if column == b.base {
			continue
		}
		var ratios []*float64
		for _, row := range t.Rows {
			ratios = append(ratios, row.Entries[i].Comparison.Ratio)
		}
		means = append(means, ColumnMean{column, stats.GeometricMean(ratios)})
	}
	return means
}

func (s *samples) at(row, column string) *cellSamples {
	if cell := s.cells[[2]string{row, column}]; cell != nil {
		return cell
	}
	return &cellSamples{}
}

// noteEntry makes a footnote of values that are not there. The summary's own warnings (no interval, no value) need none:
// the table says them in their place.
func (b *builder) noteEntry(e *Entry, cell *cellSamples) {
	for _, reason := range cell.reasons {
		e.Notes = b.notes.attach(e.Notes, "not_measured", "not measured in every trial: "+reason)
	}
}

// judgeFamilies adjusts p-values within each metric name: all cells and steps of one metric answer one question
// together.
func (b *builder) judgeFamilies(tables []Table) {
	families := map[string][]*stats.Comparison{}
	for _, t := range tables {
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if e.Comparison != nil {
					families[t.Metric.Name] = append(families[t.Metric.Name], e.Comparison)
				}
			}
		}
	}
	for _, family := range families {
		stats.Family(family)
	}
}

// noteComparisons makes a footnote of what a verdict needs to be understood.
func (b *builder) noteComparisons(tables []Table) {
	for _, t := range tables {
		for r := range t.Rows {
			for i := range t.Rows[r].Entries {
				if e := &t.Rows[r].Entries[i]; t.Headline && e.Comparison != nil {
					b.noteComparison(e)
				}
			}
		}
	}
}

func (b *builder) noteComparison(e *Entry) {
	c := e.Comparison
	if !c.Verdict.Decided() && c.Verdict != stats.NotJudged {
		text := fmt.Sprintf("%s: %s", strings.ReplaceAll(string(c.Verdict), "_", " "), c.Reason)
		if c.NeededN != nil {
			text += fmt.Sprintf("; about %d trials a side would decide", *c.NeededN)
		} else if c.Verdict == stats.Inconclusive || c.Verdict == stats.Suspect {
			text += "; more trials than 100 a side would be needed at this spread, or the spread is unknown"
		}
		e.Notes = b.notes.attach(e.Notes, string(c.Verdict), text)
	}
	for _, warning := range c.Warnings {
		e.Notes = b.notes.attach(e.Notes, warning.Code, warning.Text)
	}
	if c.Verdict == stats.Unchanged && c.SmallestChange != nil {
		e.Notes = b.notes.attach(e.Notes, "smallest_change",
			fmt.Sprintf("no difference shown; a change of %.1f%% would have been seen in 80 %% of cases", *c.SmallestChange*100))
	}
}
