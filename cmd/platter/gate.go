package main

import (
	"errors"
	"fmt"

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
			"of several the first in 5, 6, 1, 4, 3. The report goes to standard output, the verdict to standard error.",
		Flags: append(append([]cli.Flag{resultsFlag()}, outputFlags()...),
			&cli.StringSliceFlag{Name: "filter", Usage: "keep `FACTOR=LEVEL[,LEVEL]` only; may be repeated"},
			&cli.StringSliceFlag{Name: "metric", Usage: "`METRIC` to judge instead of the main ones; may be repeated"}),
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
	runs, err := severalRuns(c, 2, 2, "two runs, the base first")
	if err != nil {
		return err
	}
	unfinished, err := checkIntegrity(runs)
	if err != nil {
		return err
	}
	sideBySide(&options)
	model, err := buildReport(runs, options)
	if err != nil {
		return err
	}
	if err := errors.Join(writeModel(c, model), partial(model)); err != nil {
		return err
	}
	outcome, reason := model.Gate()
	if outcome == report.GatePassed && unfinished == nil {
		_, err := fmt.Fprintf(c.App.ErrWriter, "gate passed: %s\n", reason)
		return err
	}
	if end := gateErrors[outcome]; end != nil {
		err = fmt.Errorf("%w: %s", end, reason)
	}
	return errors.Join(err, unfinished)
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
