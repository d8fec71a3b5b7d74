package storage

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Option is one thing a study may ask of a filesystem or a layout.
type Option struct {
	Name  string
	Help  string
	Check func(value string) error
}

// checkOptions returns a fault for each option that is unknown or has an impossible value, in order of name.
func checkOptions(what string, known []Option, asked map[string]string) []error {
	var errs []error
	var names []string
	for _, o := range known {
		names = append(names, o.Name)
	}
	for _, name := range sortedKeys(asked) {
		i := slices.Index(names, name)
		if i < 0 {
			has := "it has none"
			if len(names) > 0 {
				has = "it has " + strings.Join(names, ", ")
			}
			errs = append(errs, fmt.Errorf("%s: unknown option %q%s; %s", what, name, hint(name, names), has))
			continue
		}
		if err := known[i].Check(asked[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: option %s: %w", what, name, err))
		}
	}
	return errs
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(values, ", "))
		}
		return nil
	}
}

var bit = oneOf("0", "1")

func number(low, high int64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", v)
		}
		if n < low || n > high {
			return fmt.Errorf("%d is not within %d to %d", n, low, high)
		}
		return nil
	}
}

// size accepts bytes with the suffixes mkfs programs share (k, m, g, t: powers of 1024).
func size(low, high int64) func(string) error {
	return func(v string) error {
		n, err := ParseSize(v)
		if err != nil {
			return err
		}
		if n < low || n > high {
			return fmt.Errorf("%s is not within %d to %d bytes", v, low, high)
		}
		return nil
	}
}

// powerOfTwo is size for powers of two only.
func powerOfTwo(low, high int64) func(string) error {
	return func(v string) error {
		n, err := ParseSize(v)
		if err == nil && n&(n-1) != 0 {
			return fmt.Errorf("%s is not a power of two", v)
		}
		return size(low, high)(v)
	}
}

func matching(pattern, what string) func(string) error {
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(v string) error {
		if !re.MatchString(v) {
			return fmt.Errorf("%q is not %s", v, what)
		}
		return nil
	}
}

var sizeForm = regexp.MustCompile(`^([0-9]+)([kKmMgGtT]?)(?:i?[bB])?$`)

// ParseSize returns the bytes of a size as mkfs programs write it: 4096, 4k, 64KiB, 1M.
func ParseSize(v string) (int64, error) {
	m := sizeForm.FindStringSubmatch(v)
	if m == nil {
		return 0, fmt.Errorf("%q is not a size such as 4096, 64k or 1m", v)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size: %w", v, err)
	}
	shift := 10 * (strings.Index("kmgt", strings.ToLower(m[2])) + 1)
	if m[2] == "" {
		shift = 0
	}
	if n > 1<<(62-shift) {
		return 0, fmt.Errorf("%q is too large", v)
	}
	return n << shift, nil
}

// Same says whether an effective value is what was asked, seeing through units (4k, 4096) and on/1/yes.
func Same(asked, effective string) bool {
	if asked == effective {
		return true
	}
	a, errA := ParseSize(asked)
	b, errB := ParseSize(effective)
	if errA == nil && errB == nil {
		return a == b
	}
	truth := map[string]string{"on": "1", "yes": "1", "true": "1", "off": "0", "no": "0", "false": "0", "1": "1", "0": "0"}
	x, y := truth[strings.ToLower(asked)], truth[strings.ToLower(effective)]
	return x != "" && x == y
}

// hint returns `, did you mean "x"?` for the nearest name within two edits, else "".
func hint(name string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if d := edits(name, n); d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, corner+cost)
		}
	}
	return row[len(b)]
}
