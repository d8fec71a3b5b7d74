package store

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// RunSchema is the identity of run.json's format.
const RunSchema = "platter.run/1"

// Status is how far a run came, as written in run.json.
type Status string

// The states of a run. A folder that says running may belong to a dead process: ask Meta.State.
const (
	Running     Status = "running"
	Done        Status = "done"
	Interrupted Status = "interrupted"
	Failed      Status = "failed"
)

// The states that only a look at the host reveals.
const (
	Dead      Status = "dead"      // says running, and its process is gone
	Elsewhere Status = "elsewhere" // says running on another host
)

// Meta is run.json: the identity and state of a run.
type Meta struct {
	Schema         string     `json:"schema"`
	ID             string     `json:"id"`
	Study          string     `json:"study"`
	PlanDigest     string     `json:"plan_digest"`
	Status         Status     `json:"status"`
	Reason         string     `json:"reason,omitempty"`
	StartedAt      time.Time  `json:"started_at"`
	EndedAt        *time.Time `json:"ended_at"`
	PlatterVersion string     `json:"platter_version"`
	Command        []string   `json:"command,omitempty"`
	PID            int        `json:"pid"`
	PIDStartTicks  int64      `json:"pid_start_ticks,omitempty"` // tells a reused pid
	BootID         string     `json:"boot_id"`
	Hostname       string     `json:"hostname,omitempty"`
}

// stampProcess records the process that writes the folder.
func (m *Meta) stampProcess() {
	m.PID = os.Getpid()
	m.PIDStartTicks = startTicks(m.PID)
	m.BootID = bootID()
	m.Hostname, _ = os.Hostname() // a label; empty where the host has no name
}

// State returns the run's status as it is now: a folder left behind by a killed process is Dead, one that another host
// writes to is Elsewhere.
func (m Meta) State() Status {
	if m.Status != Running {
		return m.Status
	}
	host, _ := os.Hostname()
	switch {
	case m.BootID == bootID():
		if ticks := startTicks(m.PID); ticks != 0 && ticks == m.PIDStartTicks {
			return Running
		}
		return Dead
	case m.Hostname != "" && m.Hostname != host:
		return Elsewhere
	default:
		return Dead // this host has been started again since
	}
}

// unended says why a run that is not done has no end.
func (m Meta) unended() error {
	state, reason := m.State(), m.Reason
	if reason == "" {
		reason = map[Status]string{
			Running: fmt.Sprintf("process %d still carries it out", m.PID), Elsewhere: "host " + m.Hostname + " carries it out",
			Dead: "its process was killed before it could end the run",
		}[state]
	}
	if reason == "" {
		reason = "run.json gives no reason"
	}
	return fmt.Errorf("the run is %s: %s", state, reason)
}

// bootID is the kernel's identity of this boot, empty where there is none.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// startTicks is field 22 of /proc/<pid>/stat, or 0 when there is no such process.
func startTicks(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The command in field 2 may hold blanks and parentheses: count from its last ')'.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const startTimeAfterCommand = 22 - 3
	if len(fields) <= startTimeAfterCommand {
		return 0
	}
	ticks, err := strconv.ParseInt(fields[startTimeAfterCommand], 10, 64)
	if err != nil {
		return 0
	}
	return ticks
}
