package remote

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// link joins this host with a network namespace by two TUN devices, whose
// packets wait for delay in each direction, or get lost. It stands in for
// netem, which not every kernel has, and like netem it leaves TCP to the kernel.
type link struct {
	namespace string
	addr      string // of the far end
	cut       atomic.Bool
}

func newLink(t *testing.T, delay time.Duration) *link {
	t.Helper()
	needsVM(t)
	l := &link{namespace: fmt.Sprintf("platter-test-%d", os.Getpid()), addr: "10.231.77.2"}
	near, nearName := openTun(t)
	far, farName := openTun(t)
	run(t, "ip", "netns", "add", l.namespace)
	t.Cleanup(func() { l.remove(t) })
	run(t, "ip", "link", "set", farName, "netns", l.namespace)
	for _, command := range []string{
		"addr add 10.231.77.1/30 dev " + nearName, "link set " + nearName + " up txqueuelen 5000",
		"-n " + l.namespace + " addr add 10.231.77.2/30 dev " + farName, "-n " + l.namespace + " link set " + farName + " up txqueuelen 5000",
	} {
		run(t, append([]string{"ip"}, strings.Fields(command)...)...)
	}
	l.carry(near, far, delay)
	l.carry(far, near, delay)
	return l
}

// remove ends what still runs in the namespace: servers of connections whose
// end they could not hear of.
func (l *link) remove(t *testing.T) {
	pids, err := exec.Command("ip", "netns", "pids", l.namespace).Output()
	if err != nil {
		t.Error(err)
	}
	for _, field := range strings.Fields(string(pids)) {
		if pid, err := strconv.Atoi(field); err == nil {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	run(t, "ip", "netns", "del", l.namespace)
}

func openTun(t *testing.T) (*os.File, string) {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	request := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: unix.IFF_TUN | unix.IFF_NO_PI}
	copy(request.name[:], "platter%d")
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TUNSETIFF, uintptr(unsafe.Pointer(&request))); errno != 0 {
		t.Fatal(errno)
	}
	file := os.NewFile(uintptr(fd), "tun")
	t.Cleanup(func() { file.Close() })
	return file, strings.TrimRight(string(request.name[:]), "\x00")
}

// carry moves packets one way until the devices are closed.
func (l *link) carry(from, to *os.File, delay time.Duration) {
	type packet struct {
		data []byte
		due  time.Time
	}
	wire := make(chan packet, 100_000)
	go func() {
		defer close(wire)
		for {
			data := make([]byte, 2048)
			n, err := from.Read(data)
			if err != nil {
				return
			}
			wire <- packet{data[:n], time.Now().Add(delay)}
		}
	}()
	go func() {
		for p := range wire {
			time.Sleep(time.Until(p.due))
			if !l.cut.Load() {
				to.Write(p.data)
			}
		}
	}()
}

func (l *link) sshd(t *testing.T) *sshd {
	t.Helper()
	return startSshd(t, sshdOptions{addr: l.addr, wrap: []string{"ip", "netns", "exec", l.namespace}})
}

// TestSlowLink: 30 MB over a link with 100 ms each way. One write of 32 KiB
// per round trip would take 190 s.
func TestSlowLink(t *testing.T) {
	c := newLink(t, 100*time.Millisecond).sshd(t).dial(t)
	took := timedUpload(t, c, filepath.Join(t.TempDir(), "agent"), 30<<20)
	t.Logf("30 MiB at 200 ms round trip in %s: %.1f MiB/s", took, 30/took.Seconds())
	if took > 20*time.Second {
		t.Errorf("took %s, want less than 20s", took)
	}
}

// TestCutLink loses every packet without a reset, in the middle of a command
// and of an upload.
func TestCutLink(t *testing.T) {
	l := newLink(t, time.Millisecond)
	s := l.sshd(t)
	s.target.KeepaliveEvery, s.target.KeepaliveDead = 500*time.Millisecond, 3*time.Second
	endless, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer endless.Close()
	for name, call := range map[string]func(*Client) error{
		"run": func(c *Client) error { return c.Run(t.Context(), []string{"sleep", "60"}, nil, nil, nil) },
		"upload": func(c *Client) error {
			return c.Upload(t.Context(), filepath.Join(t.TempDir(), "x"), 1<<40, 0o600, endless)
		},
	} {
		l.cut.Store(false)
		c := s.dial(t)
		time.AfterFunc(time.Second, func() { l.cut.Store(true) })
		begin := time.Now()
		err := call(c)
		var lost *LostError
		if took := time.Since(begin); !errors.As(err, &lost) || took < 3*time.Second || took > 6*time.Second {
			t.Errorf("%s: %v after %s, want a lost connection after 4s", name, err, took)
		}
	}
}
