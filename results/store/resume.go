package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"platter/results"
)

// BusyError says that another process writes to a run folder.
type BusyError struct {
	Path string
	PID  int
}

// Error names the process.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s: process %d is writing to it; wait for it to end or stop it", e.Path, e.PID)
}

// Resume opens a run folder that did not come to its end, to write further attempts. It keeps the plan, the order and
// all that is there; SHA256SUMS and what describes the folder go until the run ends again. The error is a *BusyError while the run's process lives,
// and when two processes resume at once one of them gets it.
func Resume(path string) (*Run, error) {
	run, err := Open(path)
	if err != nil {
		return nil, err
	}
	if state := run.meta.State(); state == Running || state == Elsewhere {
		return nil, &BusyError{Path: path, PID: run.meta.PID}
	}
	journal, err := reopenJournal(run.file(JournalFile))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &BusyError{Path: path, PID: run.meta.PID}
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	run.journal = journal
	run.meta.Status, run.meta.Reason, run.meta.EndedAt = Running, "", nil
	run.meta.stampProcess()
	for _, name := range []string{SumsFile, CrateFile, ProvenanceFile} {
		err = errors.Join(err, ignoreNotExist(os.Remove(run.file(name))))
	}
	err = errors.Join(err, writeJSON(run.file(RunFile), run.meta),
		run.Log(JournalEntry{Event: "run_resumed", PID: run.meta.PID}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resume: %w", err), journal.Close())
	}
	return run, nil
}

// reopenJournal opens the journal for appending, locked. A last line that a crash cut short is taken off first: it never
// was an entry.
func reopenJournal(path string) (*Lines, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Lines, error) { return nil, errors.Join(err, file.Close()) }
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fail(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fail(err)
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	if err := file.Truncate(whole); err != nil {
		return fail(explain(path, err))
	}
	return &Lines{file: file, left: journalLimitBytes - whole, limit: journalLimitBytes}, nil
}

// Progress is how far a trial of the plan has come.
type Progress struct {
	Settled     bool // an attempt ended as ok, failed or skipped: nothing is left to do
	NextAttempt int  // the number a further attempt takes
}

// Progress returns, by trial id, what attempts there are; trials that are not in it were never begun. A resumed run is
// the plan without the settled ones. Results that cannot be used count as attempts that settled nothing.
func (r *Run) Progress() map[string]Progress {
	progress := map[string]Progress{}
	paths, _ := r.attemptPaths() // what cannot be listed cannot be counted; Results names it
	for _, path := range paths {
		id, attempt, ok := splitAttempt(path)
		if !ok {
			continue
		}
		p := progress[id]
		p.NextAttempt = max(p.NextAttempt, attempt+1)
		if result, problem := r.readResult(path); problem == nil {
			p.Settled = p.Settled || settles(result.Status)
		}
		progress[id] = p
	}
	return progress
}

// settles tells ends that say something of the subject from those that ask for another attempt.
func settles(s results.Status) bool {
	return s == results.StatusOK || s == results.StatusFailed || s == results.StatusSkipped
}

// splitAttempt takes a folder trials/<nnn>-<cell>/<round>-<attempt> apart.
func splitAttempt(path string) (id string, attempt int, ok bool) {
	relative, ok := strings.CutPrefix(filepath.ToSlash(path), TrialsDir+"/")
	dash := strings.LastIndexByte(relative, '-')
	if !ok || dash < 0 {
		return "", 0, false
	}
	attempt, err := strconv.Atoi(relative[dash+1:])
	return relative[:dash], attempt, err == nil && attempt > 0 && trialIDPattern.MatchString(relative[:dash])
}
