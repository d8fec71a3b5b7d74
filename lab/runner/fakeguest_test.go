package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"platter/guest"
	"platter/images"
	"platter/lab"
	"platter/lab/domain"
	"platter/results"
)

// fakeGuest is the inside of a fakeMachine: an SSH server with files in memory whose agent tells a short conversation. The
// runner talks to it as to a real one.
type fakeGuest struct {
	config  *ssh.ServerConfig
	files   sftp.Handlers
	point   func()
	machine *fakeMachine
	job     guest.Job // once it was started

	script   func(*guest.Encoder) // what the agent tells after Hello; nil is a trial that goes well
	mute     bool                 // connections stay open and nothing is answered
	deafStop bool                 // the agent does not stop when it is asked to
	midway   func(*fakeGuest)     // called once when half of the conversation was read
	holdBack bool                 // the second half waits for stop

	mu      sync.Mutex
	gone    bool // connections are refused
	conns   []net.Conn
	events  []byte
	half    int
	stopped chan struct{} // by its agent's stop
	ended   chan struct{} // with the machine
	once    sync.Once
}

func newFakeGuest(spec domain.Spec, point func()) (*fakeGuest, error) {
	pem, err := base64.StdEncoding.DecodeString(oem(spec, images.HostKeyString))
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(pem)
	if err != nil {
		return nil, err
	}
	g := &fakeGuest{files: sftp.InMemHandler(), point: point, stopped: make(chan struct{}), ended: make(chan struct{}),
		config: &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			want, _, _, _, err := ssh.ParseAuthorizedKey([]byte(oem(spec, images.AuthorizedKeyString)))
			if err != nil || !bytes.Equal(want.Marshal(), key.Marshal()) {
				return nil, fmt.Errorf("unknown key: %v", err)
			}
			return nil, nil
		}}}
	g.config.AddHostKey(signer)
	return g, g.write(images.TokenPath, oem(spec, images.TokenString))
}

// write puts a file into the guest.
func (g *fakeGuest) write(name, text string) error {
	for i, c := range name {
		if c == '/' && i > 0 {
			g.files.FileCmd.Filecmd(sftp.NewRequest("Mkdir", name[:i])) // one that is there already is fine
		}
	}
	request := sftp.NewRequest("Put", name)
	request.Flags = 0x1a // write, create, truncate
	w, err := g.files.FilePut.Filewrite(request)
	if err != nil {
		return err
	}
	_, err = w.WriteAt([]byte(text), 0)
	return err
}

func (g *fakeGuest) dial() (net.Conn, error) {
	g.mu.Lock()
	gone := g.gone
	g.mu.Unlock()
	if gone {
		return nil, errors.New("connection refused")
	}
	// Not net.Pipe: it has no buffer, and both ends of SSH write before they read.
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	ours, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return nil, err
	}
	theirs, err := l.Accept()
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.conns = append(g.conns, theirs)
	g.mu.Unlock()
	go g.serve(theirs)
	return ours, nil
}

// fallSilent keeps all connections and answers nothing any more, as a network that drops packets does.
func (g *fakeGuest) fallSilent() {
	g.mu.Lock()
	g.mute = true
	g.mu.Unlock()
	<-g.ended
}

// goAway ends every connection and refuses new ones.
func (g *fakeGuest) goAway() {
	g.mu.Lock()
	g.gone = true
	g.mu.Unlock()
	g.hangUp()
}

// hangUp ends every connection without a word.
func (g *fakeGuest) hangUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
	g.conns = nil
}

func (g *fakeGuest) serve(c net.Conn) {
	if g.silent() {
		return
	}
	_, channels, requests, err := ssh.NewServerConn(c, g.config)
	if err != nil {
		return
	}
	go func() {
		for r := range requests {
			if !g.silent() {
				r.Reply(false, nil)
			}
		}
	}()
	for ch := range channels {
		if g.silent() {
			continue
		}
		channel, requests, err := ch.Accept()
		if err != nil {
			return
		}
		go g.channel(channel, requests)
	}
}

func (g *fakeGuest) silent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mute
}

func (g *fakeGuest) channel(ch ssh.Channel, requests <-chan *ssh.Request) {
	for r := range requests {
		var payload struct{ Text string }
		ssh.Unmarshal(r.Payload, &payload)
		r.Reply(true, nil)
		if r.Type == "subsystem" {
			go sftp.NewRequestServer(ch, g.files).Serve()
			continue
		}
		g.point()
		go g.exec(payload.Text, ch)
	}
}

