package report

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"platter/results"
	"platter/results/stats"
)

// Judgement is what results say about one side of a claim.
type Judgement string

// The judgements. NotReproduced is for sizes and for claims of equality, which have no reverse.
const (
	Reproduced    Judgement = "reproduced"
	Reversed      Judgement = "reversed"
	NotReproduced Judgement = "not_reproduced"
	CannotTell    Judgement = "cannot_tell"
)

// ClaimResult is a claim of the study beside what the trials say. A side the claim is silent on is empty.
type ClaimResult struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	Source    string    `json:"source,omitempty"`
	Metric    string    `json:"metric"`
	Levels    []string  `json:"levels"`              // best to worst, as claimed
	Equal     bool      `json:"equal,omitempty"`     // the claim is that they do not differ
	Direction Judgement `json:"direction,omitempty"` // the first is better than the last; or none differs, where equality is claimed
	Order     Judgement `json:"order,omitempty"`     // each is better than the next, where there are three or more
	Magnitude Judgement `json:"magnitude,omitempty"` // the published ratio, or the largest difference claimed
	Published *float64  `json:"published_ratio"`     // first over second level
	Ratio     *float64  `json:"ratio"`               // ours, first over second level
	Low       *float64  `json:"low"`
	High      *float64  `json:"high"`
	NeededN   *int      `json:"needed_n"` // trials a side that would decide what is open
	Reason    string    `json:"reason"`   // why it cannot be told, or what was compared
}

// claim is a claim as plan.json holds it.
type claim struct {
	ID     string            `json:"id"`
	Text   string            `json:"text"`
	Metric string            `json:"metric"`
	Score  string            `json:"score"` // of the replayed study, instead of a metric
	Step   string            `json:"step"`
	Where  map[string]string `json:"where"`
	Order  []string          `json:"order"`
	Equal  bool              `json:"equal"`
	Within *float64          `json:"within"`
	Factor string            `json:"factor"`
	Ratio  *float64          `json:"ratio"`
	Source string            `json:"source"`
}

// claims judges every claim of the plans, once: several runs of a study make the same claims.
func (b *builder) claims() []ClaimResult {
	var out []ClaimResult
	var judged []claim
	for _, p := range b.plans {
		for _, c := range p.Claims {
			if !slices.ContainsFunc(judged, func(o claim) bool { return reflect.DeepEqual(o, c) }) {
				judged, out = append(judged, c), append(out, b.judge(c))
			}
		}
	}
	return out
}

// stratum is one combination of everything that a claim leaves open: other factors, step, labels.
type stratum struct {
	name   string
	values map[string][]float64 // level → one value a trial
}

// judge judges one claim in each stratum and joins the judgements.
func (b *builder) judge(c claim) ClaimResult {
	info, _ := results.LookupMetric(c.Metric)
	what := c.Metric
	if c.Score != "" {
		info, what = results.MetricInfo{Name: "score", Direction: results.HigherBetter, ToleranceRatio: scoreTolerance}, c.Score+" score"
	}
	out := ClaimResult{ID: c.ID, Text: oneLine(c.Text), Source: oneLine(c.Source), Metric: what, Levels: c.Order, Equal: c.Equal, Published: c.Ratio}
	strata := b.strata(c)
	if c.Score != "" {
		strata = b.scoreStrata(c)
	}
	if len(strata) == 0 || len(c.Order) < 2 {
		return out.cannot("no valid trial has " + what)
	}
	var judged []ClaimResult
	for _, s := range strata {
		judged = append(judged, judgeStratum(c, out, s, info))
	}
	if len(judged) == 1 {
		return judged[0]
	}
	return joinStrata(out, judged, strata)
}

func (r ClaimResult) cannot(reason string) ClaimResult {
	r.Direction, r.Reason = CannotTell, reason
	return r
}

