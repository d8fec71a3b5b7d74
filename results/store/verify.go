package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"platter/results/schema"
)

// Verify checks a run folder and returns everything that is wrong with it, in no more words than needed: the run has
// ended and every trial of the plan has a result (complete), every file has the digest of SHA256SUMS and no other file
// is there (digests), every document fits its schema, and the latencies follow from their distributions (recomputed). An
// empty answer means the folder is as it was when it ended.
func (r *Run) Verify() []*Problem {
	var problems []*Problem
	problems = append(problems, r.verifyDigests()...)
	problems = append(problems, r.verifyDocuments()...)
	problems = append(problems, r.verifyComplete()...)
	seen := map[Problem]bool{}
	return slices.DeleteFunc(problems, func(p *Problem) bool {
		same := Problem{Path: p.Path, Kind: p.Kind} // one file may be found bad by two checks
		known := seen[same]
		seen[same] = true
		return known
	})
}

func (r *Run) verifyDigests() []*Problem {
	sums, problem := r.readSums()
	if problem != nil {
		return []*Problem{problem}
	}
	var problems []*Problem
	err := r.walk(func(name string) error {
		want, listed := sums[name]
		delete(sums, name)
		if !listed {
			problems = append(problems, &Problem{name, Unlisted, errors.New("it came after the run ended")})
			return nil
		}
		got, err := digestFile(r.file(name))
		if err != nil {
			problems = append(problems, &Problem{name, Unreadable, err})
		} else if got != want {
			problems = append(problems, &Problem{name, Changed, fmt.Errorf("sha256 is %s, was %s", got, want)})
		}
		return nil
	})
	if err != nil {
		problems = append(problems, &Problem{".", Unreadable, err})
	}
	for name := range sums {
		problems = append(problems, &Problem{name, Missing, fs.ErrNotExist})
	}
	return problems
}

// verifyDocuments checks each JSON document, and each line of the line files, against its schema.
func (r *Run) verifyDocuments() []*Problem {
	var problems []*Problem
	check := func(name, kind string, limit int64, lines bool) {
		data, problem := readFile(r.path, name, limit)
		if problem != nil {
			problems = append(problems, problem)
			return
		}
		documents := [][]byte{data}
		if lines {
			documents = wholeLines(data)
		}
		for number, document := range documents {
			if err := schema.Validate(kind, document); err != nil {
				place := name
				if lines {
					place = fmt.Sprintf("%s:%d", name, number+1)
				}
				problems = append(problems, &Problem{place, Invalid, err})
			}
		}
	}
	check(RunFile, "run", smallLimitBytes, false)
	check(PlanFile, "plan", planLimitBytes, false)
	check(MetricsFile, "metrics", smallLimitBytes, false)
	check(JournalFile, "journal", journalLimitBytes, true)
	for _, name := range r.environment() {
		check(name, environmentKind(name), planLimitBytes, false)
	}
	attempts, _ := r.attemptPaths() // its problems come from Results, in verifyComplete
	for _, attempt := range attempts {
		if _, err := os.Lstat(r.file(filepath.Join(attempt, ResultFile))); err == nil {
			check(filepath.Join(attempt, ResultFile), "result", resultLimitBytes, false)
		}
		// An attempt that ended before the guest said a word has an empty file.
		if info, err := os.Lstat(r.file(filepath.Join(attempt, EventsFile))); err == nil && info.Size() > 0 {
			check(filepath.Join(attempt, EventsFile), "event", eventsLimitBytes, true)
		}
	}
	return problems
}

// environment lists the documents of env/ that have a schema.
func (r *Run) environment() []string {
	entries, err := os.ReadDir(r.file(EnvDir))
	if err != nil {
		return nil // an early folder may have none; a missing file is named by its digest
	}
	var names []string
	for _, entry := range entries {
		if name := filepath.Join(EnvDir, entry.Name()); environmentKind(name) != "" {
			names = append(names, name)
		}
	}
	return names
}

// environmentKind is the schema of a document of env/, "" for any other file.
func environmentKind(name string) string {
	base := filepath.Base(name)
	switch {
	case name == HostFile:
		return "host"
	case strings.HasPrefix(base, imagePrefix) && strings.HasSuffix(base, ".json"):
		return "image"
	}
	return ""
}

// verifyComplete wants an end of the run and a result for every trial of the plan.
func (r *Run) verifyComplete() []*Problem {
	var problems []*Problem
	if meta := r.Meta(); meta.Status != Done {
		problems = append(problems, &Problem{RunFile, Incomplete, meta.unended()})
	}
	done := map[string]bool{}
	for result, err := range r.Results() {
		var problem *Problem
		switch {
		case err == nil:
			done[result.TrialID] = true
			if err := recompute(result); err != nil {
				place, _ := trialDir(result.TrialID, result.Attempt) // proven by Results
				problems = append(problems, &Problem{filepath.Join(place, ResultFile), Invalid, err})
			}
		case errors.As(err, &problem) && problem.Kind != Incomplete:
			problems = append(problems, problem)
		}
	}
	data, err := r.Plan()
	if err != nil {
		return problems // named by verifyDocuments
	}
	var plan struct {
		Trials []struct {
			ID string `json:"id"`
		} `json:"trials"`
	}
	if json.Unmarshal(data, &plan) != nil {
		return problems
	}
	for _, trial := range plan.Trials {
		if !done[trial.ID] {
			problems = append(problems, &Problem{TrialsDir + "/" + trial.ID, Incomplete, errors.New("the plan's trial has no result")})
		}
	}
	return problems
}
