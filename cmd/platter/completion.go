package main

import (
	"embed"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"platter/lab/studies"
)

//go:embed completion/platter.bash completion/platter.zsh
var completionScripts embed.FS

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:         "completion",
		Usage:        "print a completion script: platter completion bash > /etc/bash_completion.d/platter",
		ArgsUsage:    "bash|zsh|fish",
		Action:       completion,
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, "bash\nzsh\nfish") },
	}
}

func completion(c *cli.Context) error {
	if err := arguments(c, 1, 1, "one of bash, zsh, fish"); err != nil {
		return err
	}
	switch shell := c.Args().First(); shell {
	case "bash", "zsh":
		script, err := completionScripts.ReadFile("completion/platter." + shell)
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(script)
		return err
	case "fish":
		script, err := c.App.ToFishCompletion()
		if err != nil {
			return fmt.Errorf("write fish completion: %w", err)
		}
		_, err = io.WriteString(c.App.Writer, script)
		return err
	default:
		return &usageError{fmt.Errorf("completion: unknown shell %q, there are bash, zsh, fish", shell)}
	}
}

// completeStudies offers the shipped studies and their scales.
func completeStudies(c *cli.Context) {
	for _, name := range studies.Names() {
		fmt.Fprintln(c.App.Writer, name)
		if s, _, err := studies.Parse(name, nil); err == nil {
			for _, scale := range s.Scales() {
				fmt.Fprintf(c.App.Writer, "%s@%s\n", name, scale)
			}
		}
	}
}
