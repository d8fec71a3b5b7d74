// Command platter-guest is the half of platter that runs inside a test machine; guest/agent does the work.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"platter/guest"
	"platter/guest/agent"
)

const usage = "usage: platter-guest version [--json] | run --job FILE --dir DIR [--detach] | follow --dir DIR [--offset N] | stop --dir DIR"

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() { <-signals; cancel(agent.ErrStopped) }()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "platter-guest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	asJSON, detach := flags.Bool("json", false, "as JSON"), flags.Bool("detach", false, "return once the job runs")
	job, dir, offset := flags.String("job", "", "job file"), flags.String("dir", "", "agent's directory"), flags.Int64("offset", 0, "first byte")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch {
	case args[0] == "version" && *asJSON:
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"build": guest.Build(), "protocol": guest.Protocol, "arch": runtime.GOARCH})
	case args[0] == "version":
		fmt.Println("platter-guest", guest.Build(), "protocol", guest.Protocol, runtime.GOARCH)
		return nil
	case args[0] == "run" && *detach:
		return agent.Detach(ctx, *job, *dir)
	case args[0] == "run":
		return agent.Run(ctx, *job, *dir, os.Stderr)
	case args[0] == "follow":
		return agent.Follow(ctx, *dir, *offset, os.Stdout)
	case args[0] == "stop":
		return agent.Stop(ctx, *dir)
	}
	return errors.New(usage)
}
