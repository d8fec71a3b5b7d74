package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"platter/lab/hypervisor"
	"platter/lab/planner"
)

// hostFlags choose the hypervisor; every command that talks to one has them.
func hostFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "connect", Usage: "libvirt `URI`; default: LIBVIRT_DEFAULT_URI, else qemu:///system as root and qemu:///session otherwise"},
		&cli.StringFlag{Name: "storage-dir", Usage: "`DIRECTORY` for volumes and staged images; default: libvirt's own place"},
	}
}

// openHost connects to the hypervisor the flags choose; the caller closes it.
func openHost(ctx context.Context, c *cli.Context) (*hypervisor.Host, error) {
	return hypervisor.Open(ctx, hypervisor.Options{URI: c.String("connect"), StorageDir: c.String("storage-dir"), Log: logger(c)})
}

// askHost brings what a plan must know of the host.
func askHost(c *cli.Context) (planner.Host, error) {
	h, err := openHost(c.Context, c)
	if err != nil {
		return planner.Host{}, err
	}
	defer h.Close()
	return hostFacts(c.Context, h)
}

// hostFacts turns a hypervisor's answers into plain values.
func hostFacts(ctx context.Context, h *hypervisor.Host) (planner.Host, error) {
	info, err := h.Info(ctx)
	if err != nil {
		return planner.Host{}, err
	}
	probe, err := h.Probe(ctx)
	if err != nil {
		return planner.Host{}, fmt.Errorf("probe the storage directory: %w", err)
	}
	return planner.Host{
		Arch: info.Arch, KVM: info.KVM, KVMReason: info.KVMReason, CPUs: info.CPUs, MaxVCPUs: info.MaxVCPUs,
		MemoryBytes: info.AvailableMemoryBytes, StorageDir: h.StorageDir(), FreeBytes: probe.FreeBytes,
		DirectIO: &probe.DirectIO, DirectIOReason: probe.DirectIOReason,
	}, nil
}
