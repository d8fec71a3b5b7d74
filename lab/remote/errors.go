package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// Causes of a failed upload or of a binary that does not start. Use errors.Is.
var (
	ErrNoSpace      = errors.New("no space")
	ErrReadOnly     = errors.New("read-only filesystem")
	ErrNoExec       = errors.New("directory is mounted noexec")
	ErrArchitecture = errors.New("binary is for another architecture")
)

// ExitError is a command that ended with a status other than 0, or by a signal.
type ExitError struct {
	Argv   []string
	Status int    // 1..255, or 128+n when Signal is set
	Signal string // "KILL", "SEGV", or empty
	Stderr string // the end of what the command wrote to stderr
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.Status)
	if e.Signal != "" {
		how = "killed by signal " + e.Signal
	}
	message := fmt.Sprintf("run %s: %s", strings.Join(e.Argv, " "), how)
	if tail := strings.TrimSpace(e.Stderr); tail != "" {
		message += ": " + tail
	}
	return message
}

// LostError is a call whose connection ended before its answer came, or a
// command that ended without an exit status (a rebooted or crashed guest looks
// so). What the guest did meanwhile is unknown; it never counts as success.
type LostError struct {
	Op  string
	Err error
}

func (e *LostError) Error() string { return fmt.Sprintf("%s: connection lost: %v", e.Op, e.Err) }
func (e *LostError) Unwrap() error { return e.Err }

// HostKeyError is a server whose host key is not the pinned one: the address
// belongs to another machine. Trying again does not help.
type HostKeyError struct {
	Machine   string
	Want, Got string // fingerprints
}

func (e *HostKeyError) Error() string {
	return fmt.Sprintf("log in to %s: another machine answers: host key is %s, want %s; nothing was sent to it; look for who else uses this address or port",
		e.Machine, e.Got, e.Want)
}

// TokenError is a guest that logged us in but carries another run's token.
// Nothing is written to such a machine, and trying again does not help.
type TokenError struct {
	Machine, File, Want, Got string
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("check %s: another machine answers: %s holds %q, want %q; nothing was written to it", e.Machine, e.File, e.Got, e.Want)
}

// ShellError is a login shell or forced command that printed text instead of
// running the command.
type ShellError struct {
	User  string
	Noise string // the end of what it printed
	Use   string // the user which the message asks for, or empty
}

func (e *ShellError) Error() string {
	if e.Use != "" {
		return fmt.Sprintf("the guest refuses to work as %q and asks for %q: set the user to %q", e.User, e.Use, e.Use)
	}
	return fmt.Sprintf("the login shell of %q did not run the command; it printed %q; remove forced commands and start files that exit", e.User, e.Noise)
}

// TooLargeError is a guest file longer than the caller's limit.
type TooLargeError struct {
	Name     string
	MaxBytes int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("fetch %s: longer than the limit of %d bytes", e.Name, e.MaxBytes)
}

// final marks an error that no repetition can mend.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// Final marks err so that [Await] stops at once instead of trying again.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return final{err}
}

// isFinal reports whether repeating the attempt is pointless.
func isFinal(err error) bool {
	var (
		marked  final
		hostKey *HostKeyError
		token   *TokenError
		shell   *ShellError
	)
	return errors.As(err, &marked) || errors.As(err, &hostKey) || errors.As(err, &token) || errors.As(err, &shell)
}

// isLost reports whether err is how a broken connection shows in the libraries.
func isLost(err error) bool {
	var (
		lost    *LostError
		missing *ssh.ExitMissingError
		broken  *net.OpError
	)
	return errors.As(err, &lost) || errors.As(err, &missing) || errors.As(err, &broken) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, sftp.ErrSSHFxConnectionLost)
}
