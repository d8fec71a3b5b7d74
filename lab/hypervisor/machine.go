package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/digitalocean/go-libvirt"
	"github.com/google/uuid"

	"platter/lab/domain"
)

// Machine is a running virtual machine. It is safe for concurrent use.
type Machine struct {
	host    *Host
	spec    domain.Spec
	xml     string
	id      libvirt.UUID
	dom     libvirt.Domain
	life    *conn // libvirt destroys the domain when this connection ends
	events  *eventQueue
	targets []domain.Target

	pid      int // of QEMU, 0 when it cannot be seen
	pidStart int64

	mu        sync.Mutex
	destroyed bool
}

func newMachine(h *Host, s domain.Spec, text string) (*Machine, error) {
	id, err := uuid.Parse(s.UUID)
	if err != nil {
		return nil, fmt.Errorf("start machine %s: uuid: %w", s.Name, err)
	}
	targets, err := domain.Targets(s)
	if err != nil {
		return nil, fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	return &Machine{host: h, spec: s, xml: text, id: libvirt.UUID(id), targets: targets}, nil
}

// identity is enough for libvirt to find the domain.
func (m *Machine) identity() libvirt.Domain {
	return libvirt.Domain{Name: m.spec.Name, UUID: m.id, ID: -1}
}

// Name is libvirt's name of the machine.
func (m *Machine) Name() string { return m.spec.Name }

// UUID is libvirt's identity of the machine.
func (m *Machine) UUID() string { return m.spec.UUID }

// Spec is the machine as started, with everything the host filled in.
func (m *Machine) Spec() domain.Spec { return m.spec }

// XML is the domain XML that libvirt was given.
func (m *Machine) XML() string { return m.xml }

// Events are the machine's own, oldest first. The channel holds the last 64 and
// is closed when the machine is gone.
func (m *Machine) Events() <-chan Event { return m.events.ch }

// EffectiveXML is the live domain as libvirt completed it.
func (m *Machine) EffectiveXML(ctx context.Context) (string, error) {
	text, err := ask(ctx, m.host, "DomainGetXMLDesc", queryLimit, func(lv *libvirt.Libvirt) (string, error) {
		return lv.DomainGetXMLDesc(m.dom, 0)
	})
	if err != nil {
		return "", fmt.Errorf("read the XML of machine %s: %w", m.spec.Name, err)
	}
	return text, nil
}

// DialSSH connects to the guest's port 22. That it succeeds does not mean that
// a server answers: QEMU accepts before the guest does.
func (m *Machine) DialSSH(ctx context.Context) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", m.spec.SSHPort))
	if err != nil {
		return nil, fmt.Errorf("reach port 22 of machine %s: %w", m.spec.Name, err)
	}
	return c, nil
}

// State is what a machine does and why.
type State struct {
	Running bool
	Name    string // "running", "paused", "shutdown", "shutoff", "crashed" or "gone"
	Reason  string // for example "ioerror", "destroyed", "crashed"; empty while running
	Disk    string // serial of the disk of the last request that failed, where libvirt told of it
	IOError string // for example "enospc", where libvirt told of it
	// FailedRequests counts what the host could not read or write for the
	// machine. A running machine has passed each on to its guest.
	FailedRequests int
}

// stateNames are libvirt's states with their reasons, by number.
var stateNames = map[libvirt.DomainState]struct{ name, reasons string }{
	libvirt.DomainPaused: {"paused", "unknown user migration save dump ioerror watchdog from_snapshot shutting_down snapshot crashed starting_up postcopy postcopy_failed api_error"},
	// In shutdown QEMU still runs, but the guest does not.
	libvirt.DomainShutdown:    {"shutdown", "unknown user"},
	libvirt.DomainShutoff:     {"shutoff", "unknown shutdown destroyed crashed migrated saved failed from_snapshot daemon"},
	libvirt.DomainCrashed:     {"crashed", "unknown panicked"},
	libvirt.DomainPmsuspended: {"suspended", "unknown"},
}

// Alive asks libvirt for the state of the machine. A machine that is gone is no
// error; its reason is that of the last event.
func (m *Machine) Alive(ctx context.Context) (State, error) {
	type answer struct{ state, reason int32 }
	a, err := ask(ctx, m.host, "DomainGetState", queryLimit, func(lv *libvirt.Libvirt) (answer, error) {
		state, reason, err := lv.DomainGetState(m.dom, 0)
		return answer{state, reason}, err
	})
	last, failed := m.events.ioErrors()
	if gone(err) {
		reason := m.events.lastLifecycle().Reason
		return State{Name: "gone", Reason: or(reason, "unknown"), Disk: last.Disk, IOError: last.Reason, FailedRequests: failed}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("ask for the state of machine %s: %w", m.spec.Name, err)
	}
	s := State{Running: true, Name: "running"}
	if names, known := stateNames[libvirt.DomainState(a.state)]; known {
		s = State{Name: names.name, Reason: word(names.reasons, a.reason)}
	}
	s.Disk, s.IOError, s.FailedRequests = last.Disk, last.Reason, failed
	return s, nil
}

// gone tells whether an error says that there is no such domain.
func gone(err error) bool { return errorCode(err) == libvirt.ErrNoDomain }

// Destroy ends the machine at once, as pulling the plug does, and waits until
// QEMU is gone. A machine that has ended already is done, so a second call does
// nothing.
func (m *Machine) Destroy(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.destroyed {
		return nil
	}
	did, err := m.host.destroyDomain(ctx, m.dom)
	if did {
		// libvirt's own event may still be on its way.
		m.events.put(Event{Time: time.Now(), Kind: Stopped, Reason: "destroyed"})
	}
	m.life.close() // the second way to the same end
	if err != nil && m.killProcess() {
		// libvirt sees that QEMU has ended as soon as it can see anything.
		m.host.log.Warn("libvirt did not destroy a machine, QEMU was killed", "machine", m.spec.Name, "err", err)
		err = nil
	}
	err = errors.Join(err, m.awaitExit(ctx))
	if err != nil {
		return fmt.Errorf("destroy machine %s: %w", m.spec.Name, err)
	}
	m.destroyed = true
	m.host.events.unsubscribe(m.id)
	m.host.mu.Lock()
	delete(m.host.machines, m)
	m.host.mu.Unlock()
	m.removeLog()
	return nil
}

// destroyDomain destroys by identity and tells whether it was there to be
// destroyed; "no such domain" and "not running" are what was wanted.
func (h *Host) destroyDomain(ctx context.Context, dom libvirt.Domain) (did bool, err error) {
	_, err = ask(ctx, h, "DomainDestroyFlags", destroyLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
		return struct{}{}, lv.DomainDestroyFlags(dom, 0)
	})
	if gone(err) || errorCode(err) == libvirt.ErrOperationInvalid {
		return false, nil
	}
	return err == nil, err
}

// serialByAlias tells events, which name disks by alias, whose disk they mean.
func (m *Machine) serialByAlias() map[string]string {
	serials := map[string]string{}
	for _, d := range m.spec.Disks {
		serials["ua-"+d.Serial] = d.Serial
	}
	return serials
}
