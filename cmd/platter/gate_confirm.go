package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results/report"
	"platter/results/store"
)

// confirm measures the cells in doubt again, those of both runs in the same rounds, into a run folder of its own, and
// returns the comparison of the fresh trials.
func confirm(c *cli.Context, runs []*store.Run, m *report.Model, options report.Options) (*report.Model, error) {
	sides := make([]lab.Side, len(runs))
	for i, run := range runs {
		plan, err := planOf(run)
		if err != nil {
			return nil, err
		}
		sides[i] = lab.Side{Name: run.ID(), Plan: plan}
	}
	suspects := m.SuspectLevels()
	chosen := func(levels map[string]string) bool {
		for factor, wanted := range options.Filter { // a factor that the filter leaves one level is no part of a place
			if factor != report.RunFactor && !slices.Contains(wanted, levels[factor]) {
				return false
			}
		}
		return slices.ContainsFunc(suspects, func(s map[string]string) bool { return within(s, levels) })
	}
	if err := repeatable(sides, m, chosen); err != nil {
		return nil, err
	}
	plan, err := lab.Confirm(sides[0], sides[1], report.RunFactor, chosen, c.Int("rounds"), freshSeed())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInconclusive, err)
	}
	fresh, err := measureAgain(c, runs, plan)
	if err != nil {
		return nil, err
	}
	options.Baseline = runs[0].ID()
	return buildReport([]*store.Run{fresh}, options)
}

// within reports whether a cell has all the levels of a place.
func within(place, cell map[string]string) bool {
	for factor, level := range place {
		if cell[factor] != level {
			return false
		}
	}
	return true
}

// repeatable refuses what fresh trials on this host could not tell apart: what differs between the two runs must lie in
// their plans. The same plan under one environment may be repeated: then it is asked whether there is a difference.
func repeatable(sides []lab.Side, m *report.Model, chosen func(map[string]string) bool) error {
	images := map[string]int{}
	for i, side := range sides {
		for _, t := range side.Plan.Trials {
			if chosen(t.Factors) {
				for _, name := range append([]string{t.Root, t.Server}, t.Addons...) {
					images[name] |= 1 << i
				}
			}
		}
	}
	same := !slices.ContainsFunc(slices.Collect(maps.Values(images)), func(in int) bool { return in != 3 })
	for _, d := range m.Differing() {
		if d.Name == report.EnvironmentFingerprint || d.Name == report.SoftwareFingerprint && same {
			return fmt.Errorf("%w: the suspects cannot be confirmed here: the %s differs between the runs, and what lies outside of their plans cannot be measured again (platter explain says what it is); make it a level of one study instead", errInconclusive, d.Name)
		}
	}
	return nil
}

// freshSeed makes each confirmation an order and data of its own; the plan keeps it.
func freshSeed() uint64 {
	const exactInJSON = 1<<53 - 1
	return uint64(time.Now().UnixNano()) & exactInJSON
}

// measureAgain carries a confirmation's plan out.
func measureAgain(c *cli.Context, runs []*store.Run, plan lab.Plan) (*store.Run, error) {
	b, err := setUp(c, plan)
	if err != nil {
		return nil, err
	}
	defer b.host.Close()
	files, err := studyFilesOf(runs)
	if err != nil {
		return nil, err
	}
	run, err := newRun(c, plan, nil, files, b.info)
	if err != nil {
		return nil, err
	}
	show := newProgress(c, plan, 0)
	show.start(run)
	if _, err := measure(c, plan, run, b, show); err != nil {
		return nil, err
	}
	return store.Open(run.Path())
}

// studyFilesOf are the studies of the runs, each under its side's name.
func studyFilesOf(runs []*store.Run) (map[string][]byte, error) {
	files := map[string][]byte{}
	var errs []error
	for i, run := range runs {
		paths, err := filepath.Glob(filepath.Join(run.Path(), store.StudyDir, "*"))
		errs = append(errs, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			errs = append(errs, err)
			files[[]string{"base-", "new-"}[i]+filepath.Base(path)] = data
		}
	}
	return files, errors.Join(errs...)
}
