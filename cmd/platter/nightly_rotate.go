package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results/archive"
	"platter/results/report"
	"platter/results/stats"
	"platter/results/store"
)

// archiveDir is where packed runs of nights lie.
func archiveDir(c *cli.Context) string {
	if dir := c.String("archive"); dir != "" {
		return dir
	}
	return filepath.Join(c.String("results"), "packed")
}

func packedPath(c *cli.Context, run *store.Run) string {
	return filepath.Join(archiveDir(c), run.ID()+archive.Suffix)
}

// packNight packs tonight's run, unless that was done before.
func packNight(c *cli.Context, run *store.Run) error {
	if _, err := checkIntegrity([]*store.Run{run}); err != nil {
		return nil // judging says so
	}
	if err := os.MkdirAll(archiveDir(c), 0o755); err != nil {
		return &lab.InfraError{What: "pack", Err: err}
	}
	if _, err := os.Lstat(packedPath(c, run)); err == nil {
		return nil
	}
	return packInto(c, packedPath(c, run), []*store.Run{run})
}

// rotate removes run folders of tonight's study beyond --keep, each only when its packed file is proven to hold it, and
// packed files older than --keep-packed. Baselines and runs that go on stay.
func rotate(c *cli.Context, tonight *store.Run, known baselines) error {
	runs, _, err := store.List(c.String("results"))
	if err != nil {
		return &lab.InfraError{What: "rotate", Err: err}
	}
	var errs []error
	kept := 0
	for _, run := range runs { // newest first
		if run.Meta().Study != tonight.Meta().Study {
			continue
		}
		kept++
		if keep := c.Int("keep"); keep <= 0 || kept <= keep || run.ID() == tonight.ID() || known.holds(run.ID()) || run.Meta().State() == store.Running {
			continue
		}
		if err := removePacked(c, run); err != nil {
			errs = append(errs, fmt.Errorf("%s stays: %w", run.ID(), err))
		}
	}
	errs = append(errs, removeOldPacked(c, tonight, known))
	if err := errors.Join(errs...); err != nil {
		return &lab.InfraError{What: "rotate", Err: err}
	}
	return nil
}

// removePacked removes a run folder whose packed file is sound and the same.
func removePacked(c *cli.Context, run *store.Run) error {
	same, err := archive.Holds(packedPath(c, run), run, archive.DefaultLimits())
	if err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("%s does not hold it as it is", packedPath(c, run))
	}
	if err := os.RemoveAll(run.Path()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "rotated: %s is in %s\n", run.ID(), packedPath(c, run))
	return err
}

// removeOldPacked removes packed runs of the study that are over their age, by the time in their names.
func removeOldPacked(c *cli.Context, tonight *store.Run, known baselines) error {
	age := c.Duration("keep-packed")
	if age <= 0 {
		return nil
	}
	entries, err := os.ReadDir(archiveDir(c))
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		id, packed := strings.CutSuffix(entry.Name(), archive.Suffix)
		started, study, ok := store.SplitRunID(id)
		if !packed || !ok || study != store.StudyName(tonight.Meta().Study) || known.holds(id) || id == tonight.ID() || time.Since(started) < age {
			continue
		}
		errs = append(errs, os.Remove(filepath.Join(archiveDir(c), entry.Name())))
	}
	return errors.Join(errs...)
}

// trendNights is how many nights a trend looks back on.
const trendNights = 30

// trendsOf says which main numbers have moved in one direction over the nights of the same plan: advice, since neither
// host nor images need have stayed the same.
func trendsOf(dir string, tonight *store.Run) []string {
	runs, _, err := store.List(dir)
	if err != nil {
		return nil
	}
	values := map[string][]float64{}
	var order []string
	nights := 0
	for _, run := range runs { // newest first
		if meta := run.Meta(); meta.PlanDigest != tonight.Meta().PlanDigest || meta.StartedAt.After(tonight.Meta().StartedAt) || nights == trendNights {
			continue
		}
		model, err := buildReport([]*store.Run{run}, report.Options{})
		if err != nil {
			continue
		}
		nights++
		for _, table := range model.Tables {
			if !table.Headline {
				continue
			}
			for _, row := range table.Rows {
				for _, entry := range row.Entries {
					if m := entry.Summary.Median; m != nil {
						key := strings.Join(strings.Fields(table.Key+" "+row.Row+" "+entry.Column), " ")
						if values[key] == nil {
							order = append(order, key)
						}
						values[key] = append([]float64{*m}, values[key]...)
					}
				}
			}
		}
	}
	var lines []string
	for _, key := range order {
		if t, ok := stats.TrendOf(values[key]); ok && t.P < 0.01 {
			lines = append(lines, fmt.Sprintf("%s has moved by %+.1f%% a night over %d nights (p = %.2g)", printable(key), 100*t.SlopeRatio, t.N, t.P))
		}
	}
	return lines
}

// copyReport copies a report of a run to a place where CI finds it, whole or not at all.
func copyReport(run *store.Run, name, to string) error {
	data, err := os.ReadFile(filepath.Join(run.Path(), store.ReportDir, name))
	if err != nil {
		return err
	}
	return renameio.WriteFile(to, data, 0o644)
}
