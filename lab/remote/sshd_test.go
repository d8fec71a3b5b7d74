package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var vm = flag.Bool("vm", false, "also run the tests that need root, OpenSSH's sshd, mounts and network namespaces")

// needsVM keeps plain `go test` free of root and of packages.
func needsVM(t testing.TB) {
	if !*vm {
		t.Skip("needs -vm: root, openssh-server")
	}
}

// sshd is a real OpenSSH server with a private configuration.
type sshd struct {
	dir    string
	target Target
	cmd    *exec.Cmd
}

// sshdOptions choose what differs from a platter guest.
type sshdOptions struct {
	subsystem string   // "internal-sftp" if empty
	home      string   // HOME of the login shell, whose .bashrc it reads
	wrap      []string // command in front of sshd, such as ip netns exec
	addr      string   // "127.0.0.1" if empty
}

func startSshd(t testing.TB, o sshdOptions) *sshd {
	t.Helper()
	needsVM(t)
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	s := &sshd{dir: t.TempDir()}
	addr := o.addr
	if addr == "" {
		addr = "127.0.0.1"
	}
	port := freePort(t)
	s.target = Target{
		Name: "sshd", Keys: keys, Token: "run-7/vm-1", TokenFile: filepath.Join(s.dir, "token"),
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(addr, port))
		},
	}
	s.write(t, "token", s.target.Token+"\n")
	s.write(t, "host_key", string(keys.HostPrivatePEM()))
	s.write(t, "authorized_keys", keys.AuthorizedKey()+"\n")
	s.write(t, "sshd_config", strings.Join([]string{
		"ListenAddress " + addr, "Port " + port, "HostKey " + filepath.Join(s.dir, "host_key"),
		"AuthorizedKeysFile " + filepath.Join(s.dir, "authorized_keys"), "PidFile none", "StrictModes no", "UsePAM no",
		"PermitRootLogin prohibit-password", "PasswordAuthentication no", "SetEnv HOME=" + o.home,
		"Subsystem sftp " + orDefault(o.subsystem, "internal-sftp"), "",
	}, "\n"))
	s.start(t, o.wrap)
	login := NewLogin(s.target)
	defer login.Close()
	if err := Await(t.Context(), login.Requirements(), Options{}); err != nil {
		t.Fatalf("%v\n%s", err, s.log())
	}
	login.Client().Close()
	return s
}

func (s *sshd) start(t testing.TB, wrap []string) {
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // its empty chroot, normally made by the service
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	argv := append(wrap, "/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		log.Close()
	})
}

func (s *sshd) write(t testing.TB, name, text string) {
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *sshd) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

func (s *sshd) dial(t testing.TB) *Client {
	t.Helper()
	c, err := Dial(t.Context(), s.target)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.log())
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// run runs a host command of a test's set-up.
func run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// timedUpload sends n random bytes and returns the time it took.
func timedUpload(t testing.TB, c *Client, name string, n int) time.Duration {
	t.Helper()
	data := randomBytes(n)
	begin := time.Now()
	if err := c.Upload(t.Context(), name, int64(n), 0o755, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}
