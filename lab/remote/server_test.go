package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// testServer is an sshd in this process whose misbehaviour tests choose. It
// runs commands with the host's /bin/sh and serves the host's files.
type testServer struct {
	keys      Keys
	target    Target
	listener  net.Listener
	dropFirst atomic.Int64 // connections to close before a word is said
	logins    atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
	how   behaviour
}

// behaviour is what a test changes with set, also while the server runs.
type behaviour struct {
	preamble string // text before the SSH banner
	noise    string // what the login script prints to stdout and stderr
	maxRead  uint32 // most bytes in one answer to a read

	exec     func(command string, ch ssh.Channel) // replaces /bin/sh; ends the channel
	handlers *sftp.Handlers                       // replace the host's files
}

func (s *testServer) set(change func(*behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.how)
}

func (s *testServer) behaviour() behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.how
}

// onExec replaces /bin/sh by f.
func (s *testServer) onExec(f func(string, ssh.Channel)) {
	s.set(func(b *behaviour) { b.exec = f })
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
	s := &testServer{keys: keys, listener: listener, how: behaviour{maxRead: sftpPacket}}
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
	io.WriteString(conn, s.behaviour().preamble)
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
			if exec := s.behaviour().exec; exec != nil {
				go exec(payload.Text, ch)
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
	noise := s.behaviour().noise
	io.WriteString(ch, noise)
	io.WriteString(ch.Stderr(), noise)
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	// Not cmd.Stdin: Wait would wait for the end of a stdin nobody closes.
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		exit(ch, 255)
		return
	}
	go func() {
		io.Copy(stdin, ch)
		stdin.Close()
	}()
	cmd.Wait()
	exit(ch, cmd.ProcessState.ExitCode())
}

func (s *testServer) files(ch ssh.Channel) {
	how := s.behaviour()
	io.WriteString(ch, how.noise)
	defer ch.Close()
	if how.handlers != nil {
		sftp.NewRequestServer(ch, *how.handlers).Serve()
		return
	}
	server, err := sftp.NewServer(ch, sftp.WithMaxTxPacket(how.maxRead))
	if err == nil {
		server.Serve()
	}
}

// exit reports a command's status and closes its channel.
func exit(ch ssh.Channel, status int) {
	ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
	ch.Close()
}
