package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// JournalEntry is one line of journal.jsonl: something the run did. Event is run_started, trial_started, trial_ended,
// run_ended, or a word of the runner's own.
type JournalEntry struct {
	Time    time.Time `json:"time"` // the zero time is replaced by now
	Event   string    `json:"event"`
	Trial   string    `json:"trial,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Status  string    `json:"status,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	PID     int       `json:"pid,omitempty"`
}

// Log appends an entry to the journal and returns when it is on disk.
func (r *Run) Log(e JournalEntry) error {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		return fmt.Errorf("log %s: %w", e.Event, errReadOnly)
	}
	return r.journal.Append(e)
}

func (r *Run) openJournal() error {
	journal, err := openLines(r.file(JournalFile), journalLimitBytes)
	if err != nil {
		return err
	}
	// Held until the journal is closed, also by a crash: no two processes write to one run.
	if err := syscall.Flock(int(journal.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(explain(r.file(JournalFile), err), journal.Close())
	}
	r.journal = journal
	return syncDir(r.path)
}

// Journal returns the entries of the journal. A last line cut short by a crash is left out; any other broken line is a
// Problem.
func (r *Run) Journal() ([]JournalEntry, []*Problem) {
	data, problem := readFile(r.path, JournalFile, journalLimitBytes)
	if problem != nil {
		return nil, []*Problem{problem}
	}
	var entries []JournalEntry
	var problems []*Problem
	for number, line := range wholeLines(data) {
		var e JournalEntry
		if err := json.Unmarshal(line, &e); err != nil {
			problems = append(problems, &Problem{fmt.Sprintf("%s:%d", JournalFile, number+1), Broken, err})
			continue
		}
		entries = append(entries, e)
	}
	return entries, problems
}

// wholeLines splits at line feeds and leaves out what follows the last one.
func wholeLines(data []byte) [][]byte {
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 {
		return nil
	}
	return bytes.Split(data[:end], []byte{'\n'})
}

// Lines appends JSON documents to a file, one a line, each on disk when Append returns. It is safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	file  *os.File
	left  int64
	limit int64
}

// ErrTooLarge says that a file of a run reached its limit.
var ErrTooLarge = errors.New("file is too large")

func openLines(path string, limit int64) (*Lines, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_EXCL, fileMode)
	if err != nil {
		return nil, explain(path, err)
	}
	return &Lines{file: file, left: limit, limit: limit}, nil
}

// Append writes one line and syncs it. The error is ErrTooLarge when the file would pass its limit; nothing is written
// then.
func (l *Lines) Append(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.file.Name(), err)
	}
	line = append(line, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if int64(len(line)) > l.left {
		return fmt.Errorf("append to %s: %w (limit %d bytes)", l.file.Name(), ErrTooLarge, l.limit)
	}
	if _, err := l.file.Write(line); err != nil {
		return explain(l.file.Name(), err)
	}
	l.left -= int64(len(line))
	return explain(l.file.Name(), l.file.Sync())
}

// Close closes the file.
func (l *Lines) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
