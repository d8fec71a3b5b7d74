package lab

import (
	"fmt"
	"sort"
	"strings"

	"github.com/xrash/smetrics"
)

// Fault is one thing wrong with a study, and where it was said.
type Fault struct {
	Where   Where
	Path    string // keys from the top, joined by dots: disks.data.size
	Problem string // what is wrong and what would be accepted
}

// String is "study.yaml:12:9: disks.data.size: problem"; parts that are unknown are left out.
func (f Fault) String() string {
	parts := make([]string, 0, 3)
	if w := f.Where.String(); w != "" {
		parts = append(parts, w)
	}
	if f.Path != "" {
		parts = append(parts, f.Path)
	}
	return strings.Join(append(parts, f.Problem), ": ")
}

// Faults are all the things wrong with one study, in the order a reader meets them.
type Faults []Fault

// Error gives one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// err returns the faults sorted by place as an InputError, or nil when there are none.
func (fs Faults) err() error {
	if len(fs) == 0 {
		return nil
	}
	sort.SliceStable(fs, func(i, j int) bool { return fs[i].Where.before(fs[j].Where) })
	return &InputError{Err: fs}
}

// Where is a place in a study file, or the --set that said it.
type Where struct {
	File         string
	Line, Column int    // from 1; 0 when unknown
	Set          string // "path=value" of a --set; File is empty then
}

// String is file:line:column, or the --set.
func (w Where) String() string {
	switch {
	case w.Set != "":
		return "--set " + w.Set
	case w.Line == 0:
		return w.File
	default:
		return fmt.Sprintf("%s:%d:%d", w.File, w.Line, w.Column)
	}
}

// before orders places: the file from top to bottom, then the overrides.
func (w Where) before(o Where) bool {
	if (w.Set == "") != (o.Set == "") {
		return w.Set == ""
	}
	if w.Line != o.Line {
		return w.Line < o.Line
	}
	return w.Column < o.Column
}

// Nearest returns the candidate most like word, or "" when none is near enough to be meant. The distance is
// Wagner and Fischer's with a substitution counted as two edits, at most half of the longer word.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", len(word)+1
	for _, c := range candidates {
		d := smetrics.WagnerFischer(strings.ToLower(word), strings.ToLower(c), 1, 1, 2)
		if d < bestDistance && d <= (max(len(word), len(c))+1)/2 {
			best, bestDistance = c, d
		}
	}
	return best
}

// unknown says that word is not one of the candidates, naming the nearest or else all of them.
func unknown(what, word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return fmt.Sprintf("unknown %s %q, did you mean %q?", what, word, near)
	}
	if len(candidates) == 0 {
		return fmt.Sprintf("unknown %s %q, none is defined", what, word)
	}
	return fmt.Sprintf("unknown %s %q, accepted: %s", what, word, strings.Join(candidates, ", "))
}
