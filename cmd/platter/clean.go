package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/hypervisor"
)

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:  "clean",
		Usage: "remove what dead runs left behind: machines, volumes, leases of disks and temporary files that carry platter's tag",
		Description: "Runs that are alive are left alone, and so is everything without platter's tag. A run of another container, where\n" +
			"it cannot be seen whether it lives, is left alone until its tag expires: 7 days after its last trial began.\n" +
			"Results and images are never touched; see platter images prune for those. Mounts and sockets are not looked for:\n" +
			"platter mounts nothing on the host, and the sockets of its machines are libvirt's and go with them.",
		Flags: append(hostFlags(),
			&cli.BoolFlag{Name: "dry-run", Usage: "only list"},
			&cli.BoolFlag{Name: "all", Usage: "also what belongs to runs that are alive, and staged copies of images"},
			&cli.BoolFlag{Name: "expired", Usage: "also what belongs to runs that are alive but have begun no trial for 7 days: they hang"},
			&cli.StringFlag{Name: "run", Usage: "only what carries the tag of `RUN`"},
			&cli.DurationFlag{Name: "older-than", Usage: "only what was created longer ago than this, for hosts of CI"},
			resultsFlag(), claimsFlag()),
		Action: clean,
	}
}

// orphan is one thing that a dead run left, whoever knows how to remove it.
type orphan struct {
	kind, name, reason string
	sizeBytes          int64
	run                string    // "" for what belongs to no run
	since              time.Time // when it was made, as far as that is known
	remove             func(context.Context) error
}

// removeLimit bounds the removal of one thing, so that one that hangs keeps none of the others.
const removeLimit = 2 * time.Minute

func clean(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no argument"); err != nil {
		return err
	}
	host, err := openHost(c.Context, c)
	if err != nil {
		err = fmt.Errorf("machines and volumes were not looked for: %w", err)
	} else {
		defer host.Close()
	}
	found, listErr := orphans(c, host)
	err = errors.Join(err, listErr)
	errs := []error{err}
	listed, removed := 0, 0
	for _, o := range found {
		if !wanted(c, o) {
			continue
		}
		listed++
		fmt.Fprintf(c.App.Writer, "%-7s %s  %s  (%s)\n", o.kind, printable(o.name), sizeOrEmpty(o.sizeBytes), printable(o.reason))
		if c.Bool("dry-run") {
			continue
		}
		if err := removeOrphan(c.Context, o); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	switch {
	case c.Bool("dry-run"):
	case listed == 0 && err == nil:
		fmt.Fprintln(c.App.Writer, "nothing is left behind")
	case listed > 0:
		fmt.Fprintf(c.App.Writer, "removed %d\n", removed)
	}
	if err := errors.Join(errs...); err != nil {
		return &lab.InfraError{What: "clean", Err: err}
	}
	return nil
}

func removeOrphan(ctx context.Context, o orphan) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	if err := o.remove(ctx); err != nil {
		return fmt.Errorf("%s %s stays: %w", o.kind, o.name, err)
	}
	return nil
}

// orphans lists everything that may be removed, before --run and --older-than. What was found is returned also with an
// error: a daemon that does not answer keeps nobody from removing the rest.
// host is nil when none could be opened.
func orphans(c *cli.Context, host *hypervisor.Host) ([]orphan, error) {
	var found []orphan
	var err error
	if host != nil {
		var left []hypervisor.Leftover
		if left, err = host.Leftovers(c.Context, scopeOf(c)); err != nil {
			err = fmt.Errorf("list what is left: %w", err)
		}
		for _, l := range left {
			found = append(found, orphan{kind: string(l.Kind), name: l.Name, reason: l.Reason, sizeBytes: l.SizeBytes, run: l.Tag.Run, since: l.Since,
				remove: func(ctx context.Context) error { return host.Remove(ctx, l) }})
		}
	}
	leases, leaseErr := deadLeases(c, host) // after the machines that have the disks
	return slices.Concat(found, leases, abandoned(c)), errors.Join(err, leaseErr)
}

func scopeOf(c *cli.Context) hypervisor.Scope {
	switch {
	case c.Bool("all"):
		return hypervisor.Everything
	case c.Bool("expired"):
		return hypervisor.Expired
	}
	return hypervisor.DeadOwners
}

// wanted applies --run and --older-than. Temporary files belong to no run, and are listed only once nobody can be
// working on them.
func wanted(c *cli.Context, o orphan) bool {
	if run := c.String("run"); run != "" && o.run != run {
		return false
	}
	age := c.Duration("older-than")
	return age <= 0 || o.since.IsZero() || time.Since(o.since) >= age
}

func sizeOrEmpty(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return lab.FormatSize(bytes)
}
