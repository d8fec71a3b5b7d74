package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"platter/images"
	"platter/lab/domain"
	"platter/lab/hypervisor"
)

// fakeHost stands for a hypervisor where a test has no minutes for real machines. Machines and volumes are files below dir
// that name their owner, so that they outlive the process that made them, as a domain and an image do. Its machines
// answer SSH with a fakeGuest.
type fakeHost struct {
	dir   string
	point func()           // called wherever something happens; a test may end the process there
	setUp func(*fakeGuest) // how the guests of its machines behave
}

func (h *fakeHost) at() {
	if h.point != nil {
		h.point()
	}
}

func (h *fakeHost) Info(context.Context) (hypervisor.Info, error) {
	return hypervisor.Info{Arch: hostArch, Kernel: "fake", CPUs: 2}, nil
}
func (h *fakeHost) Accel(context.Context, string) (domain.Accel, error) { return domain.KVM, nil }
func (h *fakeHost) Stage(context.Context, string, string, func() (io.ReadCloser, error)) (string, error) {
	h.at()
	return "/image", nil
}

// runPath is where the volumes of a run lie.
func (h *fakeHost) runPath(run string) string { return filepath.Join(h.dir, "run-"+run) }

func (h *fakeHost) CreateVolume(_ context.Context, spec hypervisor.VolumeSpec) (hypervisor.Volume, error) {
	h.at()
	dir := h.runPath(spec.Tag.Run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return hypervisor.Volume{}, err
	}
	if err := mark(filepath.Join(dir, spec.Name), spec.Tag); err != nil {
		return hypervisor.Volume{}, err
	}
	h.at()
	return hypervisor.Volume{Run: spec.Tag.Run, Name: spec.Name, Path: filepath.Join(dir, spec.Name), SizeBytes: spec.SizeBytes,
		Format: spec.Format, Preallocation: spec.Preallocation, Probe: hypervisor.Probe{DirectIO: true}}, nil
}

// mark makes a file that says whose it is; one that is there already is an error, as a name libvirt knows is.
func mark(path string, tag domain.Tag) error {
	text, err := json.Marshal(tag)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (h *fakeHost) RemoveVolume(v hypervisor.Volume) error {
	h.at()
	return os.Remove(v.Path)
}

func (h *fakeHost) RemoveRun(run string) error {
	h.at()
	return os.RemoveAll(h.runPath(run))
}

func (h *fakeHost) Start(_ context.Context, spec domain.Spec) (Machine, error) {
	h.at()
	guest, err := newFakeGuest(spec, h.at)
	if err != nil {
		return nil, err
	}
	if h.setUp != nil {
		h.setUp(guest)
	}
	m := &fakeMachine{host: h, path: filepath.Join(h.dir, "machine-"+spec.Name), guest: guest, state: hypervisor.State{Running: true, Name: "running"}}
	guest.machine = m
	if err := mark(m.path, spec.Tag); err != nil {
		return nil, err
	}
	h.at()
	return m, nil
}

// left lists what is on the host, and whose it is.
func (h *fakeHost) left(t *testing.T) map[string]domain.Tag {
	t.Helper()
	found := map[string]domain.Tag{}
	err := filepath.WalkDir(h.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var tag domain.Tag
		err = json.Unmarshal(text, &tag)
		found[path] = tag
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// clean removes what dead processes own and nothing else, as `platter clean` does by the same tag.
func (h *fakeHost) clean(t *testing.T) {
	t.Helper()
	for path, tag := range h.left(t) {
		if tag.PID == 0 || tag.Run == "" || tag.Trial == "" {
			t.Errorf("%s has no owner: %+v", path, tag)
		}
		if _, err := os.Stat("/proc/" + strconv.Itoa(tag.PID)); err == nil {
			continue
		}
		os.Remove(path)
	}
}

// fakeMachine is one machine of a fakeHost.
type fakeMachine struct {
	host  *fakeHost
	path  string
	guest *fakeGuest

	end   sync.Once
	mu    sync.Mutex
	state hypervisor.State
	bare  string // console text beside the ready line
}

// becomes sets the machine's state and adds to its console.
func (m *fakeMachine) becomes(s hypervisor.State, console string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = s
	m.bare += console
}

func (m *fakeMachine) XML() string                                  { return "<domain/>" }
func (m *fakeMachine) EffectiveXML(context.Context) (string, error) { return "<domain/>", nil }
func (m *fakeMachine) QEMUCommandLine(context.Context) ([]string, error) {
	return []string{"fake"}, nil
}
func (m *fakeMachine) BlockStats(context.Context) (map[string]hypervisor.BlockStats, error) {
	return map[string]hypervisor.BlockStats{}, nil
}

func (m *fakeMachine) DialSSH(context.Context) (net.Conn, error) { return m.guest.dial() }

func (m *fakeMachine) Console(context.Context, int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return []byte("fake kernel\n" + images.Ready + "\n" + m.bare), nil
}

func (m *fakeMachine) Alive(context.Context) (hypervisor.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, nil
}

func (m *fakeMachine) Destroy(context.Context) error {
	m.host.at()
	m.guest.hangUp()
	m.end.Do(func() { close(m.guest.ended) })
	if err := os.Remove(m.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	m.host.at()
	return nil
}

// oem returns a string that a machine is given by its name.
func oem(spec domain.Spec, name string) string {
	for _, s := range spec.OEMStrings {
		if value, ok := strings.CutPrefix(s, name+"="); ok {
			return value
		}
	}
	return ""
}
