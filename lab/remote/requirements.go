package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// Alive requires that check, which asks the hypervisor, finds the machine
// running; it goes on asking while the other requirements are awaited.
func Alive(check func(ctx context.Context) error) Requirement {
	return Requirement{
		Name:  "process",
		Hint:  "the machine has stopped: read the console's end and the hypervisor's log",
		Check: check,
		Watch: true,
	}
}

// Marker requires that seen finds marker on the console, which the guest prints
// when its sshd listens. Waiting for it costs the booting guest nothing, while
// every probe of the port would cost it a process.
func Marker(marker string, seen func() (bool, error)) Requirement {
	return Requirement{
		Name: "console",
		Hint: fmt.Sprintf("the guest has not printed %q: the console's end tells where its boot stands", marker),
		Check: func(context.Context) error {
			ok, err := seen()
			if err == nil && !ok {
				err = fmt.Errorf("no %q on the console yet", marker)
			}
			return err
		},
	}
}

// Login opens one connection in three steps, each a Requirement: the port
// answers with an SSH banner, the login succeeds, the token is ours. The steps
// share the connection, because each further one costs an emulated guest
// several tenths of a second.
type Login struct {
	target Target

	mu     sync.Mutex
	conn   net.Conn // has sent its banner; nobody has logged in
	client *Client  // logged in
	ready  bool     // the token was checked; client may be handed out
}

// NewLogin prepares the three steps for one machine.
func NewLogin(t Target) *Login { return &Login{target: t.withDefaults()} }

// Requirements returns "port", "login" and "token".
func (l *Login) Requirements() []Requirement {
	return []Requirement{{
		Name:    "port",
		Hint:    "no sshd answers: check that the port is forwarded to the guest and that its network came up",
		Check:   l.locked(l.connect),
		Attempt: 500 * time.Millisecond,
	}, {
		Name:    "login",
		Hint:    "sshd refuses the run's key: check that the guest installed the authorized key which it was given",
		Check:   l.locked(l.logIn),
		Attempt: 2 * time.Second,
	}, {
		Name:    "token",
		Hint:    "the guest did not prove to be this machine: check that its set-up wrote " + l.target.TokenFile,
		Check:   l.locked(l.check),
		Attempt: 2 * time.Second,
	}}
}

// Client returns the connection after Await has succeeded, else nil. The caller
// closes it.
func (l *Login) Client() *Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ready {
		return nil
	}
	return l.client
}

// Close drops what a failed Await left open. A ready Client stays open.
func (l *Login) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
	if l.client != nil && !l.ready {
		l.client.Close()
		l.client = nil
	}
	return nil
}

func (l *Login) locked(f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		return f(ctx)
	}
}

func (l *Login) connect(ctx context.Context) error {
	conn, err := l.target.Dial(ctx)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", l.target.Name, err)
	}
	greeted, err := readBanner(ctx, conn)
	if err != nil {
		conn.Close()
		return fmt.Errorf("connect to %s: %w", l.target.Name, err)
	}
	l.conn = greeted
	return nil
}

func (l *Login) logIn(ctx context.Context) error {
	if l.conn == nil { // the last attempt used it up
		if err := l.connect(ctx); err != nil {
			return err
		}
	}
	conn := l.conn
	l.conn = nil
	client, err := l.target.login(ctx, conn)
	if err != nil {
		return err
	}
	l.client = client
	return nil
}

func (l *Login) check(ctx context.Context) error {
	if l.client == nil {
		if err := l.logIn(ctx); err != nil {
			return err
		}
	}
	err := l.client.checkToken(ctx)
	if err == nil {
		l.ready = true
		return nil
	}
	var lost *LostError
	if errors.As(err, &lost) { // sshd was started anew: log in again
		l.client.Close()
		l.client = nil
	}
	return err
}

// readBanner waits for the line "SSH-2.0-…" and returns a connection from which
// it can be read again. Lines before it are allowed by RFC 4253, section 4.2.
func readBanner(ctx context.Context, conn net.Conn) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	var read bytes.Buffer
	rest := bufio.NewReader(conn)
	for {
		line, err := rest.ReadSlice('\n')
		read.Write(line)
		if err == nil && bytes.HasPrefix(line, []byte("SSH-")) {
			break
		}
		if err != nil || read.Len() > 64<<10 {
			stop()
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("the port is open but sends no SSH banner, only %q: %w", clip(strings.TrimSpace(read.String()), 80), orNoise(err))
		}
	}
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return &greetedConn{Conn: conn, r: io.MultiReader(&read, rest)}, nil
}

func orNoise(err error) error {
	if err == nil {
		return errors.New("too much text")
	}
	return err
}

// greetedConn gives back what readBanner has read.
type greetedConn struct {
	net.Conn
	r io.Reader
}

func (g *greetedConn) Read(p []byte) (int, error) { return g.r.Read(p) }
