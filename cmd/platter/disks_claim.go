package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/blockdev"
)

// claimDays is how long a claim lasts unless it says otherwise.
const claimDays = 30

func disksClaimCommand() *cli.Command {
	return &cli.Command{
		Name:      "claim",
		Usage:     "give a disk up: platter may destroy everything on it",
		ArgsUsage: "DISK",
		Description: "DISK is a serial, a wwn, or a path that leads to the disk. Shows the disk's passport and all that will be lost,\n" +
			"and asks for the serial to be typed. Only free whole disks can be claimed. A claim names one disk, never a place.",
		Flags: []cli.Flag{claimsFlag(),
			&cli.StringFlag{Name: "serial", Usage: "the disk's `SERIAL`, instead of typing it; for automation"},
			&cli.StringSliceFlag{Name: "use", Usage: "allow more than overwriting: discard (the whole disk, before each trial) or detach; may be repeated"},
			&cli.IntFlag{Name: "days", Value: claimDays, Usage: "`DAYS` after which the claim ends"}},
		Action: claimDisk,
	}
}

func disksReleaseCommand() *cli.Command {
	return &cli.Command{
		Name:      "release",
		Usage:     "end a claim; the disk itself is not touched",
		ArgsUsage: "SERIAL",
		Flags:     []cli.Flag{claimsFlag()},
		Action:    releaseDisk,
	}
}

func claimDisk(c *cli.Context) error {
	if err := arguments(c, 1, 1, "a disk, by serial, wwn or path"); err != nil {
		return err
	}
	uses, err := claimUses(c)
	if err != nil {
		return err
	}
	claims, err := loadClaims(c)
	if err != nil {
		return err
	}
	inv, err := blockdev.Read(blockdev.Local())
	if err != nil {
		return &lab.InfraError{What: "list the disks of this host", Err: err}
	}
	d, err := inv.Resolve(c.Args().First())
	if err != nil {
		return &lab.InputError{Err: err}
	}
	if !d.Free() {
		return &lab.InputError{Err: &blockdev.RefusedError{Serial: dash(d.Passport.Serial), Reasons: d.Refusals}}
	}
	content, err := blockdev.Examine(d)
	if err != nil {
		return &lab.InfraError{What: "look at what lies on the disk", Err: err}
	}
	claim := blockdev.Claim{Passport: d.Passport, Uses: uses, GivesUp: d.Signatures, Content: content,
		ClaimedAt: time.Now().UTC().Truncate(time.Second), By: userName()}
	claim.ExpiresAt = claim.ClaimedAt.AddDate(0, 0, c.Int("days"))
	showLoss(c.App.Writer, d, claim)
	if err := consent(c, d.Passport.Serial); err != nil {
		return &lab.InputError{Err: err}
	}
	claims.Add(claim)
	if err := claims.Save(); err != nil {
		return &lab.InfraError{What: "keep the claim", Err: err}
	}
	fmt.Fprintf(c.App.Writer, "\nclaimed until %s; a study uses it as disks: {NAME: {claim: %s}}, or with --set 'disks.NAME={claim: %[2]s}'\n", claim.ExpiresAt.Format(time.DateOnly), d.Passport.Serial)
	return nil
}

// claimUses are what the claim allows; overwriting always.
func claimUses(c *cli.Context) ([]string, error) {
	uses := []string{blockdev.Overwrite}
	for _, use := range c.StringSlice("use") {
		if !slices.Contains(blockdev.Uses, use) {
			text := fmt.Sprintf("disks claim: --use %q: there are %s", use, strings.Join(blockdev.Uses, ", "))
			if near := lab.Nearest(use, blockdev.Uses); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, &usageError{errors.New(text)}
		}
		if !slices.Contains(uses, use) {
			uses = append(uses, use)
		}
	}
	if c.Int("days") < 1 {
		return nil, &usageError{fmt.Errorf("disks claim: --days %d: want at least 1", c.Int("days"))}
	}
	return uses, nil
}

// showLoss says which disk it is and what will be gone.
func showLoss(w io.Writer, d blockdev.Disk, c blockdev.Claim) {
	p := d.Passport
	fmt.Fprintf(w, "disk      %s\n", d.Node)
	for _, link := range d.Links {
		fmt.Fprintf(w, "          %s\n", link)
	}
	fmt.Fprintf(w, "serial    %s\nmodel     %s %s\n", p.Serial, dash(p.Model), printable(p.Firmware))
	fmt.Fprintf(w, "size      %s (%d bytes), blocks of %d/%d bytes\n", lab.FormatSize(p.SizeBytes), p.SizeBytes, p.LogicalBlockBytes, p.PhysicalBlockBytes)
	fmt.Fprintf(w, "bus       %s, %s\n", dash(p.Transport), turning(p))
	if p.WWN != "" {
		fmt.Fprintf(w, "wwn       %s\n", p.WWN)
	}
	if p.Backing != nil {
		fmt.Fprintf(w, "file      %s\n", p.Backing.Path)
	}
	if p.PCIAddress != "" {
		fmt.Fprintf(w, "pci       %s%s\n", p.PCIAddress, group(p))
	}
	fmt.Fprintln(w, "\nwill be lost, all of it:")
	for _, s := range d.Signatures {
		fmt.Fprintf(w, "  %s\n", printable(s.String()))
	}
	switch {
	case len(d.Signatures) > 0:
	case c.Content.Blank:
		fmt.Fprintln(w, "  nothing of a known kind; its first and last MiB are zeroes")
	default:
		fmt.Fprintln(w, "  data of no known kind (perhaps a database or a disk image without a partition table)")
	}
	fmt.Fprintf(w, "\nallows: %s\n", strings.Join(c.Uses, ", "))
}

func group(p blockdev.Passport) string {
	if p.IOMMUGroup == nil {
		return ", in no IOMMU group"
	}
	return fmt.Sprintf(", IOMMU group %d", *p.IOMMUGroup)
}

// consent asks for the serial, which nobody types by accident.
func consent(c *cli.Context, serial string) error {
	if c.IsSet("serial") {
		if c.String("serial") != serial {
			return fmt.Errorf("nothing was claimed: --serial %q is not the disk's serial %s", c.String("serial"), serial)
		}
		return nil
	}
	fmt.Fprintf(c.App.Writer, "\nto give the disk up, type its serial: ")
	line, err := bufio.NewReader(c.App.Reader).ReadString('\n')
	if strings.TrimSpace(line) != serial {
		if err != nil && line == "" {
			return errors.New("nothing was claimed: no serial was typed; give it with --serial where nobody can type")
		}
		return fmt.Errorf("nothing was claimed: %q is not the disk's serial", strings.TrimSpace(line))
	}
	return nil
}

func releaseDisk(c *cli.Context) error {
	if err := arguments(c, 1, 1, "the serial of a claimed disk"); err != nil {
		return err
	}
	claims, err := loadClaims(c)
	if err != nil {
		return err
	}
	serial := c.Args().First()
	if !claims.Remove(serial) {
		return &lab.InputError{Err: fmt.Errorf("disk %q is not claimed", serial)}
	}
	if err := claims.Save(); err != nil {
		return &lab.InfraError{What: "end the claim", Err: err}
	}
	fmt.Fprintf(c.App.Writer, "the claim of %s has ended; what lies on the disk stays as it is\n", serial)
	return nil
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
