package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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

// scoreTolerance is the difference of scores that is of no interest.
const scoreTolerance = 0.05

// scoreStrata gives the values of a claim about a score: one a round, from the trials of that round alone, because a score
// is relative to the average of its own levels. Rounds without all figures give none. Several runs are strata.
func (b *builder) scoreStrata(c claim) []*stratum {
	s, ok := published.Lookup(b.plans[0].Study)
	if !ok {
		return nil
	}
	type pass struct {
		run   string
		round int
	}
	rounds := map[pass][]*trial{}
	for _, t := range b.trials {
		if t.status == results.StatusOK && holds(t, c.Where) {
			rounds[pass{t.run, t.round}] = append(rounds[pass{t.run, t.round}], t)
		}
	}
	byRun := map[string]*stratum{}
	for _, p := range slices.SortedFunc(maps.Keys(rounds), func(x, y pass) int { return cmp.Or(cmp.Compare(x.run, y.run), cmp.Compare(x.round, y.round)) }) {
		values := published.Values{}
		for _, f := range s.Figures {
			values[f.ID] = map[string]float64{}
			for _, level := range s.Levels {
				if v := valuesOf(rounds[p], f, s, level); len(v) == 1 {
					values[f.ID][level] = v[0]
				}
			}
		}
		for level, v := range s.ScoresOf(values)[c.Score] {
			if byRun[p.run] == nil {
				byRun[p.run] = &stratum{name: p.run, values: map[string][]float64{}}
			}
			byRun[p.run].values[s.Today(level)] = append(byRun[p.run].values[s.Today(level)], v)
		}
	}
	return slices.SortedFunc(maps.Values(byRun), func(x, y *stratum) int { return cmp.Compare(x.name, y.name) })
}

// percentUnit is what scores are in; it is no unit of a metric.
const percentUnit results.Unit = "%"

// published fills in the figures of the study's write-up. Where runs are compared with one another there is none: its
// columns would join what the rest of the report holds apart.
func (b *builder) published() *Published {
	s, ok := published.Lookup(b.plans[0].Study)
	if !ok || slices.Contains(b.columns, RunFactor) {
		return nil
	}
	out := &Published{Source: s.Source, Year: s.Year, Machine: s.Machine, Software: s.Software, Levels: s.Levels}
	out.Era = eraOf(b.plans[0], s)
	return b.fillPublished(out, s)
}

// eraOf is what differs today from a write-up: the study that replays it knows best, else the figures' own list.
func eraOf(p plan, s published.Study) []string {
	if era := p.eraOf(); len(era) > 0 {
		return era
	}
	era := slices.Clone(s.Era)
	for _, level := range s.Levels {
		if successor, ok := s.Successors[level]; ok {
			era = append(era, fmt.Sprintf("the column %s runs %s: %s", level, successor.Level, successor.Reason))
		}
	}
	return era
}

// fillPublished puts our figures and scores beside the printed ones.
func (b *builder) fillPublished(out *Published, s published.Study) *Published {
	ours := published.Values{}
	for _, f := range s.Figures {
		row := PublishedRow{ID: f.ID, Title: f.Title, Unit: results.Unit(f.Unit)}
		ours[f.ID] = map[string]float64{}
		for _, level := range s.Levels {
			printed := f.Values[level]
			cell := PublishedCell{Level: level, Printed: &printed, Ours: stats.Summarize(valuesOf(b.trials, f, s, level))}
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
func valuesOf(trials []*trial, f published.Figure, s published.Study, level string) []float64 {
	var values []float64
	for _, t := range trials {
		if t.status != results.StatusOK || t.factors[s.Factor] != s.Today(level) || !holds(t, f.Where) {
			continue
		}
		var found []float64
		for _, m := range t.metrics {
			if m.Name == f.Metric && m.Step == f.Step && m.Value != nil && labelled(m, f.Labels) {
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

func labelled(m results.Metric, want map[string]string) bool {
	for name, value := range want {
		if m.Labels[name] != value {
			return false
		}
	}
	return true
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
