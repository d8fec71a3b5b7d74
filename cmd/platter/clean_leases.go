package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"platter/lab/blockdev"
	"platter/lab/hypervisor"
	"platter/results/archive"
)

// vfioDriver has the PCI functions that a run took from the host's own driver.
const vfioDriver = "vfio-pci"

// leaseDir is where the leases lie; tests have a directory of their own.
var leaseDir = blockdev.LeaseDir()

// deadLeases are the leases of real disks whose owners died. Removing one gives the disk's controller back to the host's
// driver, if the owner had taken it. host is nil when none could be opened.
func deadLeases(c *cli.Context, host *hypervisor.Host) ([]orphan, error) {
	leases, err := blockdev.DeadLeases(leaseDir)
	if err != nil {
		err = fmt.Errorf("list the leases of disks: %w", err)
	}
	var found []orphan
	for _, l := range leases {
		address, whyNot := takenController(c, l.Serial)
		reason := fmt.Sprintf("%s has ended", l.Owner)
		if address != "" {
			reason += ", and its disk's controller " + address + " is still with " + vfioDriver
		}
		giveBack := func(ctx context.Context) error {
			switch {
			case whyNot != nil:
				return whyNot
			case address == "":
				return nil
			case host == nil:
				return errors.New("its controller can be given back only with the hypervisor's help")
			}
			return host.Reattach(ctx, address)
		}
		found = append(found, orphan{kind: "lease", name: "of disk " + l.Serial, reason: reason, run: l.Owner.Run, since: l.Since,
			remove: func(ctx context.Context) error {
				return blockdev.FreeDeadLease(leaseDir, l, func() error { return giveBack(ctx) })
			}})
	}
	return found, err
}

// takenController is the PCI address of a claimed disk's controller if it is bound to vfio-pci although the claim allows
// runs to take it from its driver; "" for any other disk.
func takenController(c *cli.Context, serial string) (string, error) {
	claims, err := loadClaims(c)
	if err != nil {
		return "", fmt.Errorf("the claims say whether its controller was taken: %w", err)
	}
	for _, claim := range claims.Claims {
		address := claim.Passport.PCIAddress
		if claim.Passport.Serial == serial && address != "" && claim.Allows(blockdev.Detach) && blockdev.Local().Driver(address) == vfioDriver {
			return address, nil
		}
	}
	return "", nil
}

// abandoned are directories in which somebody unpacked, imported or verified a packed run, and was killed.
func abandoned(c *cli.Context) []orphan {
	var found []orphan
	for _, dir := range []string{os.TempDir(), c.String("results")} {
		for _, path := range archive.Abandoned(dir) {
			o := orphan{kind: "temp", name: filepath.Base(path), reason: "a packed run was being read in " + dir,
				remove: func(context.Context) error { return archive.RemoveAbandoned(path) }}
			if info, err := os.Lstat(path); err == nil {
				o.since = info.ModTime()
			}
			found = append(found, o)
		}
	}
	return found
}
