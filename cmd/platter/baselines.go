package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/renameio/v2"

	"platter/lab"
)

// baselinesFile lies beside the run folders, and in version control if its owner likes.
const baselinesFile = "baselines.yaml"

// baseline is one line of the history of what nights are compared with: the last of a study holds.
type baseline struct {
	Study  string `yaml:"study"`
	Run    string `yaml:"run"`
	Since  string `yaml:"since"`  // a date, for people
	Reason string `yaml:"reason"` // why the change was accepted
}

type baselines struct {
	Baselines []baseline `yaml:"baselines"`
}

// readBaselines reads the file strictly; none means no baselines.
func readBaselines(path string) (baselines, error) {
	var b baselines
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, &lab.InputError{Err: fmt.Errorf("read the baselines: %w", err)}
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&b); err != nil {
		return b, &lab.InputError{Err: fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))}
	}
	for i, entry := range b.Baselines {
		if entry.Study == "" || entry.Run == "" || entry.Reason == "" || filepath.Base(entry.Run) != entry.Run {
			return b, &lab.InputError{Err: fmt.Errorf("%s: entry %d: needs study, run (a folder's name) and reason", path, i+1)}
		}
	}
	return b, nil
}

// of returns the run that a study's nights are compared with.
func (b baselines) of(study string) (run string, ok bool) {
	for _, entry := range b.Baselines {
		if entry.Study == study {
			run, ok = entry.Run, true
		}
	}
	return run, ok
}

// holds tells whether a run is, or was, a baseline: such runs are never rotated away.
func (b baselines) holds(run string) bool {
	for _, entry := range b.Baselines {
		if entry.Run == run {
			return true
		}
	}
	return false
}

// accept adds an entry to the end of the file and leaves the rest, comments too, as it is.
func accept(path string, entry baseline) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("# What the nights of a study are compared with; the last entry of a study holds. platter nightly --accept adds one.\nbaselines:\n")
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	text = fmt.Appendf(text, "  - study: %s\n    run: %s\n    since: %s\n    reason: %s\n",
		strconv.Quote(entry.Study), strconv.Quote(entry.Run), entry.Since, strconv.Quote(entry.Reason))
	return renameio.WriteFile(path, text, 0o644)
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }
