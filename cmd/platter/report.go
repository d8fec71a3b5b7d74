package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"platter/lab"
	"platter/results/report"
	"platter/results/store"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "print what runs measured",
		ArgsUsage: "[RUN...]",
		Description: "RUN is a run folder or its name below --results; without one, the newest run there.\n" +
			"Formats: " + strings.Join(formatNames(), ", ") + ".",
		Flags:        append(append([]cli.Flag{resultsFlag()}, outputFlags()...), viewFlags()...),
		Action:       printReports,
		BashComplete: completeRuns,
	}
}

// outputFlags say where a report goes and as what.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "text", Usage: strings.Join(formatNames(), ", ")},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of standard output"},
	}
}

// viewFlags choose what a report shows.
func viewFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "row", Usage: "`FACTOR` that makes rows; may be repeated"},
		&cli.StringSliceFlag{Name: "col", Usage: "`FACTOR` that makes columns; may be repeated"},
		&cli.StringSliceFlag{Name: "filter", Usage: "keep `FACTOR=LEVEL[,LEVEL]` only; may be repeated"},
		&cli.StringSliceFlag{Name: "metric", Usage: "`METRIC` to show instead of the main ones; may be repeated"},
		&cli.StringFlag{Name: "baseline", Usage: "`LEVEL` of the columns that the others are compared with"},
	}
}

func formatNames() (names []string) {
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func printReports(c *cli.Context) error {
	options, err := reportOptions(c)
	if err != nil {
		return err
	}
	runs, err := findRuns(c.String("results"), c.Args().Slice())
	if err != nil {
		return err
	}
	model, err := buildReport(runs, options)
	if err != nil {
		return err
	}
	return errors.Join(writeModel(c, model), partial(model))
}

// writeModel prints a report as the flags of output say.
func writeModel(c *cli.Context, m *report.Model) error {
	file, format := c.String("output"), c.String("format")
	if file == "" {
		return report.Write(c.App.Writer, format, m, styleOf(c.App.Writer))
	}
	f, err := os.Create(file)
	if err != nil {
		return &lab.InputError{Err: fmt.Errorf("write report: %w", err)}
	}
	return errors.Join(report.Write(f, format, m, report.Style{}), f.Close())
}

// partial is the error of a report that leaves files out: it is printed whole and ends as damaged, or as incomplete where all
// that is left out are attempts that did not end.
func partial(m *report.Model) error {
	switch {
	case !m.Partial():
		return nil
	case m.Unended == len(m.Problems):
		return fmt.Errorf("%w: %s left no result; platter status tells whether the run goes on, platter run --resume goes on with one that does not", errIncomplete, count(m.Unended, "attempt"))
	}
	return fmt.Errorf("%w: the report leaves out %s", errIntegrity, count(len(m.Problems), "file"))
}

// reportOptions reads the flags of output and of view.
func reportOptions(c *cli.Context) (report.Options, error) {
	if !slices.Contains(formatNames(), c.String("format")) {
		return report.Options{}, &usageError{fmt.Errorf("--format %q: there are %s", c.String("format"), strings.Join(formatNames(), ", "))}
	}
	return viewOptions(c)
}

func viewOptions(c *cli.Context) (report.Options, error) {
	o := report.Options{Rows: c.StringSlice("row"), Columns: c.StringSlice("col"), Metrics: c.StringSlice("metric"),
		Baseline: c.String("baseline"), Filter: map[string][]string{}}
	for _, f := range c.StringSlice("filter") {
		factor, levels, ok := strings.Cut(f, "=")
		if !ok || factor == "" || levels == "" {
			return o, &usageError{fmt.Errorf("--filter %q: want FACTOR=LEVEL, e.g. storage=xfs", f)}
		}
		o.Filter[factor] = append(o.Filter[factor], strings.Split(levels, ",")...)
	}
	return o, nil
}

func buildReport(runs []*store.Run, o report.Options) (*report.Model, error) {
	var folders []report.Folder
	for _, run := range runs {
		folders = append(folders, run)
	}
	model, err := report.Build(folders, o)
	switch {
	case as[*report.NothingError](err):
		return nil, fmt.Errorf("%w: %w", errIncomplete, err)
	case as[*report.OptionError](err):
		return nil, &usageError{err}
	}
	return model, err
}

// styleOf fits a report to where it is printed.
func styleOf(w io.Writer) report.Style {
	if !isTerminal(w) {
		return report.Style{}
	}
	s := report.Style{Color: os.Getenv("NO_COLOR") == ""}
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.Width = width
		}
	}
	return s
}

// printReport prints a finished run's report, keeps it in the run folder in every format, and says where it lies.
func printReport(c *cli.Context, path string) error {
	run, err := store.Open(path)
	if err != nil {
		return err
	}
	model, err := buildReport([]*store.Run{run}, report.Options{})
	if err != nil {
		return err
	}
	for _, f := range report.Formats() {
		write := func(w io.Writer) error { return report.Write(w, f.Name, model, report.Style{}) }
		if err := run.WriteReport("report"+f.Extension, write); err != nil {
			return &lab.InfraError{What: "keep the report", Err: err}
		}
	}
	if err := report.Write(c.App.Writer, "text", model, styleOf(c.App.Writer)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "\nresults  %s\nreports  %s\n", path, filepath.Join(path, store.ReportDir))
	return err
}
