package server

import (
	"fmt"
	"regexp"
	"strings"

	"platter/guest"
)

// Catalogue is the list of options a server knows, as it printed it for `--verbose --help`.
type Catalogue struct {
	defaults map[string]string // option name with dashes → default value, "" when only its flag form is listed
}

var (
	optionLine   = regexp.MustCompile(`^ {2}(?:-[A-Za-z#?], )?--([a-z0-9][a-z0-9_-]*)`)
	variableLine = regexp.MustCompile(`^([a-z0-9][a-z0-9_.-]*)(?:\s+(.*\S))?\s*$`)
)

// ParseCatalogue reads the output of `mysqld --no-defaults --verbose --help`: the flags of its first part and the table of
// variables with their values at its end.
func ParseCatalogue(help string) (Catalogue, error) {
	c := Catalogue{defaults: map[string]string{}}
	inTable := false
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "Variables (--variable-name=value)"):
			inTable = true
		case !inTable:
			if m := optionLine.FindStringSubmatch(line); m != nil {
				c.add(m[1], "")
			}
		case strings.TrimSpace(line) == "" && len(c.defaults) > 0 && strings.HasPrefix(line, "To see"):
			inTable = false
		default:
			if m := variableLine.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "and boolean") {
				c.add(m[1], m[2])
			}
		}
	}
	if len(c.defaults) < 50 { // the smallest server ever, 3.23, listed over a hundred
		return Catalogue{}, fmt.Errorf("read the server's option list: only %d options in its help text", len(c.defaults))
	}
	return c, nil
}

func (c Catalogue) add(name, value string) {
	name = strings.ReplaceAll(name, "_", "-")
	if c.defaults[name] == "" {
		c.defaults[name] = value
	}
}

// switchPrefixes may stand before the name of a boolean option, or before a limit.
var switchPrefixes = []string{"skip-", "disable-", "enable-", "maximum-"}

// Knows tells whether the server has the option, under its plain name or with one of the prefixes every server takes off.
func (c Catalogue) Knows(option string) bool {
	if _, ok := c.defaults[option]; ok {
		return true
	}
	for _, prefix := range switchPrefixes {
		if rest, found := strings.CutPrefix(option, prefix); found {
			if _, ok := c.defaults[rest]; ok {
				return true
			}
		}
	}
	return false
}

// Default is the value the server would use on its own; ok is false for an option it does not have.
func (c Catalogue) Default(option string) (value string, ok bool) {
	value, ok = c.defaults[option]
	return value, ok
}

// Nearest is the known option that looks most like the unknown one, "" when none is close.
func (c Catalogue) Nearest(option string) string {
	return guest.Nearest(option, sortedKeys(c.defaults))
}
