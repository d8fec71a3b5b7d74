package hypervisor

import (
	"bytes"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// tagLifetime is how long a run may go without beginning a trial before its
// things count as forgotten, however alive its process looks.
const tagLifetime = 7 * 24 * time.Hour

// NewTag is the tag of a run that this process owns. The trial is filled in by
// the caller where there is one.
func NewTag(run string) (domain.Tag, error) {
	boot, err := bootID()
	if err != nil {
		return domain.Tag{}, err
	}
	start, err := processStart(os.Getpid())
	if err != nil {
		return domain.Tag{}, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	return domain.Tag{
		OwnerUID: os.Getuid(), OwnerName: userName(), Run: run,
		BootID: boot, PID: os.Getpid(), PIDStart: start, PIDNamespace: pidNamespace(),
		Created: now, Expires: now.Add(tagLifetime),
	}, nil
}

// RenewTag puts off a tag's expiry: its run begins another trial.
func RenewTag(t domain.Tag) domain.Tag {
	t.Expires = time.Now().UTC().Truncate(time.Second).Add(tagLifetime)
	return t
}

// ownTag completes a caller's tag with this process as its owner.
func ownTag(t domain.Tag) (domain.Tag, error) {
	if t.PID != 0 {
		return t, nil
	}
	own, err := NewTag(t.Run)
	if err != nil {
		return t, err
	}
	own.Trial = t.Trial
	if !t.Expires.IsZero() {
		own.Expires = t.Expires
	}
	return own, nil
}

// ownerState is what can be seen of the process that a tag names.
type ownerState int

const (
	ownerEnded ownerState = iota
	ownerRuns
	ownerUnseen // it lives, or lived, in another container on this host
)

func stateOf(t domain.Tag) ownerState {
	boot, err := bootID()
	if err != nil || boot != t.BootID {
		return ownerEnded
	}
	if own := pidNamespace(); t.PIDNamespace != 0 && own != 0 && t.PIDNamespace != own {
		return ownerUnseen
	}
	if start, err := processStart(t.PID); err != nil || start != t.PIDStart {
		return ownerEnded
	}
	return ownerRuns
}

// expired tells whether a tag's time has passed.
func expired(t domain.Tag, now time.Time) bool {
	return !t.Expires.IsZero() && now.After(t.Expires)
}

// pidNamespace is the inode of this process's PID namespace, 0 where the
// kernel does not show it.
func pidNamespace() uint64 {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return 0
	}
	return st.Ino
}

// bootID changes with every boot, so that pids of an earlier one do not count.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// processStart is field 22 of /proc/PID/stat: when the process started, in
// clock ticks since boot. A zombie counts as ended.
func processStart(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("look at process %d: %w", pid, err)
	}
	// The name in field 2 may hold spaces and parentheses; it ends at the last.
	rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(rest) < 20 {
		return 0, fmt.Errorf("look at process %d: stat has %d fields", pid, len(rest)+2)
	}
	if rest[0] == "Z" || rest[0] == "X" {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return strconv.ParseInt(rest[19], 10, 64)
}

// userName is the caller's login, or the number where there is no such entry.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
