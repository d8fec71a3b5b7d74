package runner

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"platter/lab/blockdev"
)

// fakeDevices is a node-device API over a made-up sysfs with one function.
type fakeDevices struct {
	files   fstest.MapFS
	calls   []string
	stuck   bool   // detaching leaves the device without any driver
	refuse  string // the call that fails
	restore string // what re-attaching binds
}

const driverLink = "sys/bus/pci/devices/0000:03:00.0/driver"

func (f *fakeDevices) bind(driver string) {
	f.files[driverLink] = &fstest.MapFile{Data: []byte("../../drivers/" + driver), Mode: fs.ModeSymlink | 0o777}
}

func (f *fakeDevices) Detach(_ context.Context, address string) error {
	f.calls = append(f.calls, "detach "+address)
	if f.refuse == "detach" {
		return errors.New("refused")
	}
	delete(f.files, driverLink)
	if !f.stuck {
		f.bind("vfio-pci")
	}
	return nil
}

func (f *fakeDevices) Reattach(_ context.Context, address string) error {
	f.calls = append(f.calls, "reattach "+address)
	if f.refuse == "reattach" {
		return errors.New("refused")
	}
	f.bind(f.restore)
	return nil
}

// TestController: a function goes to vfio-pci and comes back to the driver it had, also when taking it fails half-way.
func TestController(t *testing.T) {
	const there, back = "detach 0000:03:00.0", "reattach 0000:03:00.0"
	for name, c := range map[string]struct {
		driver         string
		devices        fakeDevices
		take, giveBack string // what the errors say
		calls          []string
		end            string // driver at the end
	}{
		"there and back":       {driver: "nvme", devices: fakeDevices{restore: "nvme"}, calls: []string{there, back}, end: "nvme"},
		"refused":              {driver: "nvme", devices: fakeDevices{refuse: "detach"}, take: "refused", calls: []string{there}, end: "nvme"},
		"half-way":             {driver: "nvme", devices: fakeDevices{stuck: true, restore: "nvme"}, take: `bound to driver "", not to "vfio-pci"`, calls: []string{there, back}, end: "nvme"},
		"another driver after": {driver: "nvme", devices: fakeDevices{restore: "other"}, giveBack: `bound to driver "other", not to "nvme"; bind it with: echo 0000:03:00.0 > /sys/bus/pci/drivers/nvme/bind`, calls: []string{there, back}, end: "other"},
		"not given back":       {driver: "nvme", devices: fakeDevices{refuse: "reattach"}, giveBack: "refused", calls: []string{there, back}, end: "vfio-pci"},
		"somebody else's":      {driver: "vfio-pci", take: "in the hands of vfio-pci already", end: "vfio-pci"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &c.devices
			f.files = fstest.MapFS{}
			f.bind(c.driver)
			d := &controller{devices: f, host: blockdev.Host{FS: f.files}, address: "0000:03:00.0"}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			check(t, d.take(ctx), c.take)
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			check(t, d.giveBack(ctx), c.giveBack)
			if !slices.Equal(f.calls, c.calls) {
				t.Errorf("calls %q, want %q", f.calls, c.calls)
			}
			if got := d.host.Driver(d.address); got != c.end {
				t.Errorf("driver %q at the end, want %q", got, c.end)
			}
		})
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
