package remote

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// NotRunnableError is an uploaded binary which the guest cannot execute.
type NotRunnableError struct {
	Path  string
	Cause error // ErrNoExec, ErrArchitecture, or nil if neither was found
	Hint  string
	Err   *ExitError
}

func (e *NotRunnableError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("start %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("start %s: %v: %s", e.Path, e.Cause, e.Hint)
}

// Unwrap gives the cause and the *ExitError.
func (e *NotRunnableError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Cause, e.Err}
}

// Probe runs a freshly uploaded binary, given by its absolute path, with
// harmless arguments and returns its stdout. If the shell answers 126, Probe
// finds out why and returns a *NotRunnableError: with ErrNoExec another
// directory helps, with ErrArchitecture another binary.
func (c *Client) Probe(ctx context.Context, argv ...string) ([]byte, error) {
	out, err := c.Output(ctx, argv...)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status != 126 {
		return out, err
	}
	e := &NotRunnableError{Path: argv[0], Err: exit}
	if is, want := c.machines(ctx, argv[0]); is != want {
		e.Cause, e.Hint = ErrArchitecture, fmt.Sprintf("it is for %s, the guest is %s; upload the binary built for the guest", is, want)
	} else if c.noexec(ctx, path.Dir(argv[0])) {
		e.Cause, e.Hint = ErrNoExec, fmt.Sprintf("%s allows no execution; upload to another directory, such as /run/platter or /root", path.Dir(argv[0]))
	}
	return nil, e
}

// machines returns the architecture of a guest file and of the guest, both in
// Debian's words, or two equal strings if either is unknown.
func (c *Client) machines(ctx context.Context, name string) (file, guest string) {
	names := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}
	uname, err := c.Output(ctx, "uname", "-m")
	if err != nil {
		return "", ""
	}
	guest = names[strings.TrimSpace(string(uname))]
	var head bytes.Buffer
	if err := c.Run(ctx, []string{"head", "-c", "64", "--", name}, nil, &head, nil); err != nil {
		return guest, guest
	}
	switch machine, err := elfMachine(head.Bytes()); {
	case err != nil || guest == "":
		return guest, guest
	case machine == elf.EM_X86_64:
		return "amd64", guest
	case machine == elf.EM_AARCH64:
		return "arm64", guest
	default:
		return machine.String(), guest
	}
}

// elfMachine reads e_machine of a 64-byte ELF header.
func elfMachine(head []byte) (elf.Machine, error) {
	if len(head) < 20 || string(head[:4]) != elf.ELFMAG {
		return 0, io.ErrUnexpectedEOF
	}
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		return elf.Machine(uint16(head[18])<<8 | uint16(head[19])), nil
	}
	return elf.Machine(uint16(head[19])<<8 | uint16(head[18])), nil
}

// noexec reports whether dir lies on a mount with the option noexec.
func (c *Client) noexec(ctx context.Context, dir string) bool {
	mounts, err := c.Output(ctx, "cat", "/proc/self/mounts")
	if err != nil {
		return false
	}
	real, err := c.Output(ctx, "readlink", "-f", "--", dir)
	if err != nil {
		return false
	}
	return mountOption(string(mounts), strings.TrimSpace(string(real)), "noexec")
}

// mountOption looks up an option of the mount that holds dir in the text of
// /proc/self/mounts. Of mounts over the same point the last one counts.
func mountOption(mounts, dir, option string) bool {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	longest, found := -1, false
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		point := unescape.Replace(fields[1])
		inside := point == "/" || dir == point || strings.HasPrefix(dir, point+"/")
		if inside && len(point) >= longest {
			longest = len(point)
			found = strings.Contains(","+fields[3]+",", ","+option+",")
		}
	}
	return found
}
