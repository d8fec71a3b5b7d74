package runner

import (
	"platter/lab"
	"platter/results"
	"platter/results/store"
)

// Settled counts the trials of the plan that need no further attempt, because the run folder holds a result that says
// something of the subject. It is empty for a new run; a resumed run carries out the rest.
func Settled(p lab.Plan, run *store.Run) Summary {
	progress := run.Progress()
	uncounted := map[string]bool{}
	for _, t := range p.Trials {
		uncounted[t.ID] = progress[t.ID].Settled
	}
	var s Summary
	for result, err := range run.Results() {
		if err != nil || !uncounted[result.TrialID] {
			continue // what is broken settles nothing
		}
		switch result.Status {
		case results.StatusOK, results.StatusFailed, results.StatusSkipped:
			s.count(result)
			uncounted[result.TrialID] = false
		}
	}
	return s
}

// takeUp learns what the run folder holds from an earlier process of the same run.
func (r *run) takeUp() {
	r.earlier = r.Store.Progress()
	r.summary = Settled(r.Plan, r.Store)
}

// skip tells the trials that an earlier process settled.
func (r *run) skip(t lab.Trial) bool { return r.earlier[t.ID].Settled }

// attempt is the number of this process's nth try at a trial: earlier attempts stay as they are.
func (r *run) attempt(t lab.Trial, nth int) int { return max(r.earlier[t.ID].NextAttempt, 1) + nth - 1 }
