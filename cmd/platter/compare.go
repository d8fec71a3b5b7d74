package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"platter/results/report"
	"platter/results/stats"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare runs with the first of them",
		ArgsUsage: "BASE RUN...",
		Description: "The runs are levels of a factor named run, which makes the columns unless --col says otherwise.\n" +
			"What differs in accelerator, cache mode, durability, size or version is not compared unless --anyway is given.",
		Flags: append(append(append([]cli.Flag{resultsFlag()}, outputFlags()...), viewFlags()...),
			&cli.BoolFlag{Name: "anyway", Usage: "compare what is not comparable; the report says so"}),
		Action:       compareRuns,
		BashComplete: completeRuns,
	}
}

func compareRuns(c *cli.Context) error {
	options, err := reportOptions(c)
	if err != nil {
		return err
	}
	options.Anyway = c.Bool("anyway")
	sideBySide(&options)
	runs, err := severalRuns(c, 2, -1, "two runs or more, the base first")
	if err != nil {
		return err
	}
	model, err := buildReport(runs, options)
	if err != nil {
		return err
	}
	return errors.Join(writeModel(c, model), partial(model), compared(model))
}

// sideBySide makes the runs the columns, unless the command line wants others.
func sideBySide(o *report.Options) {
	if len(o.Columns) == 0 {
		o.Columns = []string{report.RunFactor}
	}
}

// compared is the error of a comparison that was refused, wholly or in part, or that found nothing on both sides.
func compared(m *report.Model) error {
	refused, total, reason := 0, 0, ""
	for _, t := range m.Tables {
		for _, row := range t.Rows {
			for _, e := range row.Entries {
				if !t.Headline || e.Comparison == nil {
					continue
				}
				total++
				if e.Comparison.Verdict == stats.NotComparable {
					refused, reason = refused+1, e.Comparison.Reason
				}
			}
		}
	}
	switch {
	case refused > 0:
		return fmt.Errorf("%w: %d of %s refused, e.g. %s; --anyway makes them all the same", errNotComparable, refused, count(total, "comparison"), reason)
	case !m.Compared():
		return fmt.Errorf("%w: the runs have no measured cell in common", errNotComparable)
	}
	return nil
}
