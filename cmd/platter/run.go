package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/runner"
	"platter/results/store"
)

func runCommand() *cli.Command {
	flags := append(studyFlags(), hostFlags()...)
	flags = append(flags, imageFlags()...)
	flags = append(flags,
		resultsFlag(),
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON lines instead of progress, and no report"},
	)
	return &cli.Command{
		Name:      "run",
		Usage:     "carry out a study on this host and report",
		ArgsUsage: "STUDY[@SCALE]",
		Description: "Makes each trial's machine and disks, measures, and removes them; results stay in a new run folder.\n" +
			"The first Ctrl-C stops in order and removes everything, a second one ends at once.",
		Flags:        flags,
		Action:       runStudy,
		BashComplete: completeStudies,
	}
}

// resultsFlag names the directory of run folders.
func resultsFlag() cli.Flag {
	return &cli.StringFlag{Name: "results", EnvVars: []string{"PLATTER_RESULTS"}, Value: "platter-results", Usage: "`DIRECTORY` that holds run folders"}
}

func runStudy(c *cli.Context) error {
	r, err := resolve(c)
	if err != nil {
		return err
	}
	catalogue, err := openImages(c)
	if err != nil {
		return err
	}
	host, err := openHost(c.Context, c)
	if err != nil {
		return err
	}
	defer host.Close()
	info, err := host.Info(c.Context)
	if err != nil {
		return err
	}
	facts, err := hostFacts(c.Context, host)
	if err != nil {
		return err
	}
	if arch := catalogue.options.Arch; arch != hostArch(info) {
		return &usageError{fmt.Errorf("--arch %s: this host runs %s machines", arch, hostArch(info))}
	}
	if err := errors.Join(planner.Check(r.plan, facts), runner.Check(r.plan, info)); err != nil {
		return err
	}
	run, err := createRun(c, r, info)
	if err != nil {
		return err
	}
	return carryOut(c, r, run, catalogue, host)
}

// hostArch is the architecture of the host's machines as Debian names it.
func hostArch(info hypervisor.Info) string {
	if arch, ok := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[info.Arch]; ok {
		return arch
	}
	return info.Arch
}

// createRun opens a new run folder with everything known before the first trial.
func createRun(c *cli.Context, r resolved, info hypervisor.Info) (*store.Run, error) {
	document, err := json.MarshalIndent(r.plan, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	return store.Create(c.String("results"), store.CreateSpec{
		Study: r.plan.Study, Plan: append(document, '\n'), PlanDigest: r.plan.Digest,
		StudyFiles: map[string][]byte{r.plan.Study + ".yaml": r.source.Data},
		Host:       runner.HostFacts(info), Command: os.Args,
	})
}

// carryOut runs the plan, closes the run folder with its status and prints the report.
func carryOut(c *cli.Context, r resolved, run *store.Run, catalogue runner.Images, host *hypervisor.Host) error {
	tag, err := hypervisor.NewTag(run.ID())
	if err != nil {
		return err
	}
	show := newProgress(c, r.plan)
	show.start(run)
	summary, err := runner.Run(c.Context, runner.Config{
		Plan: r.plan, Store: run, Host: runner.NewHost(host), Images: catalogue,
		GuestBinary: runner.FindGuestBinary, Events: show.event, Log: logger(c), Tag: tag,
	})
	status, reason := ending(c, err, summary)
	show.end(run, status, reason)
	err = errors.Join(err, run.Close(status, reason), summary.CleanupErr)
	if c.Bool("json") || summary.Total() == 0 {
		return errors.Join(err, outcome(summary))
	}
	return errors.Join(err, printReport(c, run.Path()), outcome(summary))
}

// ending is what the run folder says of itself.
func ending(c *cli.Context, err error, s runner.Summary) (store.Status, string) {
	switch {
	case c.Context.Err() != nil:
		return store.Interrupted, causeText(c)
	case err != nil:
		return store.Failed, err.Error()
	}
	return store.Done, ""
}

// outcome is the error a finished run's trials amount to: nil when each gave a valid result or a reasoned skip.
func outcome(s runner.Summary) error {
	switch {
	case s.Lost > 0:
		return fmt.Errorf("%w: %d of %d trials were lost to the lab", errIncomplete, s.Lost, s.Total())
	case s.Failed+s.Invalid > 0:
		return fmt.Errorf("%w: %d of %d trials failed, %d are invalid", errSubject, s.Failed, s.Total(), s.Invalid)
	}
	return nil
}
