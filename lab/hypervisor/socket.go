package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxSocketPath is what sockaddr_un holds besides its final zero byte.
const maxSocketPath = 107

// socketNames are tried in libvirt's own order: the modular daemon, then the
// monolithic one.
var socketNames = []string{"virtqemud-sock", "libvirt-sock"}

// Attempt is one socket that was tried and why it did not serve.
type Attempt struct {
	Path   string
	Reason string // one of the reason words below, possibly with detail
	Err    error
}

// ConnectError says that no daemon could be reached, with every path tried.
type ConnectError struct {
	URI      string
	Attempts []Attempt
	Start    error // why a daemon could not be started, nil when that was not tried
	Hint     string
}

func (e *ConnectError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "connect to %s: no libvirt daemon serves us", e.URI)
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "; %s: %s", a.Path, a.Reason)
	}
	if e.Start != nil {
		fmt.Fprintf(&b, "; start one: %v", e.Start)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the causes of all attempts.
func (e *ConnectError) Unwrap() []error {
	var errs []error
	for _, a := range e.Attempts {
		errs = append(errs, a.Err)
	}
	if e.Start != nil {
		errs = append(errs, e.Start)
	}
	return errs
}

// sockets lists the paths to try for an address.
func (env environment) sockets(a address) []string {
	if a.socket != "" {
		return []string{a.socket}
	}
	dirs := []string{env.root + "/run/libvirt"}
	if a.mode == SessionMode {
		dirs = nil
		for _, dir := range env.runtimeDirs() {
			dirs = append(dirs, filepath.Join(dir, "libvirt"))
		}
	}
	var paths []string
	for _, dir := range dirs {
		for _, name := range socketNames {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// runtimeDirs are the directories that may hold the user's sockets. Without
// XDG_RUNTIME_DIR, as in a plain su, the login's directory is tried before the
// one GLib falls back to.
func (env environment) runtimeDirs() []string {
	if dir := env.getenv("XDG_RUNTIME_DIR"); dir != "" {
		return []string{dir}
	}
	var dirs []string
	login := fmt.Sprintf("%s/run/user/%d", env.root, env.uid)
	if info, err := os.Stat(login); err == nil && info.IsDir() {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == env.uid {
			dirs = append(dirs, login)
		}
	}
	return append(dirs, env.xdg("XDG_CACHE_HOME", ".cache"))
}

// xdg is a base directory by its variable, else below the home directory.
func (env environment) xdg(name, fallback string) string {
	if dir := env.getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(env.getenv("HOME"), fallback)
}

// dialSocket connects to a Unix socket and makes sure that the process behind
// it runs as the expected user: go-libvirt itself would talk to whoever
// listens, and a privileged daemon would serve even a session URI.
func dialSocket(ctx context.Context, path string, wantUID int) (net.Conn, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path has %d bytes, a Unix socket may have %d; use a shorter XDG_RUNTIME_DIR", len(path), maxSocketPath)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	uid, err := peerUID(c)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("ask who listens: %w", err)
	}
	if uid != wantUID {
		c.Close()
		return nil, fmt.Errorf("%w: the listener runs as user %d, expected %d", errWrongPeer, uid, wantUID)
	}
	return c, nil
}

var errWrongPeer = errors.New("not the right daemon")

func peerUID(c net.Conn) (int, error) {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// reason puts an error of a connection attempt into a word a person can act on.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "missing"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused, the socket is there but nobody listens"
	case errors.Is(err, fs.ErrPermission):
		return "no permission"
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "silent, it accepts connections but does not answer"
	}
	return oneLine(err.Error())
}
