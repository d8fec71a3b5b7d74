package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/lab/studies"
	"platter/results/published"
)

func studiesCommand() *cli.Command {
	return &cli.Command{
		Name:   "studies",
		Usage:  "the studies platter ships, and the language they are written in",
		Action: noSubcommand,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the shipped studies", Action: listStudies},
			{Name: "show", Usage: "print a study as it is written", ArgsUsage: "STUDY", Action: showStudy, BashComplete: completeStudies},
			{Name: "profiles", Usage: "list the named server configurations, with their options", Action: listProfiles},
			{Name: "schema", Usage: "print the JSON Schema of the study language, for editors", Action: printSchema},
		},
	}
}

func listStudies(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no arguments"); err != nil {
		return err
	}
	t := plainTable(c.App.Writer)
	t.AppendHeader(table.Row{"STUDY", "SCALES", "REPLAYS", "QUESTION"})
	for _, name := range studies.Names() {
		s, _, err := studies.Parse(name, nil)
		if err != nil {
			return err
		}
		replays := "-"
		if printed, ok := published.Lookup(name); ok {
			replays = printed.Source
		}
		t.AppendRow(table.Row{name, strings.Join(s.Scales(), " "), replays, s.Question})
	}
	t.Render()
	return nil
}

func showStudy(c *cli.Context) error {
	if err := arguments(c, 1, 1, "a study"); err != nil {
		return err
	}
	src, err := studies.Open(c.Args().First())
	if err != nil {
		return err
	}
	_, err = c.App.Writer.Write(src.Data)
	return err
}

func printSchema(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no arguments"); err != nil {
		return err
	}
	text, err := lab.Schema()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.App.Writer, string(text))
	return err
}
