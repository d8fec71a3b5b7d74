package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"os"
)

// testServer is an sshd in this process whose misbehaviour tests choose. It
// runs commands with the host's /bin/sh and serves the host's files.
type testServer struct {
	keys      Keys
	target    Target
	listener  net.Listener
	dropFirst atomic.Int64 // connections to close before a word is said
	logins    atomic.Int64
	preamble  string // text before the SSH banner
	noise     string // what the login script prints to stdout and stderr

	// exec replaces /bin/sh if it is not nil; it owns the channel's end.
	exec func(command string, ch ssh.Channel)
	// handlers replace the host's files if they are not nil.
	handlers *sftp.Handlers

	mu    sync.Mutex
	conns []net.Conn
}

func newTestServer(t *testing.T) *testServer {
	t.Helper()
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{keys: keys, listener: listener}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("run-7/vm-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.target = Target{
		Name: "vm-1", Keys: keys, Token: "run-7/vm-1", TokenFile: token,
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
		},
	}
	t.Cleanup(func() { listener.Close(); s.drop() })
	go s.accept()
	return s
}

// dial returns a logged-in client.
func (s *testServer) dial(t *testing.T) *Client {
	t.Helper()
	c, err := Dial(t.Context(), s.target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// drop closes every connection without a goodbye.
func (s *testServer) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}

func (s *testServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		if s.dropFirst.Add(-1) >= 0 {
			conn.Close()
			continue
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		go s.serve(conn)
	}
}

func (s *testServer) config() *ssh.ServerConfig {
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			want, _, _, _, err := ssh.ParseAuthorizedKey([]byte(s.keys.AuthorizedKey()))
			if err != nil || string(want.Marshal()) != string(key.Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
	}
	host, err := ssh.ParsePrivateKey(s.keys.HostPrivatePEM())
	if err != nil {
		panic(err)
	}
	config.AddHostKey(host)
	return config
}

func (s *testServer) serve(conn net.Conn) {
	io.WriteString(conn, s.preamble)
	_, channels, requests, err := ssh.NewServerConn(conn, s.config())
	if err != nil {
		conn.Close()
		return
	}
	s.logins.Add(1)
	go func() {
		for r := range requests {
			r.Reply(false, nil)
		}
	}()
	for c := range channels {
		ch, requests, err := c.Accept()
		if err != nil {
			return
		}
		go s.channel(ch, requests)
	}
}

func (s *testServer) channel(ch ssh.Channel, requests <-chan *ssh.Request) {
	for r := range requests {
		var payload struct{ Text string }
		ssh.Unmarshal(r.Payload, &payload)
		switch {
		case r.Type == "exec":
			r.Reply(true, nil)
			if s.exec != nil {
				go s.exec(payload.Text, ch)
			} else {
				go s.shell(payload.Text, ch)
			}
		case r.Type == "subsystem" && payload.Text == "sftp":
			r.Reply(true, nil)
			go s.files(ch)
		case r.WantReply:
			r.Reply(false, nil)
		}
	}
}

func (s *testServer) shell(command string, ch ssh.Channel) {
	io.WriteString(ch, s.noise)
	io.WriteString(ch.Stderr(), s.noise)
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ch, ch, ch.Stderr()
	// Not cmd.Run: it would wait for the end of a stdin nobody closes.
	cmd.WaitDelay = 1
	cmd.Run()
	exit(ch, cmd.ProcessState.ExitCode())
}

func (s *testServer) files(ch ssh.Channel) {
	io.WriteString(ch, s.noise)
	defer ch.Close()
	if s.handlers != nil {
		sftp.NewRequestServer(ch, *s.handlers).Serve()
		return
	}
	server, err := sftp.NewServer(ch)
	if err == nil {
		server.Serve()
	}
}

// exit reports a command's status and closes its channel.
func exit(ch ssh.Channel, status int) {
	ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
	ch.Close()
}
