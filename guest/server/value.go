package server

import (
	"math"
	"strconv"
	"strings"
)

// sizeSuffixes are the multipliers servers accept after a number.
var sizeSuffixes = map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40, 'p': 1 << 50, 'e': 1 << 60}

// parseSize reads an integer with an optional K, M, G, T, P or E as the servers do (powers of 1024).
func parseSize(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	multiplier := int64(1)
	if m, ok := sizeSuffixes[s[len(s)-1]|0x20]; ok {
		multiplier, s = m, s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > math.MaxInt64/multiplier || n < math.MinInt64/multiplier {
		return 0, false
	}
	return n * multiplier, true
}

var switchWords = map[string]string{"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}

// sameValue tells whether an asked value and the one a server reports mean the same: 1G and 1073741824, ON and 1,
// o_direct and O_DIRECT, 0.5 and 0.500000, a directory with and without its last slash.
func sameValue(asked, effective string) bool {
	a, e := plainValue(asked), plainValue(effective)
	if a == e {
		return true
	}
	na, okA := parseSize(a)
	ne, okE := parseSize(e)
	if okA && okE {
		return na == ne
	}
	fa, errA := strconv.ParseFloat(a, 64)
	fe, errE := strconv.ParseFloat(e, 64)
	return errA == nil && errE == nil && fa == fe
}

func plainValue(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) > 1 {
		s = strings.TrimSuffix(s, "/")
	}
	if w, ok := switchWords[s]; ok {
		return w
	}
	return s
}
