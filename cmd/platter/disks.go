package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/blockdev"
)

// claimsFlag names the claims file; every command that looks at claims has it.
func claimsFlag() cli.Flag {
	return &cli.StringFlag{Name: "claims", EnvVars: []string{"PLATTER_CLAIMS"}, Usage: "`FILE` of the disks that were given up; default: platter/claims.json in the user's configuration"}
}

func disksCommand() *cli.Command {
	return &cli.Command{
		Name:      "disks",
		Usage:     "list the disks of this host and whether a machine may have them; claim and release them",
		ArgsUsage: " ",
		Description: "Lists every disk with its identity and a verdict. A disk that anything uses is refused, with the reason.\n" +
			"A free disk is handed to a machine only after `platter disks claim`. Nothing is changed by listing.",
		Flags:       []cli.Flag{claimsFlag(), &cli.BoolFlag{Name: "json", Usage: "print passports, stacks, signatures and reasons as JSON"}},
		Action:      listDisks,
		Subcommands: []*cli.Command{disksClaimCommand(), disksReleaseCommand()},
	}
}

// loadClaims opens the claims file that the flags choose.
func loadClaims(c *cli.Context) (blockdev.Claims, error) {
	path := c.String("claims")
	if path == "" {
		var err error
		if path, err = blockdev.ClaimsPath(); err != nil {
			return blockdev.Claims{}, err
		}
	}
	claims, err := blockdev.LoadClaims(path)
	if err != nil {
		return claims, &lab.InputError{Err: err}
	}
	return claims, nil
}

// listedDisk is a disk as the list shows it.
type listedDisk struct {
	blockdev.Disk
	Verdict string          `json:"verdict"`
	Claim   *blockdev.Claim `json:"claim"`
}

func listDisks(c *cli.Context) error {
	if c.NArg() > 0 {
		return noSubcommand(c)
	}
	claims, err := loadClaims(c)
	if err != nil {
		return err
	}
	inv, err := blockdev.Read(blockdev.Local())
	if err != nil {
		return &lab.InfraError{What: "list the disks of this host", Err: err}
	}
	list := make([]listedDisk, 0, len(inv.Disks))
	for _, d := range inv.Disks {
		shown := listedDisk{Disk: d, Verdict: d.Verdict()}
		for _, claim := range claims.Claims {
			if d.Passport.Serial == claim.Passport.Serial {
				shown.Claim = &claim
			}
		}
		list = append(list, shown)
	}
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"schema": "platter.disks/1", "disks": list})
	}
	printDiskList(c.App.Writer, list)
	return nil
}

func printDiskList(w io.Writer, list []listedDisk) {
	if len(list) == 0 {
		fmt.Fprintln(w, "this host shows no disks")
		return
	}
	t := plainTable(w)
	t.AppendHeader(table.Row{"DISK", "SIZE", "BLOCKS", "BUS", "KIND", "MODEL", "SERIAL", "CLAIM", "VERDICT"})
	for _, d := range list {
		p := d.Passport
		t.AppendRow(table.Row{d.Node, lab.FormatSize(p.SizeBytes), fmt.Sprintf("%d/%d", p.LogicalBlockBytes, p.PhysicalBlockBytes), dash(p.Transport), turning(p), dash(p.Model),
			dash(p.Serial), claimWord(d.Claim), d.Verdict})
	}
	t.Render()
}

func dash(s string) string {
	if s = strings.TrimSpace(printable(s)); s != "" {
		return s
	}
	return "-"
}

func turning(p blockdev.Passport) string {
	switch {
	case p.Rotational == nil:
		return "-"
	case *p.Rotational:
		return "hdd"
	}
	return "ssd"
}

func claimWord(c *blockdev.Claim) string {
	switch {
	case c == nil:
		return "-"
	case time.Now().After(c.ExpiresAt):
		return "ended"
	}
	return "until " + c.ExpiresAt.Format(time.DateOnly)
}
