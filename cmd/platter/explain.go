package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"platter/results"
	"platter/results/report"
	"platter/results/store"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what differs between two runs, and only then their numbers",
		ArgsUsage: "BASE RUN",
		Description: "A difference that nobody declared is the first thing to look at when numbers moved.\n" +
			"Numbers are shown even where compare would refuse them, with a note.",
		Flags:        append([]cli.Flag{resultsFlag()}, viewFlags()...),
		Action:       explainRuns,
		BashComplete: completeRuns,
	}
}

func explainRuns(c *cli.Context) error {
	options, err := viewOptions(c)
	if err != nil {
		return err
	}
	options.Anyway = true
	sideBySide(&options)
	runs, err := severalRuns(c, 2, 2, "two runs, the base first")
	if err != nil {
		return err
	}
	model, err := buildReport(runs, options)
	if err != nil {
		return err
	}
	var facts [2]map[string]string
	for i, run := range runs {
		if facts[i], err = factsIn(run, options.Filter); err != nil {
			return err
		}
	}
	printDifferences(c.App.Writer, runs, model, facts[0], facts[1])
	return errors.Join(report.Write(c.App.Writer, "text", model, styleOf(c.App.Writer)), partial(model))
}

// factsIn is what the trials of one run recorded, by name; several values of a name are joined.
func factsIn(run *store.Run, filter map[string][]string) (map[string]string, error) {
	filter = maps.Clone(filter)
	delete(filter, report.RunFactor)
	m, err := buildReport([]*store.Run{run}, report.Options{Filter: filter})
	if err != nil {
		return nil, err
	}
	facts := map[string]string{}
	for _, f := range m.Held {
		facts[f.Name] = f.Value
	}
	for _, d := range m.Differs {
		var values []string
		for _, v := range d.Values {
			values = append(values, v.Value)
		}
		slices.Sort(values)
		facts[d.Name] = strings.Join(values, " and ")
	}
	return facts, nil
}

// printDifferences lists what was not the same in the two runs: plans and states, then what their trials recorded, then
// what nobody declared to vary within the runs, then how quiet the host was.
func printDifferences(w io.Writer, runs []*store.Run, m *report.Model, base, other map[string]string) {
	var lines []string
	listed := map[string]bool{}
	add := func(name, a, b string) {
		if a != b {
			lines, listed[name] = append(lines, fmt.Sprintf("%s: %s | %s", name, cmp.Or(a, "none"), cmp.Or(b, "none"))), true
		}
	}
	a, b := runs[0].Meta(), runs[1].Meta()
	add("study", a.Study, b.Study)
	add("plan", short(a.PlanDigest), short(b.PlanDigest))
	if len(m.Runs) == len(runs) {
		add("seed", fmt.Sprint(m.Runs[0].Seed), fmt.Sprint(m.Runs[1].Seed))
		add("rounds", fmt.Sprint(m.Runs[0].Rounds), fmt.Sprint(m.Runs[1].Rounds))
	}
	add("state", string(a.State()), string(b.State()))
	names := maps.Clone(base)
	maps.Copy(names, other)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		add(name, base[name], other[name])
	}
	for _, d := range m.Differing() {
		if !listed[d.Name] {
			lines = append(lines, fmt.Sprintf("%s: the same values in both, and not the same in all their trials", d.Name))
		}
	}
	lines = append(lines, noiseLines(m.NoiseOf(runs[0].ID(), runs[1].ID()))...)
	if len(lines) == 0 {
		lines = []string{"nothing that platter looks at"}
	}
	fmt.Fprintf(w, "What differs between %s and %s\n", runs[0].ID(), runs[1].ID())
	for _, line := range lines {
		fmt.Fprintln(w, "  "+printable(line))
	}
	fmt.Fprintln(w)
}

// noiseLines says which probes of the laboratory moved between two runs.
func noiseLines(probes []report.Noise) (lines []string) {
	for _, n := range probes {
		if !n.Changed() {
			continue
		}
		a, b := *n.Sides[0].Median, *n.Sides[1].Median
		scale := results.ScaleOf(n.Metric.Unit, a, b)
		lines = append(lines, fmt.Sprintf("the host, by the noise probe's %s: %s | %s (%s)", n.Metric.Name, scale.Format(a), scale.Format(b), results.FormatChange(b/a)))
	}
	return lines
}
