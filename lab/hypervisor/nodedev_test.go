package hypervisor

import (
	"encoding/binary"
	"strings"
	"sync/atomic"
	"testing"
)

// Numbers of the node-device calls in libvirt's wire protocol.
const (
	procReattach    = 119
	procDetachFlags = 301
)

// TestNodeDevices takes a function from its driver and gives it back through a daemon that records the calls.
func TestNodeDevices(t *testing.T) {
	var asked atomic.Value
	asked.Store("")
	d := &fakeDaemon{answer: func(_ int32, proc uint32) (uint32, []byte, bool, bool) {
		switch proc {
		case procDetachFlags, procReattach:
			asked.Store(asked.Load().(string) + string(binary.AppendUvarint(nil, uint64(proc))))
			if proc == procReattach {
				return statusError, remoteError(1, "the device is in use by driver QEMU"), true, false
			}
			return statusOK, nil, true, false
		}
		return statusError, remoteError(1, "not expected"), true, false
	}}
	d.serve(t)
	h := unitHost(t, d.path)
	if err := h.Detach(t.Context(), "0000:03:00.0"); err == nil || !strings.Contains(err.Error(), "only qemu:///system") {
		t.Errorf("session mode: %v", err)
	}
	h.addr.mode = SystemMode
	if err := h.Detach(t.Context(), "0000:03:00.0"); err != nil {
		t.Error(err)
	}
	err := h.Reattach(t.Context(), "0000:03:00.0")
	if err == nil || !strings.Contains(err.Error(), "in use by driver QEMU") || !strings.Contains(err.Error(), "virsh nodedev-reattach pci_0000_03_00_0") {
		t.Errorf("reattach: %v", err)
	}
	want := string(binary.AppendUvarint(binary.AppendUvarint(nil, procDetachFlags), procReattach))
	if asked.Load() != want {
		t.Errorf("calls %q, want %q", asked.Load(), want)
	}
}
