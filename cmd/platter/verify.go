package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"platter/results/archive"
	"platter/results/store"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check that a run, or a packed file, is complete, undamaged, fits its schemas, and that its numbers follow",
		ArgsUsage: "[RUN|FILE]",
		Description: "Names every file that is damaged, missing, new or against its schema, every trial without a result, and every number\n" +
			"that does not follow from what is stored beside it. FILE is a packed file; of it every bit is checked, too.\n" +
			"RUN is a run folder or its name below --results; without one, the newest run there.",
		Flags:        []cli.Flag{resultsFlag()},
		Action:       verifyRun,
		BashComplete: completeRuns,
	}
}

func verifyRun(c *cli.Context) error {
	if file := c.Args().First(); c.NArg() == 1 && isPacked(file) {
		err := archive.Verify(file, archive.DefaultLimits(), func(run *store.Run) error { return tellProblems(c, run) })
		if as[*store.Problem](err) || as[*fs.PathError](err) {
			return unpackError(err)
		}
		return err
	}
	run, err := oneRun(c)
	if err != nil {
		return err
	}
	return tellProblems(c, run)
}

// tellProblems prints what is wrong with a run, and ends as damaged or incomplete.
func tellProblems(c *cli.Context, run *store.Run) error {
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
	_, err := fmt.Fprintf(c.App.Writer, "%s is complete, as it was when it ended, and fits its schemas\n", run.ID())
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
