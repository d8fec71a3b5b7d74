package hypervisor

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Numbers of libvirt's wire protocol that the fake daemon must know.
const (
	procOpen      = 1
	procClose     = 2
	procLibVer    = 157
	procAuthList  = 66
	statusOK      = 0
	statusError   = 1
	typeReply     = 1
	packetHeader  = 28
	headerProc    = 12
	headerType    = 16
	headerStatus  = 24
	noDomainError = 42
)

// fakeDaemon speaks just enough of libvirt's protocol to be opened. It stands
// for daemons that hang, die or refuse, which a real one cannot be made to do
// on demand.
type fakeDaemon struct {
	path    string
	conns   atomic.Int32
	hangUps int32 // so many connections end before they are opened
	// answer gives the status and payload of a call; ok=false leaves the caller
	// waiting and drop ends the connection.
	answer func(conn int32, proc uint32) (status uint32, payload []byte, ok, drop bool)
}

// serve listens until the test ends.
func (d *fakeDaemon) serve(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fake") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	d.path = filepath.Join(dir, "sock")
	l, err := net.Listen("unix", d.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		os.RemoveAll(dir)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.talk(c, d.conns.Add(1))
		}
	}()
}

func (d *fakeDaemon) talk(c net.Conn, number int32) {
	defer c.Close()
	for {
		head := make([]byte, packetHeader)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		body := make([]byte, int(binary.BigEndian.Uint32(head))-packetHeader)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		status, payload, ok, drop := d.reply(number, binary.BigEndian.Uint32(head[headerProc:]))
		if drop {
			return
		}
		if !ok {
			continue
		}
		binary.BigEndian.PutUint32(head, uint32(packetHeader+len(payload)))
		binary.BigEndian.PutUint32(head[headerType:], typeReply)
		binary.BigEndian.PutUint32(head[headerStatus:], status)
		if _, err := c.Write(append(head, payload...)); err != nil {
			return
		}
	}
}

func (d *fakeDaemon) reply(number int32, proc uint32) (uint32, []byte, bool, bool) {
	if number <= d.hangUps {
		return 0, nil, false, true
	}
	switch proc {
	case procAuthList:
		return statusOK, make([]byte, 4), true, false // an empty list
	case procOpen, procClose:
		return statusOK, nil, true, false
	}
	return d.answer(number, proc)
}

// hyper is the payload of an unsigned 64 bit number.
func hyper(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// remoteError is the payload of an error: code, domain, message and nothing else.
func remoteError(code uint32, message string) []byte {
	p := binary.BigEndian.AppendUint32(nil, code)
	p = binary.BigEndian.AppendUint32(p, 10) // VIR_FROM_QEMU
	p = binary.BigEndian.AppendUint32(p, 1)  // a message follows
	p = binary.BigEndian.AppendUint32(p, uint32(len(message)))
	p = append(p, message...)
	for len(p)%4 != 0 {
		p = append(p, 0)
	}
	return append(p, make([]byte, 40)...)
}

// unitHost is a host in session mode with its own environment; nothing is
// connected and no daemon may be started.
func unitHost(t *testing.T, socket string) *Host {
	t.Helper()
	env := environment{uid: os.Geteuid(), getenv: func(name string) string {
		if name == "LIBVIRT_AUTOSTART" {
			return "0"
		}
		return ""
	}}
	h, err := newHost(env, address{mode: SessionMode, socket: socket}, "qemu:///session", Options{StorageDir: filepath.Join(t.TempDir(), "store")})
	if err != nil {
		t.Fatal(err)
	}
	h.handshake = 300 * time.Millisecond
	t.Cleanup(func() { h.Close() })
	return h
}

// within runs f and fails the test when it takes too long.
func within(t *testing.T, limit time.Duration, f func(ctx context.Context)) {
	t.Helper()
	begin := time.Now()
	f(t.Context())
	if took := time.Since(begin); took > limit {
		t.Errorf("took %s, want at most %s", took, limit)
	}
}
