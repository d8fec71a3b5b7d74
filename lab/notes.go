package lab

import (
	"fmt"
	"slices"
	"strings"
)

// detectable is the change seen in 80 % of cases by n trials a side when the coefficient of variation is 1, 3 and
// 10 %: simulated with log-normal noise and Mann–Whitney's exact test. It tells a plan's reader what its rounds buy.
var detectable = []struct {
	n      int
	change string
}{
	{4, "2.8/8.3/25 %"}, {5, "2.3/6.7/21 %"}, {6, "1.9/5.7/17 %"}, {8, "1.6/4.5/15 %"}, {10, "1.4/4.1/13 %"}, {20, "0.9/2.8/8.8 %"},
}

// power says what n trials a cell can tell.
func power(n int) string {
	if n < 4 {
		return fmt.Sprintf("n = %d a cell shows medians only: below 4 no rank test can reach p = 0.05, and below 6 the 95 %% interval of a median is infinite", n)
	}
	best := detectable[0]
	for _, d := range detectable {
		if d.n <= n {
			best = d
		}
	}
	text := fmt.Sprintf("with n = %d a cell a change of about %s is seen in 80 %% of cases at a noise (CV) of 1/3/10 %%", n, best.change)
	if n < 6 {
		text += "; below 6 the 95 % interval of a median is infinite"
	}
	return text
}

// notes are what the reader of the plan must know.
func (s Study) notes(cells []cell, r Registry) []string {
	notes := []string{power(s.Rounds)}
	if all := len(s.withoutPatterns().cells()); all > len(cells) {
		notes = append(notes, fmt.Sprintf("%d of %d cells are excluded by the study", all-len(cells), all))
	}
	used := map[string]bool{}
	for _, c := range cells {
		for _, d := range c.disks {
			used[d.Name] = true
		}
	}
	for _, d := range s.Disks {
		if !used[d.Name] {
			notes = append(notes, fmt.Sprintf("disk %s is not used by any cell and is not made", d.Name))
			continue
		}
		notes = append(notes, diskNotes(d)...)
	}
	for _, e := range s.Factors.Storage {
		if cautions := r.Cautions(e.Value); len(cautions) > 0 {
			notes = append(notes, fmt.Sprintf("storage %s (%s) cannot do: %s", e.Name, e.Value.Filesystem, strings.Join(cautions, "; ")))
		}
	}
	return notes
}

func (s Study) withoutPatterns() Study {
	s.Exclude, s.Include = nil, nil
	return s
}

func diskNotes(d Disk) (notes []string) {
	if d.Passport != nil {
		notes = claimNotes(d)
	}
	switch {
	case d.Emulated != "":
		notes = append(notes, fmt.Sprintf("disk %s is an emulated device (%s): nothing turns; its figures are limits and delays: %s", d.Name, d.Emulated, imitation(d)))
	case d.Limits != Limits{} || d.ReadDelaySeconds > 0 || d.WriteDelaySeconds > 0:
		notes = append(notes, fmt.Sprintf("disk %s has limits of its own: its rates are not the host's", d.Name))
	}
	if d.Cache == "unsafe" {
		notes = append(notes, fmt.Sprintf("disk %s has cache=unsafe: flushes are ignored, data may be lost, and every title says so", d.Name))
	}
	return notes
}

// imitation says in figures how a disk is made to look slower than the host's file.
func imitation(d Disk) string {
	var parts []string
	for _, l := range []struct {
		most int64
		text string
	}{
		{d.Limits.ReadBytesPerSecond / 1e6, "MB/s read"}, {d.Limits.WriteBytesPerSecond / 1e6, "MB/s written"}, {d.Limits.TotalBytesPerSecond / 1e6, "MB/s"},
		{d.Limits.ReadIOPS, "reads/s"}, {d.Limits.WriteIOPS, "writes/s"}, {d.Limits.TotalIOPS, "requests/s"},
	} {
		if l.most > 0 {
			parts = append(parts, fmt.Sprintf("at most %d %s", l.most, l.text))
		}
	}
	if d.ReadDelaySeconds > 0 || d.WriteDelaySeconds > 0 {
		parts = append(parts, fmt.Sprintf("%g ms more a read, %g ms more a write", d.ReadDelaySeconds*1e3, d.WriteDelaySeconds*1e3))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// claimsFor returns the claims this plan can judge, and notes on those it cannot because an override or a pattern took
// their levels away.
func (s Study) claimsFor(cells []cell) (claims []Claim, notes []string) {
	has := func(factor, level string) bool {
		return slices.ContainsFunc(cells, func(c cell) bool { return c.levels[factor] == level })
	}
	for _, c := range s.Claims {
		gone := slices.DeleteFunc(slices.Clone(c.Order), func(l string) bool { return has(c.Factor, l) })
		for factor, l := range c.Where {
			if !has(factor, l) {
				gone = append(gone, l)
			}
		}
		if len(gone) > 0 {
			slices.Sort(gone)
			notes = append(notes, fmt.Sprintf("claim %s cannot be judged: this plan has no %s", c.ID, strings.Join(gone, ", ")))
			continue
		}
		claims = append(claims, c)
	}
	return claims, notes
}
