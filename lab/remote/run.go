package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// maxOutput bounds what Output, Probe and ReadFile keep in memory, in bytes.
const maxOutput = 1 << 20

// Run runs argv in the guest as it is, without shell interpretation, and with
// the sbin directories in PATH. Nil readers and writers stand for nothing and
// discard. It returns nil for status 0, *ExitError for another status or a
// signal, *LostError if no status came, *ShellError if a login script kept the
// command from running. When ctx ends the command is killed. Run returns when
// the command and everything that holds its output have ended.
func (c *Client) Run(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(argv) == 0 {
		return errors.New("run: empty command")
	}
	op := "run " + clip(strings.Join(argv, " "), 200)
	session, err := bounded(ctx, c.ssh.NewSession, func(s *ssh.Session) { s.Close() })
	if err != nil {
		return c.failure(ctx, op, err)
	}
	call := &call{
		client: c, argv: argv, session: session, marker: randomName(),
		stdin: stdin, stdout: stdout, stderr: stderr,
	}
	_, err = bounded(ctx, func() (struct{}, error) { return struct{}{}, call.start() }, nil)
	if err != nil {
		go session.Close() // may block on a stalled connection
		return c.failure(ctx, op, err)
	}
	return call.finish(ctx, op)
}

// Output runs argv and returns its stdout, at most 1 MiB.
func (c *Client) Output(ctx context.Context, argv ...string) ([]byte, error) {
	var out bytes.Buffer
	err := c.Run(ctx, argv, nil, &cappedWriter{w: &out, left: maxOutput, err: fmt.Errorf("output longer than %d bytes", maxOutput)}, nil)
	return out.Bytes(), err
}

// call is one running command.
type call struct {
	client         *Client
	argv           []string
	session        *ssh.Session
	marker         string
	stdin          io.Reader
	stdout, stderr io.Writer

	pid  atomic.Int64 // in the guest; 0 until the marker was read
	done chan outcome
}

// outcome is what the guest and our own writers said about a command.
type outcome struct {
	wait      error  // from the SSH session
	write     error  // from the caller's stdout or stderr
	ran       bool   // the marker was seen: the command was reached
	noise     []byte // text before the marker
	errorTail string
}

func (k *call) start() error {
	stdin, err := k.session.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := k.session.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := k.session.StderrPipe()
	if err != nil {
		return err
	}
	if err := k.session.Start(command(k.marker, k.argv)); err != nil {
		return err
	}
	go func() {
		if k.stdin != nil {
			io.Copy(stdin, k.stdin) // a command may end without reading it all
		}
		stdin.Close()
	}()
	k.done = make(chan outcome, 1)
	go k.collect(stdout, stderr)
	return nil
}

// collect drains both streams, then asks for the status. Draining goes on after
// a failed write, since a full channel would keep the command from ending.
func (k *call) collect(stdout, stderr io.Reader) {
	tail := &tailWriter{max: 2048}
	errs := make(chan stream, 1)
	go func() { errs <- k.copy(k.stderr, stderr, tail) }()
	out := k.copy(k.stdout, stdout, nil)
	errOut := <-errs
	result := outcome{
		wait: k.session.Wait(), write: errors.Join(out.err, errOut.err),
		ran: out.ran || errOut.ran, noise: append(out.noise, errOut.noise...), errorTail: tail.String(),
	}
	k.session.Close()
	k.done <- result
}

type stream struct {
	ran   bool
	noise []byte
	err   error // of the caller's writer
}

func (k *call) copy(w io.Writer, r io.Reader, tail *tailWriter) stream {
	noise, pid, rest := skipPast(r, k.marker)
	s := stream{ran: pid > 0, noise: noise}
	if !s.ran {
		io.Copy(io.Discard, r)
		return s
	}
	k.pid.Store(int64(pid))
	var to io.Writer = &firstError{w: w}
	if tail != nil {
		to = io.MultiWriter(tail, to)
	}
	_, err := io.Copy(to, rest)
	var refused *writeError
	if errors.As(err, &refused) {
		s.err = refused.err
		go k.kill() // nobody listens any more
		io.Copy(io.Discard, r)
	}
	return s
}

// kill ends the command through a second command. SSH's own signal request
// is of no use: OpenSSH refuses it for root.
func (k *call) kill() {
	defer k.session.Close()
	killer, err := k.client.ssh.NewSession()
	if err != nil {
		return
	}
	defer killer.Close()
	if pid := k.pid.Load(); pid > 0 {
		killer.Run(killCommand(int(pid)))
	}
}

// finish waits for the command, or kills it when ctx ends.
func (k *call) finish(ctx context.Context, op string) error {
	select {
	case result := <-k.done:
		return k.judge(ctx, op, result)
	case <-ctx.Done():
	}
	go k.kill()
	select {
	case <-k.done:
	case <-time.After(grace):
	}
	return k.client.failure(ctx, op, ctx.Err())
}

func (k *call) judge(ctx context.Context, op string, o outcome) error {
	if len(o.noise) > 0 {
		k.client.target.Log.Info("shell noise", "machine", k.client.target.Name, "text", clip(string(o.noise), 500))
	}
	if o.write != nil {
		return fmt.Errorf("%s: write output: %w", op, o.write)
	}
	var exit *ssh.ExitError
	isExit := errors.As(o.wait, &exit)
	switch {
	case o.wait != nil && !isExit:
		return k.client.failure(ctx, op, o.wait)
	case !o.ran:
		return newShellError(k.client.target.User, o.noise)
	case isExit:
		return &ExitError{Argv: k.argv, Status: exit.ExitStatus(), Signal: exit.Signal(), Stderr: o.errorTail}
	}
	return nil
}

// randomName returns 16 hexadecimal digits.
func randomName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	return hex.EncodeToString(b[:])
}
