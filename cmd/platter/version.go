package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"platter/guest"
	"platter/lab"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the build identity that host and guest must share",
		Action: func(c *cli.Context) error {
			if err := arguments(c, 0, 0, "no arguments"); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.App.Writer, "platter %s (protocol %d, %s)\n", lab.Version(), guest.Protocol, lab.Toolchain())
			return err
		},
	}
}
