package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/blockdev"
	"platter/lab/hypervisor"
	"platter/lab/runner"
)

// passthroughFlags are those of a run on real disks.
func passthroughFlags() []cli.Flag {
	return []cli.Flag{
		claimsFlag(),
		&cli.StringFlag{Name: "plan", Usage: "carry out only the plan with this `DIGEST`, which platter plan printed"},
		&cli.DurationFlag{Name: "wait-for-disks", Usage: "wait so `LONG` for a claimed disk that another platter has"},
		&cli.BoolFlag{Name: "full-inventory", Usage: "keep serials of real disks in results as they are, instead of hashes"},
	}
}

// modeOf is the libvirt mode that the flags choose, without asking a daemon.
func modeOf(c *cli.Context) hypervisor.Mode {
	uri := c.String("connect")
	if uri == "" {
		uri = os.Getenv("LIBVIRT_DEFAULT_URI")
	}
	if strings.HasSuffix(uri, "/session") || uri == "" && os.Geteuid() != 0 {
		return hypervisor.SessionMode
	}
	return hypervisor.SystemMode
}

// samePlan refuses a plan other than the one that was looked at.
func samePlan(c *cli.Context, p lab.Plan) error {
	want := c.String("plan")
	if want == "" || want == p.Digest || len(want) >= 12 && want == short(p.Digest)[:min(len(want), len(short(p.Digest)))] {
		return nil
	}
	return &lab.InputError{Err: fmt.Errorf("--plan %s: the plan is %s now: the study, the platter or a claimed disk is not what it was; look at it with platter plan", want, p.Digest)}
}

// checkRealDisks makes sure, before anything is made, that every real disk of a plan is there, is the one that was
// claimed, and is free.
func checkRealDisks(c *cli.Context, p lab.Plan, mode hypervisor.Mode) error {
	destroyed := p.Destroys()
	if len(destroyed) == 0 {
		return nil
	}
	claims, err := loadClaims(c)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range destroyed {
		claim, err := claims.Find(d.Passport.Serial, time.Now())
		if err == nil {
			if differs := d.Passport.Differences(claim.Passport); len(differs) > 0 {
				err = fmt.Errorf("the plan was made for another disk than is claimed now: %v", differs)
			}
		}
		if err == nil {
			err = checkRealDisk(c, p, d, claim, mode)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("disks.%s: %w", d.Name, err))
		}
	}
	if len(errs) > 0 {
		return &lab.InputError{Err: errors.Join(errs...)}
	}
	return nil
}

func checkRealDisk(c *cli.Context, p lab.Plan, d lab.Disk, claim blockdev.Claim, mode hypervisor.Mode) error {
	found, err := blockdev.Keeper{}.Find(claim)
	if c.Duration("wait-for-disks") > 0 && blockdev.Passes(err) {
		err = nil // the run waits for it
	}
	if err != nil || d.Attach == lab.AttachBlock || d.Attach == lab.AttachLUN {
		return err
	}
	if !claim.Allows(blockdev.Detach) {
		return fmt.Errorf("attach: %s takes the disk from the host's driver, which its claim does not allow; claim it again with --use %s", d.Attach, blockdev.Detach)
	}
	if mode == hypervisor.SessionMode {
		return fmt.Errorf("attach: %s needs qemu:///system (run as root): a session cannot take a device from its driver; or use attach: block", d.Attach)
	}
	if d.Attach == lab.AttachUSB {
		return nil
	}
	host := blockdev.Local()
	inv, err := blockdev.Read(host)
	if err != nil {
		return err
	}
	var given []string
	for _, other := range p.Destroys() {
		given = append(given, other.Passport.Serial)
	}
	if reasons := inv.Controller(host, found, given); len(reasons) > 0 {
		return &blockdev.RefusedError{Serial: found.Passport.Serial, Reasons: reasons}
	}
	return nil
}

// passthrough is what the runner needs for the plan's real disks, nil when there are none.
func passthrough(c *cli.Context, p lab.Plan, host *hypervisor.Host) (*runner.Passthrough, error) {
	if len(p.Destroys()) == 0 {
		return nil, nil
	}
	claims, err := loadClaims(c)
	if err != nil {
		return nil, err
	}
	owner, err := blockdev.NewOwner()
	if err != nil {
		return nil, err
	}
	return &runner.Passthrough{
		Claims: func(serial string) (blockdev.Claim, error) { return claims.Find(serial, time.Now()) },
		Owner:  owner, Wait: c.Duration("wait-for-disks"), Full: c.Bool("full-inventory"), Devices: host,
	}, nil
}
