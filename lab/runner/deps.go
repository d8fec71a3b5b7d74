package runner

import (
	"context"
	"io"
	"net"

	"platter/images"
	"platter/lab/domain"
	"platter/lab/hypervisor"
)

// Host is what the runner needs of a hypervisor's host. The one in use is NewHost; tests bring their own.
type Host interface {
	Info(ctx context.Context) (hypervisor.Info, error)
	Accel(ctx context.Context, policy string) (domain.Accel, error)
	Stage(ctx context.Context, name, sha256 string, open func() (io.ReadCloser, error)) (string, error)
	CreateVolume(ctx context.Context, spec hypervisor.VolumeSpec) (hypervisor.Volume, error)
	RemoveVolume(v hypervisor.Volume) error
	RemoveRun(run string) error
	Start(ctx context.Context, spec domain.Spec) (Machine, error)
}

// Machine is a running virtual machine as the runner uses it.
type Machine interface {
	XML() string
	EffectiveXML(ctx context.Context) (string, error)
	QEMUCommandLine(ctx context.Context) ([]string, error)
	DialSSH(ctx context.Context) (net.Conn, error)
	Console(ctx context.Context, maxBytes int64) ([]byte, error)
	Alive(ctx context.Context) (hypervisor.State, error)
	BlockStats(ctx context.Context) (map[string]hypervisor.BlockStats, error)
	Destroy(ctx context.Context) error
}

// Images gives the images of the catalogue, building what is not there. Say receives a line for people.
type Images interface {
	Ensure(ctx context.Context, name string, say func(string)) (images.Image, error)
}

// NewHost makes an open hypervisor connection usable by the runner.
func NewHost(h *hypervisor.Host) Host { return host{h} }

type host struct{ *hypervisor.Host }

func (h host) Start(ctx context.Context, spec domain.Spec) (Machine, error) {
	m, err := h.Host.Start(ctx, spec)
	if err != nil {
		return nil, err // a nil *hypervisor.Machine must not become a non-nil Machine
	}
	return m, nil
}
