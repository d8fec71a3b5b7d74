package lab

import (
	"fmt"
	"slices"
	"strings"

	"platter/results"
)

// Side is one of the two plans that a confirmation measures again.
type Side struct {
	Name string // the level that tells its trials apart
	Plan Plan
}

// Confirm makes the plan that carries out chosen cells of two plans again, with fresh and interleaved trials: each round
// holds every chosen cell of both sides once, in an order that the seed gives. Its trials have one factor more, whose
// levels are the sides. A/A controls are left out. It is pure; the error says that no cell was chosen on both sides.
func Confirm(base, other Side, factor string, chosen func(levels map[string]string) bool, rounds int, seed uint64) (Plan, error) {
	p := Plan{Schema: PlanSchema, Study: base.Plan.Study, Scale: base.Plan.Scale, Seed: seed, Rounds: rounds,
		Question:     fmt.Sprintf("Does what set %s apart from %s show again in fresh trials?", other.Name, base.Name),
		Factors:      []Factor{{Name: factor, Levels: []string{base.Name, other.Name}}},
		Notes:        []string{fmt.Sprintf("confirms the comparison of %s with %s: both sides measured again, interleaved", other.Name, base.Name)},
		TrialSeconds: base.Plan.TrialSeconds,
	}
	var cells []Trial
	for i, side := range []Side{base, other} {
		first := len(cells)
		for _, t := range side.Plan.Trials {
			if t.Round == 1 && !t.Control && chosen(t.Factors) {
				cells = append(cells, t.again(fmt.Sprintf("%03d-%s", len(cells)+1, [2]string{"base", "new"}[i]), factor, side.Name))
			}
		}
		if len(cells) == first {
			return Plan{}, fmt.Errorf("confirm: the plan of %s has none of the cells in question", side.Name)
		}
		p.merge(side.Plan, cells[first:])
	}
	p.Trials = order(cells, rounds, seed)
	var err error
	if p.Digest, err = results.Digest(p); err != nil {
		return Plan{}, fmt.Errorf("digest of the plan: %w", err)
	}
	return p, nil
}

// again is a cell's trial before it has a round, as order wants it, with one level more.
func (t Trial) again(prefix, factor, level string) Trial {
	slug, _, _ := strings.Cut(t.ID, "/")
	_, slug, _ = strings.Cut(slug, "-")
	t.ID = prefix + "-" + slug
	workload, rest, _ := strings.Cut(t.Name, "/")
	t.Name = fmt.Sprintf("%s/%s=%s/%sround=0", workload, factor, level, strings.TrimSuffix(rest, fmt.Sprintf("round=%d", t.Round)))
	levels := map[string]string{factor: level}
	for name, value := range t.Factors {
		levels[name] = value
	}
	t.Factors = levels
	return t
}

// merge takes over what a plan's chosen cells need.
func (p *Plan) merge(from Plan, cells []Trial) {
	p.DiskBytes, p.MemoryBytes = max(p.DiskBytes, from.DiskBytes), max(p.MemoryBytes, from.MemoryBytes)
	for _, t := range cells {
		p.Images = append(append(p.Images, t.Root, t.Server), t.Addons...)
	}
	slices.Sort(p.Images)
	p.Images = slices.Compact(p.Images)
	for _, f := range from.Factors {
		i := slices.IndexFunc(p.Factors, func(g Factor) bool { return g.Name == f.Name })
		if i < 0 {
			p.Factors, i = append(p.Factors, Factor{Name: f.Name}), len(p.Factors)
		}
		for _, level := range f.Levels {
			used := slices.ContainsFunc(cells, func(t Trial) bool { return t.Factors[f.Name] == level })
			if used && !slices.Contains(p.Factors[i].Levels, level) {
				p.Factors[i].Levels = append(p.Factors[i].Levels, level)
			}
		}
	}
}
