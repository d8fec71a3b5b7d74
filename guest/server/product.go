package server

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The flavours platter tells apart. Percona Server is MySQL with other defaults and keeps MySQL's option names.
const (
	MySQL   = "mysql"
	MariaDB = "mariadb"
	Percona = "percona"
)

// Product is what a server says it is.
type Product struct {
	Flavour string // MySQL, MariaDB or Percona
	Version string // three numbers, e.g. 10.11.19
	Full    string // with the vendor's suffix, e.g. 8.0.36-28 or 10.11.19-MariaDB-0+deb12u1
	Line    string // the whole line it was read from
	numbers [3]int
}

// AtLeast tells whether the version is major.minor.patch or later. Versions of different flavours do not compare.
func (p Product) AtLeast(major, minor, patch int) bool {
	for i, want := range [3]int{major, minor, patch} {
		if p.numbers[i] != want {
			return p.numbers[i] > want
		}
	}
	return true
}

// versionWords are the words that stand before a server's version, most telling first: clients print their own version
// after Ver and the server's after Distrib, and newer MariaDB says "from".
var versionWords = []*regexp.Regexp{
	regexp.MustCompile(`\bDistrib (\d+)\.(\d+)\.(\d+)([^\s,]*)`),
	regexp.MustCompile(`\bfrom (\d+)\.(\d+)\.(\d+)([^\s,]*)`),
	regexp.MustCompile(`\bVer (\d+)\.(\d+)\.(\d+)([^\s,]*)`),
}

// ParseVersion reads the output of `mysqld --version`. Lines before the one with the version (wrappers print deprecation
// notices) are passed over. The error quotes the output when no line holds a version.
func ParseVersion(output string) (Product, error) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		for _, word := range versionWords {
			if m := word.FindStringSubmatch(line); m != nil {
				return productOf(line, m), nil
			}
		}
	}
	return Product{}, fmt.Errorf("read the server's version: no version in %q", firstLine(output))
}

func productOf(line string, m []string) Product {
	p := Product{Flavour: MySQL, Version: m[1] + "." + m[2] + "." + m[3], Line: line}
	p.Full = p.Version + m[4]
	for i := range p.numbers {
		p.numbers[i], _ = strconv.Atoi(m[i+1]) // the pattern admits digits only
	}
	switch {
	case strings.Contains(line, "MariaDB"):
		p.Flavour = MariaDB
	case strings.Contains(line, "Percona"):
		p.Flavour = Percona
	}
	return p
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
