package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"platter/guest/server"
)

// profileMemory is the machine that the list shows options for; some follow from the memory.
const profileMemory = 2 << 30

// listProfiles prints the named configurations a study may lay its options over.
func listProfiles(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no arguments"); err != nil {
		return err
	}
	t := plainTable(c.App.Writer)
	t.AppendHeader(table.Row{"PROFILE", "OPTIONS", "WHAT FOR"})
	for _, p := range server.Profiles {
		options, err := server.ProfileOptions(p.Name, profileMemory)
		if err != nil {
			return err
		}
		var set []string
		for _, name := range slices.Sorted(maps.Keys(options)) {
			set = append(set, name+"="+options[name])
		}
		t.AppendRow(table.Row{p.Name, strings.Join(set, " "), p.Doc})
	}
	t.Render()
	fmt.Fprintln(c.App.Writer, "\nfor a machine of 2GiB; each server gets an option by the name it has there")
	return nil
}
