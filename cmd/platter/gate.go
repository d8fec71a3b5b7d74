package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"platter/results/report"
	"platter/results/store"
)

func gateCommand() *cli.Command {
	return &cli.Command{
		Name:      "gate",
		Usage:     "judge a run against a base run, for scripts: the exit status is the verdict",
		ArgsUsage: "BASE NEW",
		Description: "Both folders are verified first. Every main metric is compared cell by cell with its tolerance.\n" +
			"Statuses: 0 unchanged or improved, 1 regression, 3 inconclusive, 4 incomplete, 5 damaged, 6 not comparable;\n" +
			"of several the first in 5, 6, 1, 4, 3. The report goes to standard output, the verdict to standard error.\n" +
			"With --confirm the report is of the fresh trials, if any were needed; they stay in a run folder of their own.",
		Flags: append(slices.Concat([]cli.Flag{resultsFlag()}, outputFlags(), hostFlags(), imageFlags()),
			&cli.StringSliceFlag{Name: "filter", Usage: "keep `FACTOR=LEVEL[,LEVEL]` only; may be repeated"},
			&cli.StringSliceFlag{Name: "metric", Usage: "`METRIC` to judge instead of the main ones; may be repeated"},
			&cli.BoolFlag{Name: "anyway", Usage: "judge what is not comparable; the report says so"},
			&cli.BoolFlag{Name: "confirm", Usage: "measure cells in doubt again on this host, both runs' in the same rounds; fresh trials alone decide about them"},
			&cli.IntFlag{Name: "rounds", Value: 6, Usage: "`ROUNDS` of a confirmation"}),
		Action:       gateRuns,
		BashComplete: completeRuns,
	}
}

// gateErrors are the ends of a gate, by outcome; the table of exit statuses has their numbers.
var gateErrors = map[report.Outcome]error{
	report.GateNotComparable: errNotComparable,
	report.GateRegressed:     errRegressed,
	report.GateIncomplete:    errIncomplete,
	report.GateInconclusive:  errInconclusive,
}

func gateRuns(c *cli.Context) error {
	options, err := reportOptions(c)
	if err != nil {
		return err
	}
	options.Anyway = c.Bool("anyway")
	if c.Int("rounds") < 1 || c.Int("rounds") > 1000 {
		return &usageError{fmt.Errorf("--rounds %d: want 1 to 1000", c.Int("rounds"))}
	}
	runs, err := severalRuns(c, 2, 2, "two runs, the base first")
	if err != nil {
		return err
	}
	unfinished, err := checkIntegrity(runs)
	if err != nil {
		return err
	}
	sideBySide(&options)
	shown, outcome, reason, err := judge(c, runs, options)
	if err != nil {
		if shown != nil {
			err = errors.Join(writeModel(c, shown), err)
		}
		return err
	}
	if err := errors.Join(writeModel(c, shown), partial(shown)); err != nil {
		return err
	}
	if outcome == report.GatePassed && unfinished == nil {
		_, err := fmt.Fprintf(c.App.ErrWriter, "gate passed: %s\n", reason)
		return err
	}
	if end := gateErrors[outcome]; end != nil {
		err = fmt.Errorf("%w: %s", end, reason)
	}
	return errors.Join(err, unfinished)
}

// judge compares two runs and, with --confirm, measures what is in doubt again. shown is the report that the verdict
// follows from; with an error it is the comparison that was to be confirmed, or nil.
func judge(c *cli.Context, runs []*store.Run, options report.Options) (shown *report.Model, outcome report.Outcome, reason string, err error) {
	model, err := buildReport(runs, options)
	if err != nil {
		return nil, "", "", err
	}
	outcome, reason = model.Gate()
	if !c.Bool("confirm") || len(model.Suspects()) == 0 || outcome == report.GateNotComparable {
		return model, outcome, reason, nil
	}
	fresh, err := confirm(c, runs, model, options)
	if err != nil {
		return model, outcome, reason, err
	}
	outcome, reason = model.GateConfirmed(fresh)
	return fresh, outcome, reason, nil
}

// checkIntegrity verifies runs: err when a file is not what it was, unfinished when a run merely lacks its end or trials.
func checkIntegrity(runs []*store.Run) (unfinished, err error) {
	var bad, open []error
	for _, run := range runs {
		damage, gaps := sortProblems(run, run.Verify())
		for _, p := range damage {
			bad = append(bad, fmt.Errorf("%w: %s: %s", errIntegrity, run.ID(), printable(p.Error())))
		}
		if len(gaps) > 0 {
			open = append(open, fmt.Errorf("%w: %s: %s", errIncomplete, run.ID(), printable(gaps[0].Error())))
		}
	}
	return errors.Join(open...), errors.Join(bad...)
}
