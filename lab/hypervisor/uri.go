package hypervisor

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Mode says which of libvirt's QEMU drivers serves us.
type Mode string

// SystemMode is the host's privileged daemon, SessionMode the calling user's own.
const (
	SystemMode  Mode = "system"
	SessionMode Mode = "session"
)

// RemoteURIError says that a connection URI names another host, which cannot be
// used yet.
type RemoteURIError struct {
	URI  string
	Host string // empty when only the transport is remote
}

func (e *RemoteURIError) Error() string {
	where := "its transport is remote"
	if e.Host != "" {
		where = "it names host " + e.Host
	}
	return fmt.Sprintf("connect to %s: %s, and machines can only run on this host; log in there and run with --connect qemu:///system or qemu:///session", e.URI, where)
}

// address is a parsed connection URI.
type address struct {
	mode   Mode
	socket string // explicit path from ?socket=, else empty
}

// uri is the name the daemon is asked for.
func (a address) uri() string { return "qemu:///" + string(a.mode) }

// chooseURI takes the asked URI, else LIBVIRT_DEFAULT_URI, else the driver that
// fits the user.
func chooseURI(asked string, getenv func(string) string, uid int) string {
	if asked != "" {
		return asked
	}
	if env := getenv("LIBVIRT_DEFAULT_URI"); env != "" {
		return env
	}
	if uid == 0 {
		return "qemu:///system"
	}
	return "qemu:///session"
}

// parseURI accepts local QEMU URIs and refuses everything else by name.
func parseURI(text string, uid int) (address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return address{}, fmt.Errorf("connect to %s: not a URI: %w; want qemu:///system or qemu:///session", text, err)
	}
	driver, transport, _ := strings.Cut(u.Scheme, "+")
	if slices.Contains([]string{"ssh", "libssh", "libssh2", "tcp", "tls", "ext"}, transport) || u.Host != "" {
		return address{}, &RemoteURIError{URI: text, Host: u.Host}
	}
	if driver != "qemu" || (transport != "" && transport != "unix") {
		return address{}, fmt.Errorf("connect to %s: only QEMU is supported; want qemu:///system or qemu:///session", text)
	}
	query := u.Query()
	if mode := query.Get("mode"); mode == "direct" {
		return address{}, fmt.Errorf("connect to %s: mode=direct needs libvirt's C library; leave it out", text)
	}
	switch u.Path {
	case "/system":
		return address{mode: SystemMode, socket: query.Get("socket")}, nil
	case "/session":
		if uid == 0 {
			return address{}, fmt.Errorf("connect to %s: root has no session daemon and would reach the system's; use qemu:///system or run as another user", text)
		}
		return address{mode: SessionMode, socket: query.Get("socket")}, nil
	}
	return address{}, fmt.Errorf("connect to %s: no such driver; want qemu:///system or qemu:///session", text)
}

// environment is what of the process decides about paths, so that tests can
// bring their own.
type environment struct {
	getenv func(string) string
	uid    int
	root   string // prefix of /run and /usr, empty but in tests
}

func processEnvironment() environment {
	return environment{getenv: os.Getenv, uid: os.Geteuid()}
}
