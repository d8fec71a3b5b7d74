package server

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
)

// tellingPatterns find the line of a server's log that says why it ended, the surest first. Lines that only say that it
// ended come last.
var tellingPatterns = []*regexp.Regexp{
	regexp.MustCompile(`error while loading shared libraries: .*`),
	regexp.MustCompile(`(?i)\[(ERROR|FATAL)\].*(No space left on device|Disk full|errno: 28|OS error: 28)`),
	regexp.MustCompile(`(?i)\[FATAL\]`),
	regexp.MustCompile(`\[ERROR\].*unknown (variable|option)`),
	regexp.MustCompile(`got signal \d+`),
	regexp.MustCompile(`\[ERROR\]`),
	regexp.MustCompile(`(?i)\bFATAL ERROR\b`),
	regexp.MustCompile(`(?i)\bERROR\b`),
}

// empty are lines that match an ERROR pattern and tell nothing.
var emptyError = regexp.MustCompile(`\[ERROR\].*(\]|\]:|0 \[ERROR\]) *(Aborting|Aborted)\.?\s*$|\[ERROR\] Aborting`)

// tellingLine picks the line of a log that best says why a server or its installer ended; "" when the log is empty.
func tellingLine(log string) string {
	lines := strings.Split(log, "\n")
	for _, p := range tellingPatterns {
		for _, line := range lines {
			if p.MatchString(line) && !emptyError.MatchString(line) {
				return strings.TrimSpace(line)
			}
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

const (
	tailBytes = 16 << 10
	tailLines = 30
)

// readTail returns the last lines of a log written after an offset.
func readTail(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		offset = max(offset, info.Size()-tailBytes)
	}
	b, _ := io.ReadAll(io.NewSectionReader(f, offset, tailBytes))
	lines := bytes.Split(bytes.TrimRight(b, "\n"), []byte("\n"))
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}

// readSince returns what was written to a log after an offset, at most 1 MiB.
func readSince(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.NewSectionReader(f, offset, 1<<20))
	return string(b)
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
