package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"platter/results/store"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check that a run is complete, has the digests of its end, and fits its schemas",
		ArgsUsage: "[RUN]",
		Description: "Names every file that is damaged, missing, new or against its schema, and every trial without a result.\n" +
			"RUN is a run folder or its name below --results; without one, the newest run there.",
		Flags:        []cli.Flag{resultsFlag()},
		Action:       verifyRun,
		BashComplete: completeRuns,
	}
}

func verifyRun(c *cli.Context) error {
	run, err := oneRun(c)
	if err != nil {
		return err
	}
	problems := run.Verify()
	for _, p := range problems {
		fmt.Fprintln(c.App.Writer, printable(p.Error()))
	}
	damage, gaps := sortProblems(run, problems)
	switch {
	case len(damage) > 0:
		return fmt.Errorf("%w: %s has %s", errIntegrity, run.ID(), count(len(problems), "problem"))
	case len(gaps) > 0:
		return fmt.Errorf("%w: what %s holds is sound, and not all is there; platter run --resume %s goes on", errIncomplete, run.ID(), run.ID())
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s is complete, as it was when it ended, and fits its schemas\n", run.ID())
	return err
}

// sortProblems tells damage from what is only not there yet: trials without results, and the end of a run that goes on
// or was killed.
func sortProblems(run *store.Run, problems []*store.Problem) (damage, gaps []*store.Problem) {
	for _, p := range problems {
		unended := p.Path == store.SumsFile && errors.Is(p, fs.ErrNotExist) && run.Meta().Status == store.Running
		if p.Kind == store.Incomplete || unended {
			gaps = append(gaps, p)
		} else {
			damage = append(damage, p)
		}
	}
	return damage, gaps
}
