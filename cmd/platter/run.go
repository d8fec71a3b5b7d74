package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/lab/planner"
	"platter/lab/runner"
	"platter/results/store"
)

func runCommand() *cli.Command {
	flags := append(studyFlags(), hostFlags()...)
	flags = append(flags, imageFlags()...)
	flags = append(flags, passthroughFlags()...)
	flags = append(flags,
		resultsFlag(),
		&cli.StringFlag{Name: "resume", Usage: "go on with `RUN`, which was stopped or lost trials, instead of a study"},
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON lines instead of progress, and no report"},
	)
	return &cli.Command{
		Name:      "run",
		Usage:     "carry out a study on this host and report",
		ArgsUsage: "STUDY[@SCALE] | --resume RUN",
		Description: "Makes each trial's machine and disks, measures, and removes them; results stay in a new run folder.\n" +
			"The first Ctrl-C stops in order and removes everything, a second one ends at once.\n" +
			"--resume keeps plan, order and valid results of a run; what is lost, invalid or missing gets a new attempt.",
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
	if c.IsSet("resume") {
		return resumeRun(c)
	}
	r, err := resolve(c)
	if err != nil {
		return err
	}
	if err := samePlan(c, r.plan); err != nil {
		return err
	}
	b, err := setUp(c, r.plan)
	if err != nil {
		return err
	}
	defer b.host.Close()
	run, err := createRun(c, r, b.info)
	if err != nil {
		return err
	}
	show := newProgress(c, r.plan, 0)
	show.start(run)
	return carryOut(c, r.plan, run, b, show)
}

// bench is what carries out a plan.
type bench struct {
	catalogue imageStore
	host      *hypervisor.Host
	info      hypervisor.Info
}

// setUp opens images and host and checks that they can carry out the plan; the caller closes the host.
func setUp(c *cli.Context, plan lab.Plan) (b bench, err error) {
	if b.catalogue, err = openImages(c); err != nil {
		return b, err
	}
	b.catalogue.plan = plan
	if b.host, err = openHost(c.Context, c); err != nil {
		return b, err
	}
	for _, check := range []func() error{
		func() error { return b.check(c, plan) }, b.catalogue.checkCached, func() error { return b.catalogue.ensureTarballs(c) },
	} {
		if err = check(); err != nil {
			break
		}
	}
	if err != nil {
		return b, errors.Join(err, b.host.Close())
	}
	return b, nil
}

func (b *bench) check(c *cli.Context, plan lab.Plan) (err error) {
	if b.info, err = b.host.Info(c.Context); err != nil {
		return err
	}
	facts, err := hostFacts(c.Context, b.host)
	if err != nil {
		return err
	}
	if arch := b.catalogue.options.Arch; arch != hostArch(b.info) {
		return &usageError{fmt.Errorf("--arch %s: this host runs %s machines", arch, hostArch(b.info))}
	}
	return errors.Join(planner.Check(plan, facts), runner.Check(plan, b.info), checkRealDisks(c, plan, b.host.Mode()))
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
	return newRun(c, r.plan, r.real, map[string][]byte{r.plan.Study + ".yaml": r.source.Data}, info)
}

// newRun opens a new run folder of a plan that came from study files.
func newRun(c *cli.Context, plan lab.Plan, real identities, studyFiles map[string][]byte, info hypervisor.Info) (*store.Run, error) {
	document, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	command := slices.Clone(os.Args)
	for i := range command {
		command[i] = real.hide(c, command[i])
	}
	for name, text := range studyFiles {
		studyFiles[name] = []byte(real.hide(c, string(text)))
	}
	return store.Create(c.String("results"), store.CreateSpec{
		Study: plan.Study, Plan: append(document, '\n'), PlanDigest: plan.Digest,
		StudyFiles: studyFiles, Host: runner.HostFacts(info), Command: command,
	})
}

// carryOut runs the plan, closes the run folder with its status and prints the report.
func carryOut(c *cli.Context, plan lab.Plan, run *store.Run, b bench, show display) error {
	summary, err := measure(c, plan, run, b, show)
	if c.Bool("json") || summary.Total() == 0 {
		return errors.Join(err, outcome(summary))
	}
	return errors.Join(err, printReport(c, run.Path()), outcome(summary))
}

// leanPercent keeps the collector's reserve small while machines run: they need the host's memory more than platter does.
const leanPercent = 40

// measure runs the plan and closes the run folder with its status.
func measure(c *cli.Context, plan lab.Plan, run *store.Run, b bench, show display) (runner.Summary, error) {
	tag, err := hypervisor.NewTag(run.ID())
	if err != nil {
		return runner.Summary{}, errors.Join(err, run.Close(store.Failed, err.Error()))
	}
	real, err := passthrough(c, plan, b.host)
	if err != nil {
		return runner.Summary{}, errors.Join(err, run.Close(store.Failed, err.Error()))
	}
	debug.SetGCPercent(leanPercent)
	summary, err := runner.Run(c.Context, runner.Config{
		Passthrough: real,
		Plan:        plan, Store: run, Host: runner.NewHost(b.host), Images: b.catalogue,
		GuestBinary: runner.FindGuestBinary, Events: show.event, Log: logger(c), Tag: tag, Left: leftOf(c.Context),
	})
	debug.FreeOSMemory() // before the figures of the report are painted
	status, reason := ending(c, err, summary)
	show.end(run, status, reason)
	return summary, errors.Join(err, run.Close(status, reason), summary.CleanupErr)
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
	case s.Lost > 0 && s.NotBooted == s.Total():
		return fmt.Errorf("%w: none of %d machines did; their consoles lie in the run's folder", errNotBooted, s.Total())
	case s.Lost > 0:
		return fmt.Errorf("%w: %d of %d trials were lost to the lab", errIncomplete, s.Lost, s.Total())
	case s.Failed+s.Invalid > 0:
		return fmt.Errorf("%w: %d of %d trials failed, %d are invalid", errSubject, s.Failed, s.Total(), s.Invalid)
	}
	return nil
}
