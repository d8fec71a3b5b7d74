package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results/archive"
	"platter/results/store"
)

func packCommand() *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "pack runs into one file that lasts: a BagIt bag in tar and zstd",
		ArgsUsage: "[RUN...]",
		Description: "The same runs give the same bytes. Damaged runs and runs that go on are refused; reports are left out, they can be made again.\n" +
			"RUN is a run folder or its name below --results; without one, the newest run there.",
		Flags: []cli.Flag{resultsFlag(),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which must not exist, instead of RUN" + archive.Suffix + " here"}},
		Action:       packRuns,
		BashComplete: completeRuns,
	}
}

func packRuns(c *cli.Context) error {
	runs, err := severalRuns(c, 0, -1, "runs")
	if err != nil {
		return err
	}
	for _, run := range runs {
		if state := run.Meta().State(); state == store.Running || state == store.Elsewhere {
			return &lab.InputError{Err: fmt.Errorf("pack %s: it still runs; wait for its end", run.ID())}
		}
	}
	if _, err := checkIntegrity(runs); err != nil {
		return err
	}
	file := c.String("output")
	if file == "" {
		file = archive.Name(runs)
	}
	return packInto(c, file, runs)
}

// packInto packs runs and says what came out.
func packInto(c *cli.Context, file string, runs []*store.Run) error {
	if _, err := os.Lstat(file); err == nil {
		return &lab.InputError{Err: fmt.Errorf("pack: %s is there already; choose another name with --output", file)}
	}
	if err := archive.Pack(file, runs, archive.DefaultLimits()); err != nil {
		return &lab.InfraError{What: "pack", Err: err}
	}
	info, err := os.Stat(file)
	if err != nil {
		return &lab.InfraError{What: "pack", Err: err}
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s  %s, %s\n", file, count(len(runs), "run"), lab.FormatSize(info.Size()))
	return err
}

func unpackCommand() *cli.Command {
	return &cli.Command{
		Name:      "unpack",
		Usage:     "take the runs out of a packed file, which is not trusted",
		ArgsUsage: "FILE",
		Description: "Every byte, name and digest is proven before the first run appears; nothing is replaced. Links, devices, names that lead\n" +
			"elsewhere, duplicates and bombs are refused, and leave nothing.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "into", Value: ".", Usage: "put the run folders into `DIRECTORY`"}},
		Action: func(c *cli.Context) error {
			if err := arguments(c, 1, 1, "one packed file"); err != nil {
				return err
			}
			return unpackInto(c, c.Args().First(), c.String("into"))
		},
	}
}

func importCommand() *cli.Command {
	return &cli.Command{
		Name:        "import",
		Usage:       "bring runs of another machine, packed or as folders, into --results",
		ArgsUsage:   "FILE|RUN...",
		Description: "Nothing is replaced: a run that is there already and the same counts as done, another one of its name is refused.",
		Flags:       []cli.Flag{resultsFlag()},
		Action:      importRuns,
	}
}

func importRuns(c *cli.Context) error {
	if err := arguments(c, 1, -1, "packed files or run folders"); err != nil {
		return err
	}
	var errs []error
	for _, from := range c.Args().Slice() {
		if isPacked(from) {
			errs = append(errs, unpackInto(c, from, c.String("results")))
		} else {
			errs = append(errs, importFolder(c, from))
		}
	}
	return errors.Join(errs...)
}

func importFolder(c *cli.Context, from string) error {
	run, err := store.Open(from)
	if err != nil {
		return err
	}
	if _, err := checkIntegrity([]*store.Run{run}); err != nil {
		return err
	}
	got, err := archive.Import(run, c.String("results"))
	if err != nil {
		return unpackError(err)
	}
	return tellUnpacked(c, []archive.Unpacked{got})
}

func unpackInto(c *cli.Context, file, dir string) error {
	got, err := archive.Unpack(file, dir, archive.DefaultLimits())
	return errors.Join(tellUnpacked(c, got), unpackError(err))
}

func tellUnpacked(c *cli.Context, runs []archive.Unpacked) error {
	for _, run := range runs {
		text := run.Path
		if run.There {
			text += "  was there already, the same"
		}
		if _, err := fmt.Fprintln(c.App.Writer, printable(text)); err != nil {
			return err
		}
	}
	return nil
}

// unpackError tells a bad file and a name that is taken from means of the host that failed.
func unpackError(err error) error {
	switch {
	case err == nil:
		return nil
	case as[*store.Problem](err):
		return fmt.Errorf("%w: %s", errIntegrity, printable(err.Error()))
	case as[*archive.ExistsError](err), errors.Is(err, os.ErrNotExist):
		return &lab.InputError{Err: err}
	}
	return &lab.InfraError{What: "unpack", Err: err}
}

// isPacked tells a packed file from a run folder.
func isPacked(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
