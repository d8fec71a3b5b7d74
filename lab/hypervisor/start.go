package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/go-libvirt"
	"github.com/google/uuid"

	"platter/lab/domain"
)

// ErrPortTaken is the cause of a StartError when the forwarded port was in use.
var ErrPortTaken = errors.New("the forwarded port is in use")

// portAttempts is how many free ports are tried: between our test and QEMU's
// bind somebody else may take one.
const portAttempts = 5

// StartError says that a machine could not be started. Nothing of it is left
// but its volumes.
type StartError struct {
	Name string
	XML  string // what libvirt was given, empty when it never got that far
	Err  error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start machine %s: %v", e.Name, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// Start runs a machine. What the Spec leaves empty of Emulator, MachineType,
// Arch, LibvirtVersion, UUID, SSHPort and ConsolePath, and the owner in its Tag,
// is filled in from the host; Machine.Spec shows the outcome. The machine ends
// with its Destroy, with Host.Close, and with this process, whatever ends that.
//
// The error is a domain.Faults when the Spec is not valid, an *AccessError or a
// *LockedError for files QEMU could not use, else a *StartError.
func (h *Host) Start(ctx context.Context, s domain.Spec) (*Machine, error) {
	info, err := h.Info(ctx)
	if err != nil {
		return nil, err
	}
	chosen := s.SSHPort == 0
	if s, err = h.complete(info, s); err != nil {
		return nil, err
	}
	if err := h.prepare(ctx, info, s); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		if chosen {
			if s.SSHPort, err = freePort(); err != nil {
				return nil, &StartError{Name: s.Name, Err: err}
			}
		}
		m, err := h.startOnce(ctx, s)
		if err == nil {
			return m, nil
		}
		if !chosen || attempt == portAttempts || !errors.Is(err, ErrPortTaken) {
			return nil, err
		}
		h.log.Warn("the port was taken meanwhile, trying another", "machine", s.Name, "port", s.SSHPort)
	}
}

