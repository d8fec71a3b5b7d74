package agent

import (
	"context"
	"os"
	"strings"
	"time"
)

// driverEvery bounds how often drivers are looked for while a disk is missing.
const driverEvery = 500 * time.Millisecond

// storageAliases are the modaliases of storage devices that have no driver yet. No udev runs in the
// guest, so nobody else loads the driver of a bus other than the root disk's; a controller's driver
// makes new devices (scsi disks) appear, which need theirs in turn.
func (s System) storageAliases() []string {
	var aliases []string
	for _, bus := range []string{"pci", "virtio", "scsi"} {
		dir := "/sys/bus/" + bus + "/devices/"
		for _, name := range s.names(dir) {
			device := dir + name
			if _, err := os.Stat(s.path(device + "/driver")); err == nil {
				continue
			}
			alias := s.text(device + "/modalias")
			if alias != "" && s.isStorage(bus, device, alias) {
				aliases = append(aliases, alias)
			}
		}
	}
	return aliases
}

func (s System) isStorage(bus, device, alias string) bool {
	switch bus {
	case "pci":
		return strings.HasPrefix(s.text(device+"/class"), "0x01") // mass storage controllers
	case "virtio":
		return strings.HasPrefix(alias, "virtio:d00000002") || strings.HasPrefix(alias, "virtio:d00000008") // block, scsi
	}
	return true
}

// driverLoader returns a function that loads the drivers of storage devices that have none. A device
// without any driver in this image stays without one; then its disk is reported missing.
func (t *trial) driverLoader() func(context.Context) {
	var last time.Time
	return func(ctx context.Context) {
		if time.Since(last) < driverEvery {
			return
		}
		last = time.Now()
		if aliases := t.sys.storageAliases(); len(aliases) > 0 {
			t.ex.Run(ctx, append([]string{"modprobe", "--all", "--quiet", "--use-blacklist"}, aliases...)...)
		}
	}
}
