package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fault is one thing wrong with one field. The field is written as in the
// study and in JSON, for example "disks[2].cache".
type Fault struct {
	Field   string
	Problem string
}

// Faults are all the faults of a Spec or a Disk. It is the error of Validate.
type Faults []Fault

// Error lists the faults, separated by "; ".
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Field + ": " + fault.Problem
	}
	return strings.Join(lines, "; ")
}

func (f *Faults) add(field, format string, args ...any) {
	*f = append(*f, Fault{Field: field, Problem: fmt.Sprintf(format, args...)})
}

func (f *Faults) addIf(wrong bool, field, format string, args ...any) {
	if wrong {
		f.add(field, format, args...)
	}
}

// adopt takes over the faults of a part under the part's name.
func (f *Faults) adopt(prefix string, part Faults) {
	for _, fault := range part {
		*f = append(*f, Fault{Field: prefix + fault.Field, Problem: fault.Problem})
	}
}

// err is nil when there is no fault, so that a caller can compare with nil.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