var (
	shellMarker = regexp.MustCompile(`^printf '%s %s\\n' (\w+)`)
	shellWord   = regexp.MustCompile(`'([^']*)'`)
)

// exec does what the few commands do that the runner gives.
func (g *fakeGuest) exec(command string, ch ssh.Channel) {
	marker := shellMarker.FindStringSubmatch(command)
	_, words, _ := strings.Cut(command, "; exec ")
	var argv []string
	for _, m := range shellWord.FindAllStringSubmatch(words, -1) {
		argv = append(argv, m[1])
	}
	if marker == nil || len(argv) == 0 { // a kill
		ch.Close()
		return
	}
	fmt.Fprintf(ch, "%s 4711\n", marker[1])
	fmt.Fprintf(ch.Stderr(), "%s 4711\n", marker[1])
	status := 0
	switch {
	case argv[0] == "sha256sum":
		fmt.Fprintf(ch, "%x  %s\n", sha256.Sum256(g.read(argv[2])), argv[2])
	case argv[1] == "run":
		status = g.begin()
	case argv[1] == "follow":
		offset, _ := strconv.Atoi(argv[len(argv)-1])
		g.follow(ch, offset)
	case argv[1] == "stop" && g.deafStop:
		return // never answered
	case argv[1] == "stop":
		g.once.Do(func() { close(g.stopped) })
	}
	ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
	ch.Close()
}

func (g *fakeGuest) read(name string) []byte {
	request := sftp.NewRequest("Get", name)
	request.Flags = 1 // read
	r, err := g.files.FileGet.Fileread(request)
	if err != nil {
		return nil
	}
	b, _ := io.ReadAll(io.NewSectionReader(r, 0, 1<<30))
	return b
}

// begin is the agent: it tells everything at once, and followers read it in two halves.
func (g *fakeGuest) begin() int {
	job, err := guest.DecodeJob(bytes.NewReader(g.read(guestJobPath)))
	if err != nil {
		return 1
	}
	g.job = job
	var b bytes.Buffer
	e := guest.NewEncoder(&b)
	e.Encode(guest.Event{Hello: &guest.Hello{Protocol: guest.Protocol, Build: lab.Version(), Facts: results.GuestFacts{Kernel: "fake", CPUs: 1}}})
	e.Encode(guest.Event{Step: &guest.StepEvent{Name: "run", State: "started"}})
	half := b.Len()
	if g.script != nil {
		g.script(e)
	} else {
		well(e)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events, g.half = b.Bytes(), half
	return 0
}

// well is the rest of a conversation that goes well.
func well(e *guest.Encoder) {
	value, took := 42.0, 1.0
	e.Encode(guest.Event{Measurement: &guest.Measurement{Metrics: []results.Metric{{Name: "queries_per_second", Step: "run", Value: &value}}}})
	e.Encode(guest.Event{Step: &guest.StepEvent{Name: "run", State: "ended", Seconds: &took}})
	e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusOK, GuestSeconds: e.Seconds()}})
}

func (g *fakeGuest) follow(w io.Writer, offset int) {
	g.mu.Lock()
	events, half, midway := g.events, g.half, g.midway
	g.midway = nil
	g.mu.Unlock()
	if offset < half {
		w.Write(events[offset:half])
		offset = half
		g.point()
	}
	if midway != nil {
		time.Sleep(10 * time.Millisecond) // what was written arrives before what happens now
		midway(g)
	}
	if g.holdBack {
		select {
		case <-g.stopped:
		case <-g.ended:
			return
		}
		events = g.interrupted()
	}
	w.Write(events[offset:])
	g.point()
}

// interrupted is the first half with the end that a stopped agent gives it.
func (g *fakeGuest) interrupted() []byte {
	var b bytes.Buffer
	e := guest.NewEncoder(&b)
	e.Encode(guest.Event{Hello: &guest.Hello{Protocol: guest.Protocol, Build: lab.Version()}})
	e.Encode(guest.Event{Step: &guest.StepEvent{Name: "run", State: "started"}})
	before := b.Len()
	e.Encode(guest.Event{Done: &guest.Done{Status: results.StatusInterrupted, Reason: "stopped in phase run", GuestSeconds: e.Seconds()}})
	return append(bytes.Clone(g.events[:g.half]), b.Bytes()[before:]...)
}
