package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrUnavailable says that the host does not show something that is only nice
// to have.
var ErrUnavailable = errors.New("not available on this host")

// pidFile is where libvirt's QEMU driver writes a domain's process id.
func (h *Host) pidFile(name string) string {
	if h.addr.mode == SystemMode {
		return h.env.root + "/run/libvirt/qemu/" + name + ".pid"
	}
	// The socket that serves us lies in the directory that counts.
	return filepath.Join(filepath.Dir(h.socket()), "qemu", "run", name+".pid")
}

// logFile is where libvirt's QEMU driver writes a domain's log.
func (h *Host) logFile(name string) string {
	if h.addr.mode == SystemMode {
		return h.env.root + "/var/log/libvirt/qemu/" + name + ".log"
	}
	return filepath.Join(h.env.xdg("XDG_CACHE_HOME", ".cache"), "libvirt/qemu/log", name+".log")
}

func (h *Host) socket() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.control == nil {
		return ""
	}
	return h.control.socket
}

// findProcess remembers QEMU's process, so that its end can be awaited.
func (m *Machine) findProcess() error {
	text, err := os.ReadFile(m.host.pidFile(m.spec.Name))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	start, err := processStart(pid)
	if err != nil {
		return err
	}
	m.pid, m.pidStart = pid, start
	return nil
}

// exited tells whether QEMU's process is gone, as far as that can be seen.
func (m *Machine) exited() bool {
	if m.pid == 0 {
		return true
	}
	start, err := processStart(m.pid)
	return err != nil || start != m.pidStart
}

// killProcess ends QEMU without libvirt, which may hang; it reports whether it could. The start time proves that the
// number is still QEMU's.
func (m *Machine) killProcess() bool {
	return m.pid != 0 && !m.exited() && syscall.Kill(m.pid, syscall.SIGKILL) == nil
}

func (m *Machine) awaitExit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, destroyLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !m.exited() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("QEMU's process %d is still there: %w", m.pid, ctx.Err())
		}
	}
	return nil
}

// QEMUCommandLine is QEMU's argument vector. The error is ErrUnavailable where
// the host hides it.
func (m *Machine) QEMUCommandLine(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.exited() {
		return nil, fmt.Errorf("read QEMU's command line of machine %s: %w", m.spec.Name, ErrUnavailable)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", m.pid))
	if err != nil || len(text) == 0 {
		return nil, fmt.Errorf("read QEMU's command line of machine %s: %w: %w", m.spec.Name, ErrUnavailable, err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// QEMULog is the end of what QEMU and libvirt logged about the machine, at most
// maxBytes; empty when the log cannot be read. Destroy removes the log.
func (m *Machine) QEMULog(maxBytes int64) []byte {
	text, err := tail([]string{m.host.logFile(m.spec.Name)}, maxBytes)
	if err != nil {
		return nil
	}
	return text
}

// removeLog keeps a study of a thousand machines from leaving as many logs,
// which libvirt never removes. Not being allowed to is no fault.
func (m *Machine) removeLog() {
	if err := os.Remove(m.host.logFile(m.spec.Name)); err != nil && !os.IsNotExist(err) {
		m.host.log.Debug("could not remove QEMU's log", "machine", m.spec.Name, "err", err)
	}
}
