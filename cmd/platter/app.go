package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"platter/lab"
)

// streams are what a command reads and writes; tests bring their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// newApp assembles the command line. It exits nowhere: Run returns every error, and main maps it.
func newApp(s streams) *cli.App {
	app := &cli.App{
		Name:        "platter",
		Usage:       "what does this disk, this filesystem and this configuration do to MySQL?",
		Version:     lab.Version(),
		Reader:      s.in,
		Writer:      s.out,
		ErrWriter:   s.err,
		HideVersion: true, // the command version says more
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "log-level", Value: "warn", Usage: "what to log on standard error: debug, info, warn or error"},
		},
		Before:   setLogger,
		Commands: commands(),
		Action:   noCommand,
		// Flags of lists keep commas: mount options and apt options hold them.
		DisableSliceFlagSeparator: true,
		EnableBashCompletion:      true,
		ExitErrHandler:            func(*cli.Context, error) {},
	}
	app.CustomAppHelpTemplate = cli.AppHelpTemplate + "\nEXIT STATUS:\n" + exitTable()
	return app
}

func commands() []*cli.Command {
	return []*cli.Command{
		doctorCommand(), studiesCommand(), planCommand(), runCommand(), statusCommand(), reportCommand(), compareCommand(),
		explainCommand(), gateCommand(), claimsCommand(), verifyCommand(), packCommand(), unpackCommand(), importCommand(), nightlyCommand(), imagesCommand(), disksCommand(), cleanCommand(),
		versionCommand(), completionCommand(),
	}
}

// run carries out a command line: args without the program's name.
func run(ctx context.Context, args []string, s streams) error {
	app := newApp(s)
	args = flagsFirst(app, args)
	explain := func(c *cli.Context, err error, _ bool) error { return badFlag(c, args, err) }
	app.OnUsageError = explain
	for _, c := range app.Commands {
		setUsageError(c, explain)
	}
	return app.RunContext(ctx, append([]string{app.Name}, args...))
}

func setUsageError(c *cli.Command, f cli.OnUsageErrorFunc) {
	c.OnUsageError = f
	for _, sub := range c.Subcommands {
		setUsageError(sub, f)
	}
}

// setLogger gives commands their logger through the context.
func setLogger(c *cli.Context) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return &usageError{fmt.Errorf("--log-level %q: want debug, info, warn or error", c.String("log-level"))}
	}
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: level}))
	c.Context = context.WithValue(c.Context, loggerKey{}, log)
	return nil
}

type loggerKey struct{}

// logger is the command's logger.
func logger(c *cli.Context) *slog.Logger {
	if log, ok := c.Context.Value(loggerKey{}).(*slog.Logger); ok {
		return log
	}
	return slog.New(slog.DiscardHandler)
}

// noCommand is what happens without a known command: help, or the nearest command's name.
func noCommand(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowAppHelp(c)
	}
	return unknownCommand(c.Args().First(), c.App.Commands)
}

// noSubcommand is noCommand for a command that only groups others.
func noSubcommand(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowSubcommandHelp(c)
	}
	return unknownCommand(c.Args().First(), c.Command.Subcommands)
}

func unknownCommand(word string, commands []*cli.Command) error {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	if near := lab.Nearest(word, names); near != "" {
		return &usageError{fmt.Errorf("unknown command %q, did you mean %q?", word, near)}
	}
	return &usageError{fmt.Errorf("unknown command %q, there are %s", word, strings.Join(names, ", "))}
}

// arguments checks the number of arguments; what names them in the message.
func arguments(c *cli.Context, low, high int, what string) error {
	n := c.NArg()
	switch {
	case n < low:
		return &usageError{fmt.Errorf("%s: needs %s; see platter %s --help", c.Command.FullName(), what, c.Command.FullName())}
	case n > 0 && strings.HasPrefix(c.Args().Get(n-1), "-"):
		return &usageError{fmt.Errorf("%s: %s needs a value", c.Command.FullName(), c.Args().Get(n-1))}
	case high >= 0 && n > high:
		return &usageError{fmt.Errorf("%s: unexpected argument %q; it takes %s", c.Command.FullName(), c.Args().Get(high), what)}
	}
	return nil
}
