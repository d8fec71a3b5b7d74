package lab

import (
	"fmt"
	"slices"
)

// patterns checks that exclude and include speak of cells that exist, or did before an override took them away.
func (c *checker) patterns() {
	for _, list := range []struct {
		key      string
		patterns []Pattern
	}{{"exclude", c.study.Exclude}, {"include", c.study.Include}} {
		for i, p := range list.patterns {
			for factor, levels := range p {
				for _, l := range levels {
					c.known(fmt.Sprintf("%s.%d.%s", list.key, i, factor), factor, l)
				}
			}
		}
	}
}

// known checks that a factor has a level now or had it in the file.
func (c *checker) known(path, factor, level string) {
	have := append(c.study.levelNames(factor), c.study.levels[factor]...)
	if len(have) == 0 {
		c.fault(path, fmt.Sprintf("the study has no factor %s", factor))
	} else if !slices.Contains(have, level) {
		c.fault(path, unknown("level of "+factor, level, c.study.levelNames(factor)))
	}
}

// levelNames are the levels of a factor after all overrides.
func (s Study) levelNames(factor string) []string {
	factors, _ := s.axes()
	for _, f := range factors {
		if f.Name == factor {
			return f.Levels
		}
	}
	return nil
}

func (c *checker) claims() {
	seen := map[string]bool{}
	for i, cl := range c.study.Claims {
		at := fmt.Sprintf("claims.%d", i)
		if seen[cl.ID] {
			c.fault(at+".id", fmt.Sprintf("claim %q given twice", cl.ID))
		}
		seen[cl.ID] = true
		c.subject(at, cl)
		if len(cl.Order) < 2 {
			c.fault(at+".order", "a claim compares at least two levels")
		}
		for _, l := range cl.Order {
			c.known(at+".order", cl.Factor, l)
		}
		for factor, l := range cl.Where {
			if factor == cl.Factor {
				c.fault(at+".where", fmt.Sprintf("%s is compared, so it cannot be held fixed", factor))
			}
			c.known(at+".where."+factor, factor, l)
		}
	}
}

// subject checks that a claim is about one thing: a metric, or a score of the study it replays.
func (c *checker) subject(at string, cl Claim) {
	switch {
	case cl.Score == "" && cl.Metric == "":
		c.fault(at, "is about nothing: name a metric, or a score")
	case cl.Score != "" && cl.Metric != "":
		c.fault(at+".score", "a claim is about a metric or a score, not both")
	case cl.Metric != "":
		if err := c.reg.Metric(cl.Metric); err != nil {
			c.fault(at+".metric", err.Error())
		}
	default:
		if err := c.reg.Score(c.study.Name, cl.Score); err != nil {
			c.fault(at+".score", err.Error())
		}
	}
}

// control checks that the A/A control picks cells that exist, or did before an override took them away.
func (c *checker) control(cells []cell) {
	before := len(c.faults)
	for factor, levels := range c.study.Control {
		for _, l := range levels {
			c.known("control."+factor, factor, l)
		}
	}
	if len(c.study.Control) > 0 && len(c.faults) == before && !slices.ContainsFunc(cells, func(x cell) bool { return c.study.Control.Match(x.levels) }) {
		c.fault("control", "picks no cell of the study")
	}
}

// claimSteps checks that the step a claim names is one of the cells it is about.
func (c *checker) claimSteps(cells []cell) {
	for i, cl := range c.study.Claims {
		var have []string
		for _, x := range cells {
			held := Pattern{}
			for factor, l := range cl.Where {
				held[factor] = []string{l}
			}
			if !held.Match(x.levels) {
				continue
			}
			for _, st := range x.steps {
				if !slices.Contains(have, st.Name) {
					have = append(have, st.Name)
				}
			}
		}
		if cl.Step != "" && len(have) > 0 && !slices.Contains(have, cl.Step) {
			c.fault(fmt.Sprintf("claims.%d.step", i), unknown("step", cl.Step, have))
		}
	}
}
