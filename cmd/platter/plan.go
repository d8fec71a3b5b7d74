package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/planner"
	"platter/lab/studies"
)

// studyFlags choose what of a study runs; plan and run share them.
func studyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "set", Usage: "override a value of the study, e.g. --set disks.data.size=4GiB; may be repeated"},
	}
}

func planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "print every trial of a study in order, what it makes and takes; changes nothing",
		ArgsUsage: "STUDY[@SCALE]",
		Description: "STUDY is a shipped study or the path of a file. The same study and seed give the same order.\n" +
			"Where a hypervisor can be asked, the plan is also checked against this host.",
		Flags: append(append(studyFlags(), hostFlags()...),
			claimsFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print the plan as JSON"},
			&cli.BoolFlag{Name: "no-host", Usage: "do not ask this host's hypervisor whether it can carry out the plan"}),
		Action:       plan,
		BashComplete: completeStudies,
	}
}

// resolved is a study with its plan.
type resolved struct {
	study  lab.Study
	source studies.Source
	plan   lab.Plan
	real   identities
}

// resolve turns the command's one argument and its --set into a plan. All faults of the study come back at once.
func resolve(c *cli.Context) (resolved, error) {
	var r resolved
	if err := arguments(c, 1, 1, "a study, e.g. ext4-vs-xfs@smoke or ./my-study.yaml"); err != nil {
		return r, err
	}
	var err error
	r.study, r.source, err = studies.Parse(c.Args().First(), c.StringSlice("set"))
	if err != nil && r.source.Data == nil {
		return r, err
	}
	if r.study, r.real, err = bindClaims(c, r.study); err != nil {
		return r, err
	}
	r.plan, err = lab.Expand(r.study, planner.Registry{})
	return r, err
}

func plan(c *cli.Context) error {
	r, err := resolve(c)
	if err != nil {
		return err
	}
	var host planner.Host
	var hostNote string
	if !c.Bool("no-host") {
		if host, err = askHost(c); err != nil {
			hostNote = fmt.Sprintf("this host was not checked: %v", err)
			logger(c).Warn("plan is not checked against this host", "error", err)
		}
	}
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetIndent("", "  ")
		if err := e.Encode(r.plan); err != nil {
			return fmt.Errorf("print plan: %w", err)
		}
	} else {
		printPlan(c.App.Writer, r, host, hostNote)
	}
	return errors.Join(planner.Check(r.plan, host), checkRealDisks(c, r.plan, modeOf(c)))
}
