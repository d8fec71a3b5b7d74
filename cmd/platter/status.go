package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results"
	"platter/results/store"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:         "status",
		Usage:        "say how far a run is: its state, trials done of those planned, the current trial",
		ArgsUsage:    "[RUN]",
		Description:  "RUN is a run folder or its name below --results; without one, the newest run there.",
		Flags:        []cli.Flag{resultsFlag()},
		Action:       printStatus,
		BashComplete: completeRuns,
	}
}

func printStatus(c *cli.Context) error {
	run, err := oneRun(c)
	if err != nil {
		return err
	}
	planned, err := plannedTrials(run)
	if err != nil {
		return err
	}
	describeRun(c.App.Writer, run, planned)
	return nil
}

// plannedTrials reads the names of a run's trials, by id.
func plannedTrials(run *store.Run) (map[string]string, error) {
	data, err := run.Plan()
	if err != nil {
		return nil, err
	}
	var p lab.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, &store.Problem{Path: store.PlanFile, Kind: store.Broken, Err: err}
	}
	planned := map[string]string{}
	for _, t := range p.Trials {
		planned[t.ID] = t.Name
	}
	return planned, nil
}

func describeRun(w io.Writer, run *store.Run, planned map[string]string) {
	line := func(name, text string) { fmt.Fprintf(w, "%-8s %s\n", name, printable(text)) }
	meta := run.Meta()
	state := meta.State()
	line("run", run.Path())
	line("started", meta.StartedAt.Format(time.RFC3339))
	switch state {
	case store.Running:
		line("state", fmt.Sprintf("running, process %d", meta.PID))
	case store.Elsewhere:
		line("state", fmt.Sprintf("running on another host, %s", meta.Hostname))
	case store.Dead:
		line("state", fmt.Sprintf("dead: process %d has ended without ending the run", meta.PID))
	default:
		line("state", string(state)+because(meta.Reason))
	}
	ends := endsOf(run)
	line("trials", fmt.Sprintf("%d of %d done%s", len(ends), len(planned), because(countsOf(ends))))
	if e, ok := current(run); ok {
		text := fmt.Sprintf("%s, attempt %d, since %s", planned[e.Trial], e.Attempt, e.Time.Format(time.RFC3339))
		line(map[bool]string{true: "died in", false: "now"}[state == store.Dead], text)
	}
	if open := len(planned) - settledIn(run, planned); open > 0 && state != store.Running && state != store.Elsewhere {
		line("next", fmt.Sprintf("%s without a valid result; platter run --resume %s goes on", count(open, "trial"), run.Path()))
	}
}

// endsOf is how each trial with a result ended, by id; of several attempts the last counts.
func endsOf(run *store.Run) map[string]results.Status {
	ends, attempts := map[string]results.Status{}, map[string]int{}
	for r, err := range run.Results() {
		if err == nil && r.Attempt > attempts[r.TrialID] { // what is broken is verify's to name
			ends[r.TrialID], attempts[r.TrialID] = r.Status, r.Attempt
		}
	}
	return ends
}

// countsOf says how many trials ended in which way: "3 ok, 1 failed".
func countsOf(ends map[string]results.Status) string {
	counts := map[string]int{}
	for _, status := range ends {
		counts[string(status)]++
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
	}
	return strings.Join(parts, ", ")
}

// current is the trial that the journal says was begun and not ended.
func current(run *store.Run) (begun store.JournalEntry, ok bool) {
	entries, _ := run.Journal() // a broken line is verify's to name
	for _, e := range entries {
		switch e.Event {
		case "trial_started":
			begun, ok = e, true
		case "trial_ended", "run_resumed", "run_ended":
			ok = false
		}
	}
	return begun, ok
}

func settledIn(run *store.Run, planned map[string]string) int {
	n := 0
	for id, p := range run.Progress() {
		if _, known := planned[id]; known && p.Settled {
			n++
		}
	}
	return n
}
