package hypervisor

import (
	"context"
	"fmt"
	"strings"

	"github.com/digitalocean/go-libvirt"
)

// Detach takes a PCI function of the host, for example 0000:03:00.0, from its driver and gives it to vfio-pci. Whoever
// calls it has made sure that nothing uses the device: libvirt does not ask. Only system mode can.
func (h *Host) Detach(ctx context.Context, address string) error {
	if h.addr.mode != SystemMode {
		return fmt.Errorf("detach %s: only qemu:///system can take a device from its driver; run as root, or hand the disk over with attach: block", address)
	}
	if _, err := ask(ctx, h, "NodeDeviceDetachFlags", createLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
		return struct{}{}, lv.NodeDeviceDetachFlags(nodeName(address), libvirt.OptString{"vfio"}, 0)
	}); err != nil {
		return fmt.Errorf("detach %s: %w", address, err)
	}
	return nil
}

// Reattach gives a PCI function back to the host's own driver.
func (h *Host) Reattach(ctx context.Context, address string) error {
	if _, err := ask(ctx, h, "NodeDeviceReAttach", createLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
		return struct{}{}, lv.NodeDeviceReAttach(nodeName(address))
	}); err != nil {
		return fmt.Errorf("give %s back to its driver: %w; try: virsh nodedev-reattach %s", address, err, nodeName(address))
	}
	return nil
}

// nodeName is libvirt's name of a PCI function: 0000:03:00.0 is pci_0000_03_00_0.
func nodeName(address string) string {
	return "pci_" + strings.NewReplacer(":", "_", ".", "_").Replace(address)
}
