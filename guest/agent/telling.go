package agent

import (
	"regexp"
	"strings"
)

var (
	reasonWords = regexp.MustCompile(`(?i)\b(error|unrecognized|invalid|illegal|cannot|can't|could not|couldn't|unable|failed|failure|too|not|no such|denied|must|need|busy|in use|mismatch|unknown|unsupported|exists?|larger|smaller|minimum|maximum|refus\w+|abort\w*|assert\w*)\b`)
	goesOn      = regexp.MustCompile(`[\pL\d,]$`) // no full stop
	continues   = regexp.MustCompile(`^[a-z]+ .*[.!]\s*$`)
	noiseLines  = regexp.MustCompile(`(?i)^\s*(usage\b|try |see |where |options?:|\[|/\*|-|\{|for more information|#|mke2fs \d|mkfs\.\w+ .*\(|.* comes with absolutely no warranty)`)
)

// tellingLine returns the line of a program's output that says why it failed: the first with a word of
// failure that is not usage text, with the rest of its sentence where that is on the next line, else the
// first line at all; "" when there is none.
func tellingLine(output string) string {
	first := ""
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		line = printable(strings.TrimSpace(line))
		if line == "" || noiseLines.MatchString(line) {
			continue
		}
		if reasonWords.MatchString(line) {
			if i+1 < len(lines) && goesOn.MatchString(line) && continues.MatchString(lines[i+1]) {
				line = printable(line + " " + strings.TrimSpace(lines[i+1]))
			}
			return line
		}
		if first == "" {
			first = line
		}
	}
	return first
}

// printable drops control characters and bounds the length, as the text comes from foreign programs.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
