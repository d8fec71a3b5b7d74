package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// idleSeconds after its last client and machine a daemon we started ends
// itself; it is what libvirt's own client library uses.
const idleSeconds = "120"

// startLimit is how long a started daemon may take to answer.
const startLimit = 30 * time.Second

var errRefused error = syscall.ECONNREFUSED

// daemonPlan says which daemon may be started for an address and how.
type daemonPlan struct {
	daemon string // path of the binary, empty when not installed
	logd   string // virtlogd to start before, empty when the daemon does so itself
	dir    string // directory of sockets, lock and log
	env    []string
	setup  func() error

	logStart int64 // where in the log the last started daemon begins
}

// hasInit tells whether systemd runs the host and with it its daemons.
func (env environment) hasInit() bool {
	_, err := os.Stat(env.root + "/run/systemd/system")
	return err == nil
}

// daemonPlan is nil when it is not for us to start a daemon: it was forbidden,
// the socket was chosen by hand, an init system does it, or we may not.
func (env environment) daemonPlan(a address) *daemonPlan {
	if env.getenv("LIBVIRT_AUTOSTART") == "0" || a.socket != "" {
		return nil
	}
	if a.mode == SessionMode {
		return env.sessionPlan()
	}
	if env.uid != 0 || env.hasInit() {
		return nil
	}
	dir := env.root + "/run/libvirt"
	return &daemonPlan{
		daemon: env.findDaemon("libvirtd", "virtqemud"), logd: env.findDaemon("virtlogd"), dir: dir, env: env.daemonEnv(),
		setup: func() error {
			// Neither exists before the first start on a host without init.
			return errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(env.root+"/var/log/libvirt/qemu", 0o755))
		},
	}
}

// sessionPlan starts the user's daemon in the runtime directory that is tried
// first.
func (env environment) sessionPlan() *daemonPlan {
	runtime := env.runtimeDirs()[0]
	return &daemonPlan{
		daemon: env.findDaemon("virtqemud", "libvirtd"),
		dir:    filepath.Join(runtime, "libvirt"),
		env:    append(env.daemonEnv(), "XDG_RUNTIME_DIR="+runtime),
		setup: func() error {
			return errors.Join(makePrivate(runtime), makePrivate(filepath.Join(runtime, "libvirt")))
		},
	}
}

// daemonEnv is our environment with the directories of system binaries, which
// a user's PATH often lacks and the daemon needs to find QEMU and virtlogd.
func (env environment) daemonEnv() []string {
	path := env.getenv("PATH")
	for _, dir := range []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		if !strings.Contains(":"+path+":", ":"+dir+":") {
			path = strings.TrimPrefix(path+":"+dir, ":")
		}
	}
	return append(os.Environ(), "PATH="+path)
}

// findDaemon looks for the first of the names where daemons lie.
func (env environment) findDaemon(names ...string) string {
	dirs := append(filepath.SplitList(env.getenv("PATH")), "/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin")
	for _, name := range names {
		for _, dir := range dirs {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}

// startDaemon starts the daemon of the plan once, however many processes find
// it missing at the same time, and waits until it answers.
func (h *Host) startDaemon(ctx context.Context, plan *daemonPlan) error {
	if plan.daemon == "" {
		return errors.New("neither libvirtd nor virtqemud is installed")
	}
	if err := plan.setup(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	lock := flock.New(filepath.Join(plan.dir, "platter-start.lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another start of %s (lock %s): %w", filepath.Base(plan.daemon), lock.Path(), err)
	}
	defer lock.Unlock()
	if c, err := h.dial(ctx); err == nil { // someone else was faster
		c.close()
		return nil
	}
	if plan.logd != "" {
		if err := h.ensureLogd(ctx, plan); err != nil {
			return err
		}
	}
	exited, err := plan.run(plan.daemon, "--timeout="+idleSeconds)
	if err != nil {
		return err
	}
	h.log.Info("started libvirt's daemon", "daemon", plan.daemon, "idle_timeout_seconds", idleSeconds, "log", plan.log())
	return h.awaitDaemon(ctx, plan, exited)
}

// awaitDaemon waits until the daemon answers or has ended.
func (h *Host) awaitDaemon(ctx context.Context, plan *daemonPlan, exited <-chan error) error {
	for attempt := 0; ; attempt++ {
		c, err := h.dial(ctx)
		if err == nil {
			c.close()
			return nil
		}
		if errorCode(err) != 0 { // it answers, and does not want to serve us
			return err
		}
		select {
		case end := <-exited:
			return fmt.Errorf("%s ended at once (%v): %s", plan.daemon, end, plan.logTail())
		default:
		}
		if !backOff(ctx, attempt) {
			return fmt.Errorf("%s does not answer: %w: %s", plan.daemon, ctx.Err(), plan.logTail())
		}
	}
}

func (p *daemonPlan) log() string { return filepath.Join(p.dir, "platter-daemon.log") }

// run starts a daemon in a process session of its own, so that Ctrl-C in our
// terminal does not end it, and reports its end.
func (p *daemonPlan) run(binary string, args ...string) (<-chan error, error) {
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", binary, err)
	}
	defer log.Close()
	if p.logStart, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", binary, err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = p.env, "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return exited, nil
}

// logTail is the end of what the daemon logged since its start, on one line.
func (p *daemonPlan) logTail() string {
	f, err := os.Open(p.log())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if _, err := f.Seek(p.logStart, io.SeekStart); err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return oneLine(string(text[max(len(text)-600, 0):]))
}

// ensureLogging starts virtlogd again where it is ours to start: it ends when
// idle for a while, also when libvirtd goes on.
func (h *Host) ensureLogging(ctx context.Context) error {
	if plan := h.env.daemonPlan(h.addr); plan != nil && plan.logd != "" {
		return h.ensureLogd(ctx, plan)
	}
	return nil
}

// ensureLogd starts virtlogd, which keeps consoles and logs of machines. The
// system daemon does not start it where no init system does.
func (h *Host) ensureLogd(ctx context.Context, plan *daemonPlan) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	socket := filepath.Join(plan.dir, "virtlogd-sock")
	if c, err := dialSocket(ctx, socket, 0); err == nil {
		return c.Close()
	}
	exited, err := plan.run(plan.logd, "--timeout="+idleSeconds)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		c, err := dialSocket(ctx, socket, 0)
		if err == nil {
			return c.Close()
		}
		select {
		case end := <-exited:
			return fmt.Errorf("%s ended at once (%v): %s", plan.logd, end, plan.logTail())
		default:
		}
		if !backOff(ctx, attempt) {
			return fmt.Errorf("%s does not listen on %s: %w: %s", plan.logd, socket, ctx.Err(), plan.logTail())
		}
	}
}
