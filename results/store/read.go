package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"platter/results"
)

const (
	planLimitBytes    = 64 << 20
	journalLimitBytes = 256 << 20
)

// Results walks the results of a run, in the order of their paths, with only a few in memory at a time.
//
// What cannot be used comes as an error, always a *Problem that names the file, with a zero Result; the walk goes on.
// A caller that shows results must show the problems too and call what it shows partial. Attempts without a result
// (killed, or still going on) come as Incomplete.
func (r *Run) Results() iter.Seq2[results.Result, error] {
	return func(yield func(results.Result, error) bool) {
		paths, problems := r.attemptPaths()
		for _, problem := range problems {
			if !yield(results.Result{}, problem) {
				return
			}
		}
		stop := make(chan struct{})
		defer close(stop)
		for slot := range r.readAhead(paths, stop) {
			switch read := <-slot; {
			case read.problem != nil && !yield(results.Result{}, read.problem):
				return
			case read.problem == nil && !yield(read.result, nil):
				return
			}
		}
	}
}

// attemptPaths lists the folders of attempts, in order.
func (r *Run) attemptPaths() (paths []string, problems []*Problem) {
	cells, err := os.ReadDir(r.file(TrialsDir))
	if err != nil {
		return nil, []*Problem{{TrialsDir, Unreadable, err}}
	}
	for _, cell := range cells {
		relative := filepath.Join(TrialsDir, cell.Name())
		attempts, err := os.ReadDir(r.file(relative))
		if err != nil {
			problems = append(problems, &Problem{relative, kindOf(err), err})
			continue
		}
		for _, attempt := range attempts {
			paths = append(paths, filepath.Join(relative, attempt.Name()))
		}
	}
	return paths, problems
}

// oneRead is what became of reading one attempt.
type oneRead struct {
	result  results.Result
	problem *Problem
}

// readAhead reads several attempts at once and hands them out in order, one slot each; decoding is most of the time a
// report of many trials takes. It ends early when stop is closed.
func (r *Run) readAhead(paths []string, stop <-chan struct{}) <-chan chan oneRead {
	slots := make(chan chan oneRead, runtime.GOMAXPROCS(0))
	go func() {
		defer close(slots)
		for _, path := range paths {
			slot := make(chan oneRead, 1) // never blocks its reader
			select {
			case slots <- slot:
			case <-stop:
				return
			}
			go func() {
				result, problem := r.readResult(path)
				slot <- oneRead{result, problem}
			}()
		}
	}()
	return slots
}

// readResult reads the result of one attempt and proves that it belongs there.
func (r *Run) readResult(attempt string) (results.Result, *Problem) {
	var result results.Result
	name := filepath.Join(attempt, ResultFile)
	data, problem := readFile(r.path, name, resultLimitBytes)
	if problem != nil {
		if errors.Is(problem, fs.ErrNotExist) {
			return result, &Problem{attempt, Incomplete, errors.New("the attempt has no " + ResultFile)}
		}
		return result, problem
	}
	// A newer version may have changed the type of a field: look for the schema before calling such a file broken.
	decodeErr := json.Unmarshal(data, &result)
	var head struct {
		Schema string `json:"schema"`
	}
	if decodeErr == nil {
		head.Schema = result.Schema
	} else if err := json.Unmarshal(data, &head); err != nil {
		return results.Result{}, &Problem{name, Broken, err}
	}
	if head.Schema != results.Schema {
		return results.Result{}, &Problem{name, Foreign, fmt.Errorf("schema is %q, this platter reads %q", head.Schema, results.Schema)}
	}
	if decodeErr != nil {
		return results.Result{}, &Problem{name, Broken, decodeErr}
	}
	if place, err := trialDir(result.TrialID, result.Attempt); err != nil || place != attempt || result.RunID != r.ID() {
		return results.Result{}, &Problem{name, Foreign,
			fmt.Errorf("it is of run %q, trial %q, attempt %d", result.RunID, result.TrialID, result.Attempt)}
	}
	if err := result.Validate(); err != nil {
		return results.Result{}, &Problem{name, Invalid, err}
	}
	return result, nil
}

// readFile reads a file of a run folder. Links, devices and directories are not followed or opened.
func readFile(root, name string, limit int64) ([]byte, *Problem) {
	path := filepath.Join(root, name)
	// O_NONBLOCK: a fifo of that name must not stop the reader.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, &Problem{name, kindOf(err), err}
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, &Problem{name, Unreadable, err}
	case !info.Mode().IsRegular():
		return nil, &Problem{name, Directory, errors.New("not a regular file")}
	case info.Size() == 0:
		return nil, &Problem{name, Empty, errors.New("the file has no bytes")}
	case info.Size() > limit:
		return nil, &Problem{name, TooLarge, fmt.Errorf("%d bytes, the limit is %d", info.Size(), limit)}
	}
	var content bytes.Buffer
	content.Grow(int(info.Size()) + bytes.MinRead) // thousands of results are read for one report
	if _, err := content.ReadFrom(io.LimitReader(file, limit)); err != nil {
		return nil, &Problem{name, Unreadable, err}
	}
	data := content.Bytes()
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return nil, &Problem{name, Broken, errors.New("begins with a byte order mark; another program rewrote it")}
	}
	return data, nil
}

// kindOf classifies an error of opening a file.
func kindOf(err error) ProblemKind {
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return Directory
	}
	return Unreadable
}

// isRegenerable reports whether a name lies where platter may write after the run has ended.
func isRegenerable(name string) bool {
	return strings.HasPrefix(name, DerivedDir+"/") || strings.HasPrefix(name, ReportDir+"/")
}
