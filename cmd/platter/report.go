package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
		Flags: []cli.Flag{
			resultsFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: strings.Join(formatNames(), ", ")},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` instead of standard output"},
			&cli.StringSliceFlag{Name: "row", Usage: "`FACTOR` that makes rows; may be repeated"},
			&cli.StringSliceFlag{Name: "col", Usage: "`FACTOR` that makes columns; may be repeated"},
			&cli.StringSliceFlag{Name: "filter", Usage: "keep `FACTOR=LEVEL[,LEVEL]` only; may be repeated"},
			&cli.StringSliceFlag{Name: "metric", Usage: "`METRIC` to show instead of the main ones; may be repeated"},
			&cli.StringFlag{Name: "baseline", Usage: "`LEVEL` of the columns that the others are compared with"},
		},
		Action:       printReports,
		BashComplete: completeRuns,
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
	folders, err := findRuns(c.String("results"), c.Args().Slice())
	if err != nil {
		return err
	}
	w, done := c.App.Writer, func() error { return nil }
	if file := c.String("output"); file != "" {
		f, err := os.Create(file)
		if err != nil {
			return &lab.InputError{Err: fmt.Errorf("write report: %w", err)}
		}
		w, done = f, f.Close
	}
	err = writeReport(w, folders, options, c.String("format"))
	return errors.Join(err, done())
}

func reportOptions(c *cli.Context) (report.Options, error) {
	o := report.Options{Rows: c.StringSlice("row"), Columns: c.StringSlice("col"), Metrics: c.StringSlice("metric"),
		Baseline: c.String("baseline"), Filter: map[string][]string{}}
	known := false
	for _, name := range formatNames() {
		known = known || name == c.String("format")
	}
	if !known {
		return o, &usageError{fmt.Errorf("--format %q: there are %s", c.String("format"), strings.Join(formatNames(), ", "))}
	}
	for _, f := range c.StringSlice("filter") {
		factor, levels, ok := strings.Cut(f, "=")
		if !ok || factor == "" || levels == "" {
			return o, &usageError{fmt.Errorf("--filter %q: want FACTOR=LEVEL, e.g. storage=xfs", f)}
		}
		o.Filter[factor] = append(o.Filter[factor], strings.Split(levels, ",")...)
	}
	return o, nil
}

// findRuns opens the runs that were named, or else the newest below dir.
func findRuns(dir string, names []string) ([]report.Folder, error) {
	if len(names) == 0 {
		runs, _, err := store.List(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(runs) == 0 {
			return nil, &lab.InputError{Err: fmt.Errorf("no run in %s yet; platter run STUDY makes one", dir)}
		}
		if err != nil {
			return nil, &lab.InputError{Err: err}
		}
		return []report.Folder{runs[0]}, nil
	}
	var folders []report.Folder
	var errs []error
	for _, name := range names {
		path := name
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(name, filepath.Separator) {
			path = filepath.Join(dir, name)
		}
		run, err := store.Open(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		folders = append(folders, run)
	}
	return folders, errors.Join(errs...)
}

// writeReport builds a report and prints it. A report with files left out is printed whole and ends as damaged.
func writeReport(w io.Writer, folders []report.Folder, o report.Options, format string) error {
	model, err := buildReport(folders, o)
	if err != nil {
		return err
	}
	if err := report.Write(w, format, model, styleOf(w)); err != nil {
		return err
	}
	if model.Partial() {
		return fmt.Errorf("%w: the report leaves out %s", errIntegrity, count(len(model.Problems), "file"))
	}
	return nil
}

func buildReport(folders []report.Folder, o report.Options) (*report.Model, error) {
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
	model, err := buildReport([]report.Folder{run}, report.Options{})
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

// completeRuns offers the runs below the results directory.
func completeRuns(c *cli.Context) {
	runs, _, err := store.List(c.String("results"))
	if err != nil {
		return
	}
	for _, r := range runs {
		fmt.Fprintln(c.App.Writer, r.ID())
	}
}
