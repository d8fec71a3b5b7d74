package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results/report"
	"platter/results/store"
)

func nightlyCommand() *cli.Command {
	return &cli.Command{
		Name:      "nightly",
		Usage:     "one night: run a study, judge it against its baseline, pack, rotate, and report for CI",
		ArgsUsage: "STUDY[@SCALE] | --judge RUN | --accept RUN --reason TEXT | --recipe NAME",
		Description: "Suspects are measured again before anything is called a regression. The exit status is the gate's.\n" +
			"The baseline is the last entry of the study in baselines.yaml; the first complete night becomes one by itself.\n" +
			"Writes gate.md and gate.xml (JUnit) into the run's report folder and latest.md and latest.xml into --results.\n" +
			"Recipes to start from: " + recipeNames() + ".",
		Flags: slices.Concat([]cli.Flag{resultsFlag()}, studyFlags(), hostFlags(), imageFlags(), nightlyFlags()),
		Action: func(c *cli.Context) error {
			switch {
			case c.IsSet("recipe"):
				return printRecipe(c)
			case c.IsSet("accept"):
				return acceptRun(c)
			}
			return nightly(c)
		},
		BashComplete: completeStudies,
	}
}

func nightlyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "baselines", Usage: "`FILE` of accepted changes (default: baselines.yaml in --results)"},
		&cli.StringFlag{Name: "archive", Usage: "put packed runs into `DIRECTORY` (default: packed in --results)"},
		&cli.IntFlag{Name: "keep", Value: 14, Usage: "keep the newest `N` run folders of the study; older ones go once they are packed, 0 keeps all"},
		&cli.DurationFlag{Name: "keep-packed", Usage: "remove packed runs of the study that are older than `DURATION`; 0 keeps all"},
		&cli.BoolFlag{Name: "confirm", Value: true, Usage: "measure cells in doubt again before they count"},
		&cli.IntFlag{Name: "rounds", Value: 6, Usage: "`ROUNDS` of a confirmation"},
		&cli.StringFlag{Name: "judge", Usage: "do not measure; judge, pack and rotate with `RUN` as tonight's"},
		&cli.StringFlag{Name: "accept", Usage: "make `RUN` the study's baseline, and do nothing else"},
		&cli.StringFlag{Name: "reason", Usage: "why the change is accepted, with --accept"},
		&cli.StringFlag{Name: "recipe", Usage: "print the recipe of `NAME`: " + recipeNames()},
	}
}

// nightly does the steps of a night. A step that fails does not keep the later ones from being done.
func nightly(c *cli.Context) error {
	release, err := lockNight(c.String("results"))
	if err != nil {
		return err
	}
	defer release()
	known, err := readBaselines(baselinesPath(c))
	if err != nil {
		return err
	}
	run, err := tonight(c)
	if run == nil {
		return err
	}
	errs := []error{err}
	verdict, err := judgeNight(c, run, known)
	errs = append(errs, err)
	errs = append(errs, writeNight(c, run, verdict), packNight(c, run), rotate(c, run, known))
	return errors.Join(errs...)
}

// lockNight keeps two nights from sharing a results directory.
func lockNight(results string) (release func(), err error) {
	if err := os.MkdirAll(results, 0o755); err != nil {
		return nil, &lab.InputError{Err: err}
	}
	lock := flock.New(filepath.Join(results, ".nightly.lock"))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, &lab.InfraError{What: "lock the results", Err: err}
	}
	if !locked {
		return nil, &lab.InputError{Err: fmt.Errorf("nightly: another night uses %s; two at once would disturb each other", results)}
	}
	return func() { _ = lock.Unlock() }, nil // closing the file frees the lock in any case
}

// tonight measures the study, or opens the run to judge. With a run, the error is what became of its trials.
func tonight(c *cli.Context) (*store.Run, error) {
	if name := c.String("judge"); name != "" {
		runs, err := findRuns(c.String("results"), []string{name})
		if err != nil {
			return nil, err
		}
		return runs[0], nil
	}
	r, err := resolve(c)
	if err != nil {
		return nil, err
	}
	b, err := setUp(c, r.plan)
	if err != nil {
		return nil, err
	}
	defer b.host.Close()
	run, err := createRun(c, r, b.info)
	if err != nil {
		return nil, err
	}
	show := newProgress(c, r.plan, 0)
	show.start(run)
	summary, err := measure(c, r.plan, run, b, show)
	again, openErr := store.Open(run.Path())
	if openErr != nil {
		return nil, errors.Join(err, openErr)
	}
	return again, errors.Join(err, outcome(summary))
}

// verdictOfNight is what a night is judged as.
type verdictOfNight struct {
	model  *report.Model // nil when there is nothing to show
	base   string        // run it was compared with; empty without one
	reason string
	trends []string
}

