package lab

import (
	"time"

	"platter/results"
)

// RunEvent is what a run tells while it goes on. One stream feeds the terminal's bar, plain lines and `--json`.
// Fields that do not belong to the Kind are empty.
type RunEvent struct {
	Kind    EventKind      `json:"kind"`
	Time    time.Time      `json:"time"`
	Run     string         `json:"run,omitempty"`    // run id
	Folder  string         `json:"folder,omitempty"` // of run_started and run_ended
	Trial   string         `json:"trial,omitempty"`  // readable name
	TrialID string         `json:"trial_id,omitempty"`
	Index   int            `json:"index,omitempty"` // place of the trial, from 1
	Total   int            `json:"total,omitempty"` // trials of the plan
	Attempt int            `json:"attempt,omitempty"`
	Phase   string         `json:"phase,omitempty"` // what is being done, e.g. boot, mkfs, run
	Done    float64        `json:"done,omitempty"`  // of progress
	Of      float64        `json:"of,omitempty"`    // of progress; 0 when unknown
	Unit    string         `json:"unit,omitempty"`
	Level   string         `json:"level,omitempty"` // of log
	Message string         `json:"message,omitempty"`
	Status  results.Status `json:"status,omitempty"` // of trial_ended and run_ended
	Seconds *float64       `json:"seconds,omitempty"`
}

// EventKind names what a RunEvent tells.
type EventKind string

// The kinds of a RunEvent, in the order a run shows them.
const (
	RunStarted   EventKind = "run_started"
	ImagePhase   EventKind = "image" // an image is looked up, waited for or built; Message tells
	TrialStarted EventKind = "trial_started"
	PhaseStarted EventKind = "phase"    // Phase begins
	PhaseDone    EventKind = "progress" // Done of Of within Phase
	LogLine      EventKind = "log"
	TrialEnded   EventKind = "trial_ended"
	RunEnded     EventKind = "run_ended"
)
