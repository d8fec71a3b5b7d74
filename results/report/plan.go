package report

import (
	"encoding/json"
	"fmt"
	"slices"
)

// plan is what a report needs of plan.json; a newer plan may hold more.
type plan struct {
	Study    string   `json:"study"`
	Scale    string   `json:"scale"`
	Question string   `json:"question"`
	Seed     uint64   `json:"seed"`
	Rounds   int      `json:"rounds"`
	Factors  []Factor `json:"factors"`
	Claims   []claim  `json:"claims"`
	Notes    []string `json:"notes"`
	Trials   []struct {
		ID      string            `json:"id"`
		Index   int               `json:"index"`
		Round   int               `json:"round"`
		Factors map[string]string `json:"factors"`
		Control bool              `json:"control"` // the second name of a cell (A/A)
	} `json:"trials"`
	Successors []successor `json:"successors"`
	Era        []string    `json:"era"`
}

// successor is what runs today for something that a replayed study had and that no longer exists.
type successor struct {
	Was    string `json:"was"`
	Now    string `json:"now"`
	Reason string `json:"reason"`
}

// eraOf lists what is different today from the study that a plan replays.
func (p plan) eraOf() []string {
	var era []string
	for _, s := range p.Successors {
		era = append(era, oneLine(fmt.Sprintf("%s runs in place of %s: %s", s.Now, s.Was, s.Reason)))
	}
	for _, line := range p.Era {
		era = append(era, oneLine(line))
	}
	return era
}

func readPlan(data []byte) (plan, error) {
	var p plan
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("plan.json: %w", err)
	}
	cleanAll(&p)
	return p, nil
}

// mergeFactors adds the factors and levels of one plan to those of the others, keeping the order of first sight.
func mergeFactors(into []Factor, more []Factor) []Factor {
	for _, f := range more {
		i := slices.IndexFunc(into, func(g Factor) bool { return g.Name == f.Name })
		if i < 0 {
			into = append(into, Factor{Name: f.Name})
			i = len(into) - 1
		}
		for _, level := range f.Levels {
			if !slices.Contains(into[i].Levels, level) {
				into[i].Levels = append(into[i].Levels, level)
			}
		}
	}
	return into
}
