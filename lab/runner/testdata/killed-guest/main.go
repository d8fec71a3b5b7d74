// Command killed-guest is platter-guest, but for one thing: its agent is killed in the middle of the job, as the kernel or
// an operator may do.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"platter/guest"
	"platter/guest/agent"
)

func main() {
	flags := flag.NewFlagSet("", flag.ExitOnError)
	detach := flags.Bool("detach", false, "")
	job, dir, offset := flags.String("job", "", ""), flags.String("dir", "", ""), flags.Int64("offset", 0, "")
	flags.Parse(os.Args[2:])
	ctx := context.Background()
	var err error
	switch os.Args[1] {
	case "version":
		fmt.Println("platter-guest", guest.Build())
	case "run":
		if *detach {
			err = agent.Detach(ctx, *job, *dir)
			break
		}
		time.AfterFunc(5*time.Second, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		err = agent.Run(ctx, *job, *dir, os.Stderr)
	case "follow":
		err = agent.Follow(ctx, *dir, *offset, os.Stdout)
	case "stop":
		err = agent.Stop(ctx, *dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
