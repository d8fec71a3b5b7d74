package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process identifies a process by its id and start time, so that a reused id is not mistaken for it.
type process struct {
	pid   int
	start string // field 22 of /proc/<pid>/stat, clock ticks after boot
}

// writePid records this process in dir/agent.pid.
func writePid(dir string) error {
	p := process{pid: os.Getpid(), start: startTicks(os.Getpid())}
	name := filepath.Join(dir, PidFile)
	if err := os.WriteFile(name+".new", fmt.Appendf(nil, "%d %s\n", p.pid, p.start), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", PidFile, err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write %s: %w", PidFile, err)
	}
	return nil
}

// readPid reads dir/agent.pid; the error wraps os.ErrNotExist when no agent started there.
func readPid(dir string) (process, error) {
	b, err := os.ReadFile(filepath.Join(dir, PidFile))
	if err != nil {
		return process{}, fmt.Errorf("find the agent: %w", err)
	}
	f := strings.Fields(string(b))
	if len(f) != 2 {
		return process{}, errors.New("find the agent: agent.pid is damaged")
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil || pid <= 0 {
		return process{}, errors.New("find the agent: agent.pid is damaged")
	}
	return process{pid: pid, start: f[1]}, nil
}

// alive says whether the process still runs; a zombie does not.
func (p process) alive() bool { return p.start != "" && startTicks(p.pid) == p.start }

// startTicks returns the start time of a running process, "" when there is none.
func startTicks(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in brackets, may hold spaces and brackets itself.
	_, rest, ok := strings.Cut(string(b[max(0, strings.LastIndexByte(string(b), ')')):]), " ")
	f := strings.Fields(rest)
	if !ok || len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	return f[19]
}