// complete fills in what the host decides.
func (h *Host) complete(info Info, s domain.Spec) (domain.Spec, error) {
	s.Emulator = or(s.Emulator, info.Emulator)
	s.MachineType = or(s.MachineType, info.MachineType)
	s.Arch = or(s.Arch, info.Arch)
	if s.LibvirtVersion == 0 {
		s.LibvirtVersion = info.LibvirtVersion
	}
	s.UUID = or(s.UUID, uuid.NewString())
	var err error
	if s.Tag, err = ownTag(s.Tag); err != nil {
		return s, err
	}
	s.ConsolePath = or(s.ConsolePath, filepath.Join(h.RunDir(s.Tag.Run), s.Name+".console"))
	s.Disks = slices.Clone(s.Disks)
	for i := range s.Disks {
		s.Disks[i].KeepOwner = s.Disks[i].KeepOwner && info.DAC
	}
	check := s
	if check.SSHPort == 0 {
		check.SSHPort = 1 // chosen later
	}
	if err := check.Validate(); err != nil {
		return s, fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	if s.Accel == domain.KVM && !info.KVM {
		return s, fmt.Errorf("start machine %s: accelerator kvm: %s", s.Name, info.KVMReason)
	}
	if s.CPUs > info.MaxVCPUs && info.MaxVCPUs > 0 {
		return s, fmt.Errorf("start machine %s: %d CPUs, a machine on this host can have %d", s.Name, s.CPUs, info.MaxVCPUs)
	}
	return s, nil
}

func or(text, fallback string) string {
	if text != "" {
		return text
	}
	return fallback
}

// prepare checks what would otherwise fail half-way, and sees to what QEMU finds in the volumes.
func (h *Host) prepare(ctx context.Context, info Info, s domain.Spec) error {
	if _, err := h.ensureRun(s.Tag); err != nil {
		return err
	}
	if err := h.checkAccess(ctx, info, s); err != nil {
		return fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	if err := checkLocks(s); err != nil {
		return fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	if err := h.settleVolumes(s); err != nil {
		return fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	return h.ensureLogging(ctx)
}

// startOnce makes the domain on a connection of its own, whose end is the
// machine's end.
func (h *Host) startOnce(ctx context.Context, s domain.Spec) (*Machine, error) {
	text, err := domain.Build(s)
	if err != nil {
		return nil, fmt.Errorf("start machine %s: %w", s.Name, err)
	}
	m, err := newMachine(h, s, text)
	if err != nil {
		return nil, err
	}
	if m.life, err = h.dialOrStart(ctx); err != nil {
		return nil, err
	}
	if m.events, err = h.events.subscribe(ctx, m.id, m.serialByAlias()); err != nil {
		m.life.close()
		return nil, err
	}
	begin := time.Now()
	err = h.create(ctx, m)
	if err != nil {
		h.abandon(ctx, m)
		return nil, &StartError{Name: s.Name, XML: text, Err: m.explain(portError(err, s.SSHPort))}
	}
	if err := m.findProcess(); err != nil {
		h.log.Warn("QEMU's process is not visible", "machine", s.Name, "err", err)
	}
	h.mu.Lock()
	h.machines[m] = struct{}{}
	h.mu.Unlock()
	h.log.Debug("started a machine", "machine", s.Name, "port", s.SSHPort, "took", time.Since(begin))
	return m, nil
}

// create makes the domain of a machine. When ctx ends meanwhile, libvirt would
// go on with what it was told, and autodestroy would follow only later: so the
// machine is destroyed over and over until the call is answered.
func (h *Host) create(ctx context.Context, m *Machine) error {
	background := context.WithoutCancel(ctx)
	answer := make(chan error, 1)
	go func() {
		var err error
		m.dom, err = call(background, m.life, "DomainCreateXML", createLimit, func(lv *libvirt.Libvirt) (libvirt.Domain, error) {
			// Validated, since libvirt drops without a word what it does not know.
			return lv.DomainCreateXML(m.xml, libvirt.DomainStartAutodestroy|libvirt.DomainStartValidate)
		})
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	limit := time.After(destroyLimit)
	for {
		if _, err := h.destroyDomain(background, m.identity()); err != nil {
			h.log.Debug("destroy a machine that is being made", "machine", m.spec.Name, "err", err)
		}
		select {
		case <-answer:
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		case <-limit:
			return fmt.Errorf("%w, and libvirt does not say whether it made the machine", ctx.Err())
		}
	}
}

// abandon ends a machine that may or may not have come to life: the answer may
// have been lost on the way.
func (h *Host) abandon(ctx context.Context, m *Machine) {
	m.life.close()
	h.events.unsubscribe(m.id)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), destroyLimit)
	defer cancel()
	if _, err := h.destroyDomain(ctx, m.identity()); err != nil {
		h.log.Warn("could not make sure that a failed machine is gone", "machine", m.spec.Name, "err", err)
	}
	if h.nameFree(ctx, m.spec.Name) { // else the log is that of another machine
		m.removeLog()
	}
}

// nameFree tells whether no domain has a name.
func (h *Host) nameFree(ctx context.Context, name string) bool {
	_, err := ask(ctx, h, "DomainLookupByName", queryLimit, func(lv *libvirt.Libvirt) (libvirt.Domain, error) {
		return lv.DomainLookupByName(name)
	})
	return gone(err)
}

// portError tells a taken port from other failures. QEMU has only words for
// it, so the port is also tried again.
func portError(err error, port int) error {
	if strings.Contains(err.Error(), "Could not set up host forwarding rule") || portTaken(port) {
		return fmt.Errorf("%w: 127.0.0.1:%d: %w", ErrPortTaken, port, err)
	}
	return err
}

// explain adds what can be done about errors whose cause does not show.
func (m *Machine) explain(err error) error {
	hidden := false
	for _, t := range m.targets {
		hidden = hidden || t.CommandLine
	}
	if hidden && strings.Contains(err.Error(), "Permission denied") {
		return fmt.Errorf("%w; AppArmor or SELinux may not know of NVMe disks before libvirt 11.5: allow %s/** in /etc/apparmor.d/local/abstractions/libvirt-qemu, or use bus virtio or scsi", err, m.host.storage)
	}
	return err
}

// freePort asks the kernel for a loopback port nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func portTaken(port int) bool {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return true
	}
	l.Close()
	return false
}
