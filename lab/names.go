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
		if err := c.reg.Metric(cl.Metric); err != nil {
			c.fault(at+".metric", err.Error())
		}
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
