package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"platter/results"
	"platter/results/schema"
)

// TrialDir is the folder of one attempt of a trial. One goroutine may write each of its files.
type TrialDir struct {
	run     *Run
	id      string
	attempt int
	path    string

	mu   sync.Mutex
	done bool
}

// Trial makes the folder of an attempt: trials/<nnn>-<cell>/<round>-<attempt>/. The id is <nnn>-<cell>/<round>.
// An attempt that exists is never written to again.
func (r *Run) Trial(id string, attempt int) (*TrialDir, error) {
	relative, err := trialDir(id, attempt)
	if err != nil {
		return nil, err
	}
	if err := r.writable(filepath.Base(relative)); err != nil {
		return nil, err
	}
	path := r.file(relative)
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, explain(path, err)
	}
	if err := os.Mkdir(path, dirMode); err != nil {
		return nil, explain(path, err)
	}
	if err := errors.Join(syncDir(r.file(TrialsDir)), syncDir(filepath.Dir(path))); err != nil {
		return nil, explain(path, err)
	}
	return &TrialDir{run: r, id: id, attempt: attempt, path: path}, nil
}

// Path returns where the attempt lies.
func (t *TrialDir) Path() string { return t.path }

// Create opens a new file of the attempt for writing; its name is one of this package or lies in effective/ or logs/.
// Samples are compressed on the way. A file that reaches its limit is cut with a note, and File.Cut says so.
func (t *TrialDir) Create(name string) (*File, error) {
	if err := trialFile(name); err != nil {
		return nil, err
	}
	path := filepath.Join(t.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, explain(path, err)
	}
	return createFile(path, limitOf(name), name == Samples)
}

// WriteFile keeps data that is at hand whole, by the rules of Create.
func (t *TrialDir) WriteFile(name string, data []byte) error {
	file, err := t.Create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// CopyFile keeps a stream, by the rules of Create, and returns the bytes read. Fetched files come through here.
func (t *TrialDir) CopyFile(name string, r io.Reader) (int64, error) {
	file, err := t.Create(name)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(file, r)
	return n, errors.Join(err, file.Close())
}

// Events opens events.jsonl.
func (t *TrialDir) Events() (*Lines, error) {
	return openLines(filepath.Join(t.path, EventsFile), eventsLimitBytes)
}

// Finish writes result.json and so completes the attempt. It fills in schema, run and file names, and refuses a result
// that is invalid, belongs to another trial, or comes second.
func (t *TrialDir) Finish(r results.Result) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return fmt.Errorf("finish trial %s attempt %d: it is finished already", t.id, t.attempt)
	}
	r.Schema, r.RunID = results.Schema, t.run.ID()
	if r.TrialID != t.id || r.Attempt != t.attempt {
		return fmt.Errorf("finish trial %s attempt %d: the result is of trial %s attempt %d", t.id, t.attempt, r.TrialID, r.Attempt)
	}
	files, err := t.files()
	if err != nil {
		return fmt.Errorf("finish trial %s: %w", t.id, err)
	}
	r.Files = files
	if err := r.Validate(); err != nil {
		return fmt.Errorf("finish trial %s: %w", t.id, err)
	}
	data, err := encode(r)
	if err != nil {
		return fmt.Errorf("finish trial %s: %w", t.id, err)
	}
	if len(data) > resultLimitBytes {
		return fmt.Errorf("finish trial %s: %w: the result has %d bytes, the limit is %d", t.id, ErrTooLarge, len(data), resultLimitBytes)
	}
	if err := schema.Validate("result", data); err != nil {
		return fmt.Errorf("finish trial %s: %w", t.id, err)
	}
	if err := writeBytes(filepath.Join(t.path, ResultFile), data); err != nil {
		return err
	}
	t.done = true
	return nil
}

// files lists what lies beside result.json, sorted, with slashes.
func (t *TrialDir) files() ([]string, error) {
	var names []string
	err := filepath.WalkDir(t.path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), ".") {
			relative, relErr := filepath.Rel(t.path, path)
			names, err = append(names, filepath.ToSlash(relative)), relErr
		}
		return err
	})
	slices.Sort(names)
	return names, err
}
