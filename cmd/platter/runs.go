package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results/store"
)

// findRuns opens the runs that were named, or else the newest below dir.
func findRuns(dir string, names []string) ([]*store.Run, error) {
	if len(names) == 0 {
		runs, _, err := store.List(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(runs) == 0 {
			return nil, &lab.InputError{Err: fmt.Errorf("no run in %s yet; platter run STUDY makes one", dir)}
		}
		if err != nil {
			return nil, &lab.InputError{Err: err}
		}
		return runs[:1], nil
	}
	var runs []*store.Run
	var errs []error
	for _, name := range names {
		run, err := store.Open(runPath(dir, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		runs = append(runs, run)
	}
	return runs, errors.Join(errs...)
}

// runPath is where a run lies that was named by its path or by its name below dir.
func runPath(dir, name string) string {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(name, filepath.Separator) {
		return filepath.Join(dir, name)
	}
	return name
}

// oneRun opens the run that the command's only argument names, or else the newest.
func oneRun(c *cli.Context) (*store.Run, error) {
	if err := arguments(c, 0, 1, "one run, or none for the newest"); err != nil {
		return nil, err
	}
	runs, err := findRuns(c.String("results"), c.Args().Slice())
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}

// severalRuns opens the command's runs, at least low and at most high (-1: any number), which must be different ones.
func severalRuns(c *cli.Context, low, high int, what string) ([]*store.Run, error) {
	if err := arguments(c, low, high, what); err != nil {
		return nil, err
	}
	runs, err := findRuns(c.String("results"), c.Args().Slice())
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, run := range runs {
		if seen[run.ID()] {
			return nil, &usageError{fmt.Errorf("%s: %s was named twice; it wants different runs", c.Command.FullName(), run.ID())}
		}
		seen[run.ID()] = true
	}
	return runs, nil
}

// printable takes out of a text from a run folder or a guest what would steer a terminal, or hide or reorder text on it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
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
