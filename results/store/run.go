package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Run is one run folder, either being written (from Create) or only read (from Open). Its methods are safe for
// concurrent use.
type Run struct {
	path string

	mu      sync.Mutex
	meta    Meta
	journal *Lines // nil when only read, or closed
}

// errReadOnly answers every write to a folder that was opened for reading.
var errReadOnly = errors.New("the run folder is not open for writing")

// Open opens a run folder for reading. The error is a *NotARunError when there is no usable run.json.
func Open(path string) (*Run, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &NotARunError{Path: path, Err: err}
	}
	data, problem := readFile(abs, RunFile, smallLimitBytes)
	if problem != nil {
		return nil, &NotARunError{Path: path, Err: problem}
	}
	run := &Run{path: abs}
	if err := json.Unmarshal(data, &run.meta); err != nil {
		return nil, &NotARunError{Path: path, Err: &Problem{RunFile, Broken, err}}
	}
	if run.meta.Schema != RunSchema {
		return nil, &NotARunError{Path: path, Err: &Problem{RunFile, Foreign,
			fmt.Errorf("schema is %q, this platter reads %q", run.meta.Schema, RunSchema)}}
	}
	return run, nil
}

// List opens every run folder directly below dir, newest first. Folders that look like runs and cannot be opened are
// returned as problems; anything else in dir is left alone.
func List(dir string) ([]*Run, []*Problem, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list runs: %w", err)
	}
	var runs []*Run
	var problems []*Problem
	for _, entry := range entries {
		if !runIDPattern.MatchString(entry.Name()) {
			continue
		}
		run, err := Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			problems = append(problems, &Problem{entry.Name(), Broken, err})
			continue
		}
		runs = append(runs, run)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int {
		if order := b.meta.StartedAt.Compare(a.meta.StartedAt); order != 0 {
			return order
		}
		return strings.Compare(b.meta.ID, a.meta.ID)
	})
	return runs, problems, nil
}

// ID returns the run's identity, which is its folder's name when it was made.
func (r *Run) ID() string { return r.Meta().ID }

// Path returns where the folder lies.
func (r *Run) Path() string { return r.path }

// Meta returns run.json.
func (r *Run) Meta() Meta {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.meta
}

// Status returns the run's state as it is now, in a word: Meta().State().
func (r *Run) Status() string { return string(r.Meta().State()) }

// Command returns the command line that made the run, which may be empty.
func (r *Run) Command() []string { return r.Meta().Command }

// Plan returns plan.json.
func (r *Run) Plan() ([]byte, error) {
	data, problem := readFile(r.path, PlanFile, planLimitBytes)
	if problem != nil {
		return nil, problem
	}
	return data, nil
}

// WriteEnv keeps a document about the environment as env/<name>.json.
func (r *Run) WriteEnv(name string, document any) error {
	if err := r.writable(name); err != nil {
		return err
	}
	return writeJSON(r.file(filepath.Join(EnvDir, name+".json")), document)
}

// WriteEnvRaw keeps a tool's own words about the environment as env/raw/<name>.
func (r *Run) WriteEnvRaw(name string, data []byte) error {
	if err := r.writable(name); err != nil {
		return err
	}
	return writeBytes(r.file(filepath.Join(RawDir, name)), data)
}

// WriteReport puts a report into report/<name>, whole or not at all. Reports may be written to any run, at any time.
func (r *Run) WriteReport(name string, write func(io.Writer) error) error {
	if !baseName.MatchString(name) {
		return fmt.Errorf("report %q: want a plain file name", name)
	}
	if err := os.MkdirAll(r.file(ReportDir), dirMode); err != nil {
		return explain(r.file(ReportDir), err)
	}
	return writeAtomic(r.file(filepath.Join(ReportDir, name)), write)
}

// Close ends the run: the journal's last line, run.json with the final status, the documents that describe the folder to
// others' tools, and SHA256SUMS last. A second Close does
// nothing. The status is one of Done, Interrupted and Failed; all but Done need a reason.
func (r *Run) Close(status Status, reason string) error {
	if status != Done && status != Interrupted && status != Failed {
		return fmt.Errorf("close run: status %q is none of done, interrupted, failed", status)
	}
	if err := r.Log(JournalEntry{Event: "run_ended", Status: string(status), Reason: reason}); err != nil {
		if errors.Is(err, errReadOnly) {
			return nil
		}
		return fmt.Errorf("close run: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.journal.Close()
	r.journal = nil
	now := time.Now().UTC()
	r.meta.Status, r.meta.Reason, r.meta.EndedAt = status, reason, &now
	if err := errors.Join(err, writeJSON(r.file(RunFile), r.meta)); err != nil {
		return fmt.Errorf("close run: %w", err)
	}
	// What describes the folder may fail; the digests of what was measured must not depend on it.
	if err := errors.Join(r.describe(), r.writeSums()); err != nil {
		return fmt.Errorf("close run: %w", err)
	}
	return nil
}

// writable checks that the run is open for writing and the name is plain.
func (r *Run) writable(name string) error {
	if !baseName.MatchString(name) {
		return fmt.Errorf("%q: want a plain file name", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		return fmt.Errorf("write %s to %s: %w", name, r.path, errReadOnly)
	}
	return nil
}

// file returns the path of a name of this package.
func (r *Run) file(name string) string { return filepath.Join(r.path, filepath.FromSlash(name)) }