// strata sorts the values of a claim's metric.
func (b *builder) strata(c claim) []*stratum {
	byName := map[string]*stratum{}
	for _, t := range b.trials {
		if t.status != results.StatusOK || !slices.Contains(c.Order, t.factors[c.Factor]) || !holds(t, c.Where) {
			continue
		}
		for _, m := range t.metrics {
			if m.Name != c.Metric || m.Value == nil || c.Step != "" && m.Step != c.Step {
				continue
			}
			name := b.stratumName(t, c, m)
			s := byName[name]
			if s == nil {
				s = &stratum{name: name, values: map[string][]float64{}}
				byName[name] = s
			}
			level := t.factors[c.Factor]
			s.values[level] = append(s.values[level], *m.Value)
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(x, y *stratum) int { return cmp.Compare(x.name, y.name) })
}

func holds(t *trial, where map[string]string) bool {
	for factor, level := range where {
		if t.factors[factor] != level {
			return false
		}
	}
	return true
}

// stratumName names what a claim leaves open.
func (b *builder) stratumName(t *trial, c claim, m results.Metric) string {
	var parts []string
	for _, f := range b.varying {
		if _, fixed := c.Where[f.Name]; !fixed && f.Name != c.Factor {
			parts = append(parts, t.factors[f.Name])
		}
	}
	if c.Step == "" && m.Step != "" {
		parts = append(parts, m.Step)
	}
	if labels := labelsText(m.Labels); labels != "" {
		parts = append(parts, labels)
	}
	return join(parts)
}

// judgeStratum judges a claim where everything but its own factor is fixed.
func judgeStratum(c claim, out ClaimResult, s *stratum, info results.MetricInfo) ClaimResult {
	for _, level := range c.Order {
		if len(s.values[level]) == 0 {
			return out.cannot("no valid trial of " + level)
		}
	}
	pair := func(first, second string) stats.Comparison {
		return stats.Compare(s.values[second], s.values[first], stats.Question{Direction: results.Neutral})
	}
	first, last := c.Order[0], c.Order[len(c.Order)-1]
	headline := pair(first, c.Order[1])
	out.Ratio, out.Low, out.High = headline.Ratio, headline.Low, headline.High
	j := judging{out: &out, sign: sign(info)}
	if c.Equal {
		within := info.ToleranceRatio
		if c.Within != nil {
			within = *c.Within
		}
		out.Direction = j.equal(c.Order, pair, max(within, 0.01))
	} else {
		out.Direction = j.better(pair(first, last))
		if len(c.Order) > 2 {
			out.Order = j.order(c.Order, pair)
		}
		if c.Within != nil {
			out.Magnitude = j.equal(c.Order, pair, *c.Within)
		}
	}
	if c.Ratio != nil && *c.Ratio > 0 {
		out.Magnitude = j.magnitude(headline, *c.Ratio)
	}
	out.Reason = j.reason(len(s.values[first]), len(s.values[last]))
	return out
}

// joinStrata gives a claim that holds over several strata one judgement a side: all must agree.
func joinStrata(out ClaimResult, judged []ClaimResult, strata []*stratum) ClaimResult {
	agree := func(side func(ClaimResult) Judgement) Judgement {
		first := side(judged[0])
		for _, r := range judged[1:] {
			if side(r) != first {
				return CannotTell
			}
		}
		return first
	}
	out.Direction = agree(func(r ClaimResult) Judgement { return r.Direction })
	out.Order = agree(func(r ClaimResult) Judgement { return r.Order })
	out.Magnitude = agree(func(r ClaimResult) Judgement { return r.Magnitude })
	var names, parts []string
	alike := judged[0].Reason != ""
	for i, r := range judged {
		alike = alike && r.sides() == judged[0].sides() && r.Reason == judged[0].Reason
		names = append(names, strata[i].name)
		part := strata[i].name + ": " + r.sides()
		if r.Reason != "" {
			part += " (" + r.Reason + ")"
		}
		parts = append(parts, part)
		if r.NeededN != nil && (out.NeededN == nil || *r.NeededN > *out.NeededN) {
			out.NeededN = r.NeededN
		}
	}
	out.Reason = strings.Join(parts, "; ")
	if alike {
		out.Reason = judged[0].Reason + ", in each of " + join(names)
	}
	return out
}

// sides lists the judgements in words: "direction reproduced, magnitude cannot tell".
func (r ClaimResult) sides() string {
	var parts []string
	direction := "direction"
	if r.Equal {
		direction = "equality"
	}
	for _, side := range []struct {
		name string
		j    Judgement
	}{{direction, r.Direction}, {"order", r.Order}, {"magnitude", r.Magnitude}} {
		if side.j != "" {
			parts = append(parts, side.name+" "+strings.ReplaceAll(string(side.j), "_", " "))
		}
	}
	return join(parts)
}

// Line is a claim in one line, the same in every format.
func (r ClaimResult) Line() string {
	line := fmt.Sprintf("%s: %s: %s", r.ID, strings.TrimSuffix(r.Text, "."), r.sides())
	if r.Published != nil || r.Ratio != nil {
		line += " ("
		if r.Published != nil {
			line += fmt.Sprintf("published %s/%s %s, ", r.Levels[0], r.Levels[1], results.FormatNumber(*r.Published))
		}
		switch {
		case r.Ratio == nil:
			line += "ours n/a)"
		case r.Low == nil:
			line += "ours " + results.FormatNumber(*r.Ratio) + ")"
		default:
			line += fmt.Sprintf("ours %s [%s, %s])", results.FormatNumber(*r.Ratio), results.FormatNumber(*r.Low), results.FormatNumber(*r.High))
		}
	}
	if r.Reason != "" {
		line += "; " + r.Reason
	}
	return line
}
