package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/hypervisor"
)

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:  "clean",
		Usage: "remove what dead runs left behind: machines, volumes and temporary files that carry platter's tag",
		Description: "Runs that are alive are left alone, and so is everything without platter's tag.\n" +
			"Results and images are never touched; see platter images prune for those.",
		Flags: append(hostFlags(),
			&cli.BoolFlag{Name: "dry-run", Usage: "only list"},
			&cli.BoolFlag{Name: "all", Usage: "also what belongs to runs that are alive"},
			&cli.StringFlag{Name: "run", Usage: "only what carries the tag of `RUN`"},
			&cli.DurationFlag{Name: "older-than", Usage: "only what was created longer ago than this, for hosts of CI"}),
		Action: clean,
	}
}

func clean(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no argument"); err != nil {
		return err
	}
	host, err := openHost(c.Context, c)
	if err != nil {
		return err
	}
	defer host.Close()
	scope := hypervisor.DeadOwners
	if c.Bool("all") {
		scope = hypervisor.Everything
	}
	left, err := host.Leftovers(c.Context, scope)
	if err != nil {
		return &lab.InfraError{What: "list what is left", Err: err}
	}
	var errs []error
	found, removed := 0, 0
	for _, l := range left {
		if !wanted(c, l) {
			continue
		}
		found++
		fmt.Fprintf(c.App.Writer, "%-7s %s  %s  (%s)\n", l.Kind, l.Name, sizeOrEmpty(l.SizeBytes), l.Reason)
		if c.Bool("dry-run") {
			continue
		}
		if err := host.Remove(c.Context, l); err != nil {
			errs = append(errs, fmt.Errorf("remove %s %s: %w", l.Kind, l.Name, err))
			continue
		}
		removed++
	}
	switch {
	case c.Bool("dry-run"):
	case found == 0:
		fmt.Fprintln(c.App.Writer, "nothing is left behind")
	default:
		fmt.Fprintf(c.App.Writer, "removed %d\n", removed)
	}
	if len(errs) > 0 {
		return &lab.InfraError{What: "clean", Err: errors.Join(errs...)}
	}
	return nil
}

// wanted applies --run and --older-than. Temporary files have no tag: they belong to no run, and are listed only once
// nobody can be working on them.
func wanted(c *cli.Context, l hypervisor.Leftover) bool {
	if run := c.String("run"); run != "" && l.Tag.Run != run {
		return false
	}
	age := c.Duration("older-than")
	return age <= 0 || l.Tag.Created.IsZero() || time.Since(l.Tag.Created) >= age
}

func sizeOrEmpty(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return lab.FormatSize(bytes)
}
