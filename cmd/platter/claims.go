package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"platter/results/report"
	"platter/results/store"
)

func claimsCommand() *cli.Command {
	return &cli.Command{
		Name:      "claims",
		Usage:     "say which of a study's claims a run confirms",
		ArgsUsage: "[RUN]",
		Description: "Direction, order and size of each claim are judged apart: reproduced, reversed, not reproduced or cannot tell.\n" +
			"RUN is a run folder or its name below --results; without one, the newest run there.",
		Flags:        []cli.Flag{resultsFlag()},
		Action:       printClaims,
		BashComplete: completeRuns,
	}
}

func printClaims(c *cli.Context) error {
	run, err := oneRun(c)
	if err != nil {
		return err
	}
	model, err := buildReport([]*store.Run{run}, report.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, model.Title())
	for _, claim := range model.Claims {
		fmt.Fprintln(c.App.Writer, claim.Line())
	}
	if len(model.Claims) == 0 {
		fmt.Fprintln(c.App.Writer, "the study makes no claim")
	}
	return partial(model)
}
