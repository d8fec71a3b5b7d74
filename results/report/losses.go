package report

import (
	"fmt"
	"strings"
)

// losses answers for a crash check, whose question is not how much is lost but where anything is; "" for other studies.
func losses(m *Model) string {
	cells, lost := 0, 0
	for _, t := range m.Tables {
		if !t.Headline || t.Metric.Name != "lost_total" {
			continue
		}
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if len(e.Summary.Values) == 0 {
					continue
				}
				cells++
				for _, v := range e.Summary.Values {
					if v > 0 {
						lost++
						break
					}
				}
			}
		}
	}
	if cells == 0 {
		return ""
	}
	text := fmt.Sprintf("Acknowledged commits were lost in %d of %d cells", lost, cells)
	for _, note := range m.Notes {
		if strings.HasPrefix(note.Text, "durability_broken") {
			return text + ", in some although their durability class rules it out: see the notes durability_broken."
		}
	}
	return text + ", in none against what its durability class promises."
}
