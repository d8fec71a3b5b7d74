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
	} `json:"trials"`
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