// judgeNight compares tonight's run with the study's baseline, and makes it the baseline when there is none.
func judgeNight(c *cli.Context, run *store.Run, known baselines) (v verdictOfNight, err error) {
	if _, err := checkIntegrity([]*store.Run{run}); err != nil {
		return v, err
	}
	v.trends = trendsOf(c.String("results"), run)
	base, ok := known.of(run.Meta().Study)
	if !ok {
		return firstNight(c, run, v)
	}
	v.base = base
	if base == run.ID() {
		v.reason = "it is the baseline itself"
		v.model, err = buildReport([]*store.Run{run}, report.Options{})
		return v, err
	}
	runs, err := findRuns(c.String("results"), []string{base})
	if err != nil {
		return v, fmt.Errorf("the baseline of %s: %w", run.Meta().Study, err)
	}
	runs = append(runs, run)
	unfinished, err := checkIntegrity(runs)
	if err != nil {
		return v, err
	}
	options := report.Options{}
	sideBySide(&options)
	var end report.Outcome
	v.model, end, v.reason, err = judge(c, runs, options)
	if end := gateErrors[end]; err == nil && end != nil {
		err = fmt.Errorf("%w: %s", end, v.reason)
	}
	return v, errors.Join(err, unfinished)
}

// firstNight reports a run without a baseline, and makes it one when it is whole.
func firstNight(c *cli.Context, run *store.Run, v verdictOfNight) (verdictOfNight, error) {
	var err error
	if v.model, err = buildReport([]*store.Run{run}, report.Options{}); err != nil {
		return v, err
	}
	if run.Meta().Status != store.Done || v.model.Counts.OK == 0 {
		v.reason = "there is no baseline yet, and this night is not complete enough to become one"
		return v, nil
	}
	v.reason = "there was no baseline; from now on it is this night"
	entry := baseline{Study: run.Meta().Study, Run: run.ID(), Since: today(), Reason: "the first night"}
	if err := accept(baselinesPath(c), entry); err != nil {
		return v, &lab.InfraError{What: "write the baselines", Err: err}
	}
	return v, nil
}

// writeNight keeps the verdict as Markdown and JUnit, in the run's folder and, for CI to pick up, beside it.
func writeNight(c *cli.Context, run *store.Run, v verdictOfNight) error {
	if v.model == nil {
		return nil // the error says why
	}
	var errs []error
	for _, out := range []struct{ format, extension string }{{"markdown", ".md"}, {"junit", ".xml"}} {
		write := func(w io.Writer) error {
			if out.extension == ".md" {
				if _, err := io.WriteString(w, v.heading(run)); err != nil {
					return err
				}
			}
			return report.Write(w, out.format, v.model, report.Style{})
		}
		errs = append(errs, run.WriteReport("gate"+out.extension, write))
		errs = append(errs, copyReport(run, "gate"+out.extension, filepath.Join(c.String("results"), "latest"+out.extension)))
	}
	if err := errors.Join(errs...); err != nil {
		return &lab.InfraError{What: "keep the night's report", Err: err}
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s: %s\n", run.ID(), v.reason)
	for _, line := range v.trends {
		fmt.Fprintf(c.App.Writer, "trend: %s\n", line)
	}
	return err
}

// heading is what the Markdown opens with: the night, its baseline, and the advice of earlier nights.
func (v verdictOfNight) heading(run *store.Run) string {
	text := fmt.Sprintf("**%s**", run.ID())
	if v.base != "" {
		text += " against `" + v.base + "`"
	}
	text += ": " + v.reason + "\n\n"
	for _, line := range v.trends {
		text += "- Advice, no verdict: " + line + "\n"
	}
	if len(v.trends) > 0 {
		text += "\n"
	}
	return text
}

func baselinesPath(c *cli.Context) string {
	if path := c.String("baselines"); path != "" {
		return path
	}
	return filepath.Join(c.String("results"), baselinesFile)
}

// acceptRun makes a run its study's baseline.
func acceptRun(c *cli.Context) error {
	if c.NArg() > 0 || c.String("reason") == "" {
		return &usageError{errors.New("nightly: --accept takes a run and --reason, and nothing else")}
	}
	if _, err := readBaselines(baselinesPath(c)); err != nil {
		return err
	}
	runs, err := findRuns(c.String("results"), []string{c.String("accept")})
	if err != nil {
		return err
	}
	unfinished, err := checkIntegrity(runs)
	if err := errors.Join(err, unfinished); err != nil {
		return err
	}
	entry := baseline{Study: runs[0].Meta().Study, Run: runs[0].ID(), Since: time.Now().UTC().Format(time.DateOnly), Reason: c.String("reason")}
	if err := accept(baselinesPath(c), entry); err != nil {
		return &lab.InfraError{What: "write the baselines", Err: err}
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s is the baseline of %s\n", entry.Run, entry.Study)
	return err
}
