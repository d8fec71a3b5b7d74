package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"platter/lab"
	"platter/lab/planner"
)

// printPlan writes a plan for people: what is asked, what is made, in which order, and what it takes.
func printPlan(w io.Writer, r resolved, h planner.Host, hostNote string) {
	p := r.plan
	title := p.Study
	if p.Scale != "" {
		title += "@" + p.Scale
	}
	fmt.Fprintf(w, "%s: %s\n\n", title, p.Question)
	printMachine(w, p, h)
	printDisks(w, p)
	r.real.printDestroyed(w, p)
	printCells(w, p)
	printOrder(w, p)
	printCosts(w, p, h)
	notes := append(append(slices.Clone(p.Notes), replayNotes(p)...), planner.Notes(p, h)...)
	if hostNote != "" {
		notes = append(notes, hostNote)
	}
	fmt.Fprintln(w, "\nnotes")
	for _, n := range notes {
		fmt.Fprintf(w, "  - %s\n", n)
	}
	fmt.Fprintf(w, "\nplan %s, seed %d; nothing was changed\n", short(p.Digest), p.Seed)
}

// replayNotes says how a replay differs from what it replays.
func replayNotes(p lab.Plan) (notes []string) {
	for _, s := range p.Successors {
		notes = append(notes, fmt.Sprintf("%s runs in place of %s: %s", s.Now, s.Was, s.Reason))
	}
	for _, line := range p.Era {
		notes = append(notes, "today: "+line)
	}
	return notes
}

func printMachine(w io.Writer, p lab.Plan, h planner.Host) {
	m := p.Trials[0].Machine
	accel := m.Accel
	if h.Arch != "" {
		accel = planner.Accel(p, h)
	}
	fmt.Fprintf(w, "machine  %d CPUs, %s, accel %s; a fresh one for every trial\n", m.CPUs, lab.FormatSize(m.MemoryBytes), accel)
	fmt.Fprintf(w, "images   %s\n", strings.Join(p.Images, ", "))
}

func printDisks(w io.Writer, p lab.Plan) {
	fmt.Fprintln(w, "\ndisks")
	t := plainTable(w)
	t.AppendHeader(table.Row{"  NAME", "SIZE", "BUS", "CACHE", "IO", "FORMAT", "PREALLOCATION", "SERIAL", "OTHER"})
	seen := map[string]bool{}
	for _, trial := range cells(p) {
		for _, d := range trial.Disks {
			if !seen[d.Name] {
				seen[d.Name] = true
				t.AppendRow(table.Row{"  " + d.Name, lab.FormatSize(d.SizeBytes), d.Bus, d.Cache, d.IO, d.Format, d.Preallocation, d.Serial, diskRest(d)})
			}
		}
	}
	t.Render()
}

func diskRest(d lab.Disk) string {
	var rest []string
	if d.Emulated != "" {
		rest = append(rest, "emulated "+d.Emulated)
	}
	if d.Limits != (lab.Limits{}) {
		rest = append(rest, "rate limits")
	}
	if d.ReadDelaySeconds > 0 || d.WriteDelaySeconds > 0 {
		rest = append(rest, fmt.Sprintf("delay %gms/%gms", d.ReadDelaySeconds*1e3, d.WriteDelaySeconds*1e3))
	}
	if d.LogicalBlockBytes > 0 {
		rest = append(rest, fmt.Sprintf("%d-byte blocks", d.LogicalBlockBytes))
	}
	return strings.Join(rest, ", ")
}

// cells are the first trials of each cell, in the study's order, which their ids begin with.
func cells(p lab.Plan) []lab.Trial {
	seen := map[string]bool{}
	var out []lab.Trial
	for _, t := range p.Trials {
		if id := cellOf(t); !seen[id] {
			seen[id] = true
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b lab.Trial) int { return strings.Compare(cellOf(a), cellOf(b)) })
	return out
}

func cellOf(t lab.Trial) string { id, _, _ := strings.Cut(t.ID, "/"); return id }

func printCells(w io.Writer, p lab.Plan) {
	all := cells(p)
	fmt.Fprintf(w, "\n%s, each with the commands that make its storage\n", count(len(all), "cell"))
	for _, t := range all {
		var levels []string
		for _, f := range p.Factors {
			levels = append(levels, f.Name+"="+t.Factors[f.Name])
		}
		control := ""
		if t.Control {
			control = ", the A/A control"
		}
		fmt.Fprintf(w, "  %s  %s%s\n", cellOf(t), strings.Join(levels, " "), control)
		for _, c := range t.Commands {
			fmt.Fprintf(w, "      $ %s\n", strings.Join(c, " "))
		}
		var steps []string
		for _, s := range t.Job.Steps {
			step := s.Name
			if s.Workload != "" {
				step += " (" + s.Workload + ")"
			}
			steps = append(steps, step)
		}
		fmt.Fprintf(w, "      then %s, then %s\n", t.Server, strings.Join(steps, ", "))
	}
}

func printOrder(w io.Writer, p lab.Plan) {
	fmt.Fprintf(w, "\n%s in %s, in this order\n", count(len(p.Trials), "trial"), count(p.Rounds, "round"))
	t := plainTable(w)
	t.AppendHeader(table.Row{"  #", "ROUND", "TRIAL"})
	for _, trial := range p.Trials {
		t.AppendRow(table.Row{fmt.Sprintf("  %d", trial.Index+1), trial.Round, trial.Name})
	}
	t.Render()
}

func printCosts(w io.Writer, p lab.Plan, h planner.Host) {
	fmt.Fprintf(w, "\nspace    %s of disks while a trial runs", lab.FormatSize(p.DiskBytes))
	if h.StorageDir != "" {
		fmt.Fprintf(w, " in %s", h.StorageDir)
	}
	fmt.Fprintf(w, ", %s of memory\n", lab.FormatSize(p.MemoryBytes))
	fmt.Fprintln(w, "time    ", expected(p, h))
}

// expected says how long the plan takes, from what the study says of one trial.
func expected(p lab.Plan, h planner.Host) string {
	one := func(accel string) string {
		d := time.Duration(p.TrialSeconds[accel] * float64(time.Second))
		return fmt.Sprintf("about %s (%s a trial, accel %s)", (d * time.Duration(len(p.Trials))).Round(time.Second), d, accel)
	}
	if h.Arch != "" && p.TrialSeconds[planner.Accel(p, h)] > 0 {
		return one(planner.Accel(p, h)) + ", image builds apart"
	}
	var known []string
	for _, accel := range []string{"kvm", "tcg"} {
		if p.TrialSeconds[accel] > 0 {
			known = append(known, one(accel))
		}
	}
	if len(known) == 0 {
		return "unknown until the first trial has ended; the study states none (trial_time)"
	}
	return strings.Join(known, " or ") + ", image builds apart"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// short is a digest as people compare it.
func short(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 12)]
}
