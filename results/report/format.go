package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Style is what the place a report is printed to allows.
type Style struct {
	Color bool // the place is a terminal that shows colours; they are never the only sign
	Width int  // columns; 0 means 100
}

// Format is one way to print a Model. Each registers itself from its own file.
type Format struct {
	Name      string // as typed after --format
	Extension string // of a file, with its dot
	Help      string
	People    bool // made to be read by people: it prints medians, changes and the question
	Binary    bool // not text
	write     func(w io.Writer, m *Model, s Style) error
}

var registered []Format

// register is called while the package's variables are set up.
func register(f Format) Format {
	registered = append(registered, f)
	return f
}

// Formats returns all formats, sorted by name.
func Formats() []Format {
	return slices.SortedFunc(slices.Values(registered), func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
}

// Write prints a Model in the format of that name. Nothing is written when the format does not exist or cannot print it.
func Write(w io.Writer, format string, m *Model, s Style) error {
	i := slices.IndexFunc(registered, func(f Format) bool { return f.Name == format })
	if i < 0 {
		var known []string
		for _, f := range Formats() {
			known = append(known, f.Name)
		}
		return fmt.Errorf("report format %q: there is none; known are %s", format, join(known))
	}
	if s.Width <= 0 {
		s.Width = 100
	}
	var page bytes.Buffer
	if err := registered[i].write(&page, m, s); err != nil {
		return fmt.Errorf("report as %s: %w", format, err)
	}
	_, err := w.Write(page.Bytes())
	return err
}
