package report

import (
	"fmt"
	"strings"

	"platter/results"
	"platter/results/published"
	"platter/results/stats"
)

// Published puts the figures of a write-up beside ours. It is nil when the study replays none.
type Published struct {
	Source   string         `json:"source"`
	Year     int            `json:"year"`
	Machine  string         `json:"machine"`
	Software string         `json:"software"`
	Era      []string       `json:"era"` // what is different today
	Levels   []string       `json:"levels"`
	Rows     []PublishedRow `json:"rows"`
	Scores   []PublishedRow `json:"scores,omitempty"` // by the write-up's own formula, in per cent of the average
	Means    []PublishedRow `json:"means,omitempty"`  // geometric means in place of the formula's sums
}

// PublishedRow is one figure.
type PublishedRow struct {
	ID    string          `json:"id"`
	Title string          `json:"title"`
	Unit  results.Unit    `json:"unit"`
	Cells []PublishedCell `json:"cells"` // one a level
}

// PublishedCell is one figure of one level: as printed, and as we have it.
type PublishedCell struct {
	Level   string        `json:"level"`
	Printed *float64      `json:"printed"`
	Ours    stats.Summary `json:"ours"`
}

// percentUnit is what scores are in; it is no unit of a metric.
const percentUnit results.Unit = "%"

// published fills in the figures of the study's write-up.
func (b *builder) published() *Published {
	s, ok := published.Lookup(b.plans[0].Study)
	if !ok {
		return nil
	}
	out := &Published{Source: s.Source, Year: s.Year, Machine: s.Machine, Software: s.Software, Levels: s.Levels}
	out.Era = append(out.Era, s.Era...)
	for _, level := range s.Levels {
		if successor, ok := s.Successors[level]; ok {
			out.Era = append(out.Era, fmt.Sprintf("the column %s runs %s: %s", level, successor.Level, successor.Reason))
		}
	}
	ours := published.Values{}
	for _, f := range s.Figures {
		row := PublishedRow{ID: f.ID, Title: f.Title, Unit: results.Unit(f.Unit)}
		ours[f.ID] = map[string]float64{}
		for _, level := range s.Levels {
			printed := f.Values[level]
			cell := PublishedCell{Level: level, Printed: &printed, Ours: stats.Summarize(b.valuesOf(f, s, level))}
			if cell.Ours.Median != nil {
				ours[f.ID][level] = *cell.Ours.Median
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	out.addScores(s, ours)
	return out
}

// addScores computes the write-up's scores and their geometric counterparts from its figures and from ours.
func (p *Published) addScores(s published.Study, ours published.Values) {
	scored, printedMeans, ourMeans := s.ScoresOf(ours), s.MeansOf(s.Printed()), s.MeansOf(ours)
	cell := func(level string, printed map[string]float64, ours map[string]float64) PublishedCell {
		c := PublishedCell{Level: level, Ours: stats.Summarize(nil)}
		if v, ok := printed[level]; ok {
			c.Printed = &v
		}
		if v, ok := ours[level]; ok {
			c.Ours = stats.Summarize([]float64{v})
		}
		return c
	}
	for _, score := range s.Scores {
		row := PublishedRow{ID: score.ID, Title: score.Title + ", as published", Unit: percentUnit}
		mean := PublishedRow{ID: score.ID, Title: score.Title + ", geometric mean", Unit: percentUnit}
		for _, level := range s.Levels {
			row.Cells = append(row.Cells, cell(level, score.Values, scored[score.ID]))
			mean.Cells = append(mean.Cells, cell(level, printedMeans[score.ID], ourMeans[score.ID]))
		}
		p.Scores = append(p.Scores, row)
		if printedMeans[score.ID] != nil {
			p.Means = append(p.Means, mean)
		}
	}
}

// valuesOf collects our values of a figure, one a trial. Where a step gave the metric under several labels there is no
// one value to put beside the print, and the answer is empty.
func (b *builder) valuesOf(f published.Figure, s published.Study, level string) []float64 {
	var values []float64
	for _, t := range b.trials {
		if t.status != results.StatusOK || t.factors[s.Factor] != s.Today(level) || !holds(t, f.Where) {
			continue
		}
		var found []float64
		for _, m := range t.metrics {
			if m.Name == f.Metric && m.Step == f.Step && m.Value != nil {
				found = append(found, *m.Value)
			}
		}
		if len(found) > 1 {
			return nil
		}
		values = append(values, found...)
	}
	return values
}

// grid prints the figures as a table: in each column ours, and the print in brackets.
func (p *Published) grid() *grid {
	g := grid{Header: append([]string{"ours (as published)"}, p.Levels...)}
	for _, rows := range [][]PublishedRow{p.Rows, p.Scores, p.Means} {
		for _, row := range rows {
			g.Rows = append(g.Rows, row.line())
		}
	}
	return &g
}

func (r PublishedRow) line() []string {
	var all []float64
	for _, c := range r.Cells {
		all = append1(append1(all, c.Printed), c.Ours.Median)
	}
	s := results.ScaleOf(r.Unit, all...)
	if r.Unit == percentUnit {
		s = results.Scale{Divisor: 1, Suffix: "%"}
	}
	line := []string{r.Title}
	for _, c := range r.Cells {
		ours, printed := "n/a", "n/a"
		if c.Ours.Median != nil {
			ours = s.Format(*c.Ours.Median)
		}
		if c.Printed != nil {
			printed = strings.TrimSuffix(s.Format(*c.Printed), s.Suffix)
		}
		line = append(line, fmt.Sprintf("%s (%s)", ours, printed))
	}
	return line
}
