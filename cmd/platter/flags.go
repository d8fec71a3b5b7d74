package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"platter/lab"
)

// flagsFirst moves the flags of a command before its arguments, and global flags before the command, since the flag package stops at the first argument and
// people write `platter plan STUDY --json`. Everything behind -- stays.
func flagsFirst(app *cli.App, args []string) []string {
	var global, head, flags, rest []string
	known, commands := app.Flags, app.Commands
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return slices.Concat(global, head, flags, args[i:i+1], rest, args[i+1:])
		case a == "--generate-bash-completion":
			rest = append(rest, a) // must stay last
		case len(a) > 1 && a[0] == '-':
			to, of := &flags, known
			if !isFlag(known, a) && isFlag(app.Flags, a) {
				to, of = &global, app.Flags
			}
			value := takesValue(of, a)
			if value && i+1 == len(args) {
				rest = append(rest, a) // without its value; must not take an argument for it
				break
			}
			*to = append(*to, a)
			if value {
				i++
				*to = append(*to, args[i])
			}
		case len(rest) == 0 && find(commands, a) != nil:
			c := find(commands, a)
			head = append(append(head, flags...), a)
			flags, known, commands = nil, c.Flags, c.Subcommands
		default:
			rest = append(rest, a)
		}
	}
	return slices.Concat(global, head, flags, rest)
}

// isFlag tells whether a flag as written is among known.
func isFlag(known []cli.Flag, written string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(written, "-"), "=")
	return slices.Contains(flagNames(known), name)
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// takesValue tells whether a flag as written expects its value in the next argument.
func takesValue(known []cli.Flag, written string) bool {
	name := strings.TrimLeft(written, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range known {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false
}

// badFlag explains a command line that did not parse: it finds the flag that no command on the way knows and names the
// nearest that one does.
func badFlag(c *cli.Context, args []string, err error) error {
	var names []string
	for _, ctx := range c.Lineage() {
		if ctx.Command != nil {
			names = append(names, flagNames(ctx.Command.Flags)...)
		}
	}
	names = append(names, flagNames(c.App.Flags)...)
	for _, a := range args {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || name == "" || slices.Contains(names, name) || slices.Contains([]string{"h", "help"}, name) {
			continue
		}
		if near := lab.Nearest(name, names); near != "" {
			return &usageError{fmt.Errorf("unknown flag %s, did you mean --%s?", a, near)}
		}
		return &usageError{fmt.Errorf("unknown flag %s; see platter %s --help", a, c.Command.FullName())}
	}
	return &usageError{err}
}

func flagNames(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	return names
}
