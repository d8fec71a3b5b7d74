// Command faulty-guest is platter-guest, but for one thing: when a step begins whose name is that of a fault, it does to
// its machine what hardware, the kernel or an operator may do. Linked with killAfter it does one thing more: its agent is
// killed that long after its start, whatever it does then.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"platter/guest"
	"platter/guest/agent"
)

// faults by the name of the step in whose middle they come.
var faults = map[string]func(){
	"server-killed":  func() { killAll("mariadbd") },
	"kernel-crashed": func() { os.WriteFile("/proc/sysrq-trigger", []byte("c"), 0) },
	"rebooted":       func() { syscall.Reboot(syscall.LINUX_REBOOT_CMD_RESTART) },
	"sshd-killed":    func() { killAll("sshd") },
	"sshd-gone":      func() { os.Remove("/usr/sbin/sshd"); killAll("sshd") },
	"clock-forward":  func() { step(time.Hour) },
	"clock-back":     func() { step(-time.Hour) },
}

// killAfter is set when the binary is linked; "" lets the agent live.
var killAfter string

// killLater kills the agent as the kernel or an operator may do.
func killLater() {
	if after, err := time.ParseDuration(killAfter); err == nil {
		time.AfterFunc(after, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	}
}

// step moves the wall clock.
func step(d time.Duration) {
	tv := syscall.NsecToTimeval(time.Now().Add(d).UnixNano())
	syscall.Settimeofday(&tv)
}

// killAll kills every process whose name begins so.
func killAll(name string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, path := range paths {
		comm, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && strings.HasPrefix(string(comm), name) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// await does the fault a second after its step began.
func await(dir string) {
	for ; ; time.Sleep(50 * time.Millisecond) {
		told, _ := os.ReadFile(filepath.Join(dir, agent.EventsFile))
		for name, fault := range faults {
			if bytes.Contains(told, []byte(`"name":"`+name+`","state":"started"`)) {
				time.Sleep(time.Second)
				fault()
				return
			}
		}
	}
}

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
		go await(*dir)
		killLater()
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
