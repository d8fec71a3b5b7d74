package hypervisor

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab/domain"
	"platter/lab/remote"
)

// guest boots the root image with disks and logs in. The root disk comes last, as it may on any machine: nobody takes the
// first disk for it (B05).
func guest(t *testing.T, h *Host, name string, disks []domain.Disk) (*Machine, *remote.Client) {
	t.Helper()
	store, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := images.Lookup("root")
	if err != nil {
		t.Fatal(err)
	}
	image, err := store.Ensure(t.Context(), recipe, images.Options{Arch: "amd64"}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	stage := func(path string) string {
		output := image.Manifest.Outputs[filepath.Base(path)]
		staged, err := h.Stage(t.Context(), filepath.Base(path), output.SHA256, func() (io.ReadCloser, error) { return os.Open(path) })
		if err != nil {
			t.Fatal(err)
		}
		return staged
	}
	keys, err := remote.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	s := idleSpec(t, h, "guest", name, append(slices.Clone(disks), domain.ImageDisk(images.RootSerial, stage(image.Root())))...)
	s.MemoryBytes = 512 << 20
	s.Kernel, s.Initramfs, s.Cmdline = stage(image.Kernel()), stage(image.Initramfs()), images.Cmdline()+" norandmaps"
	s.OEMStrings = []string{
		"platter.authorized_key=" + keys.AuthorizedKey(),
		"platter.host_key=" + base64.StdEncoding.EncodeToString(keys.HostPrivatePEM()),
		"platter.token=" + name,
	}
	m := start(t, h, s)
	awaitConsole(t, m, images.Ready)
	login := remote.NewLogin(remote.Target{Dial: m.DialSSH, Keys: keys, Token: name, Name: name})
	t.Cleanup(func() { login.Close() })
	if err := remote.Await(t.Context(), login.Requirements(), remote.Options{Scale: 20}); err != nil {
		t.Fatal(err)
	}
	client := login.Client()
	t.Cleanup(func() { client.Close() })
	return m, client
}

func shell(t *testing.T, c *remote.Client, script string) string {
	t.Helper()
	out, err := c.Output(t.Context(), "sh", "-c", script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}

// listDisks prints serial, size in sectors and logical block size of each disk
// the guest has, on whatever bus.
const listDisks = `modprobe -a virtio_scsi sd_mod ahci nvme; sleep 3
for d in /sys/block/*; do
	s=$(cat $d/serial 2>/dev/null || cat $d/device/serial 2>/dev/null || tail -c +5 $d/device/vpd_pg80 2>/dev/null) || continue
	echo $s $(cat $d/size) $(cat $d/queue/logical_block_size) ${d##*/}
done`

// seen is what the guest says of its disks, by serial.
func seen(t *testing.T, c *remote.Client) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for line := range strings.Lines(shell(t, c, listDisks)) {
		fields := strings.Fields(line)
		if len(fields) != 4 {
			continue
		}
		if _, twice := found[fields[0]]; twice {
			t.Errorf("two disks have serial %s", fields[0])
		}
		found[fields[0]] = fields[1:]
	}
	return found
}

// TestGuestFindsDisks is kind K01 with a real guest: disks of every bus, 24 data
// disks in all, each found by its serial with its size, also after their order
// was turned around (B01, B02, B03).
func TestGuestFindsDisks(t *testing.T) {
	h := openHost(t, storageRoot(t))
	var disks []domain.Disk
	for i := range 24 {
		serial := fmt.Sprintf("data-volume-%08d", i) // all of the 20 bytes
		v := volume(t, h, "guest", serial, int64(64+i)<<20)
		d := domain.DataDisk(serial, v.Path, v.SizeBytes)
		switch i {
		case 1, 2:
			d.Bus, d.Queues = domain.SCSI, 2
		case 3:
			d.Bus, d.IOThread, d.LogicalBlock = domain.SCSI, false, 4096
		case 4:
			d.Bus, d.IOThread, d.RotationRate = domain.SATA, false, 7200
		case 5, 6:
			d.Bus, d.IOThread, d.LogicalBlock = domain.NVMe, false, 4096
		case 7:
			d.LogicalBlock, d.PhysicalBlock = 4096, 4096
		}
		disks = append(disks, d)
	}
	// A raw disk whose content begins like a qcow2 image is still raw, for its format is declared (B24).
	if out, err := exec.Command("qemu-img", "create", "-q", "-f", "qcow2", "-o", "cluster_size=64k", disks[9].Path+".head", "1G").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	head, err := os.ReadFile(disks[9].Path + ".head")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeAt(disks[9].Path, head[:64<<10]), os.Remove(disks[9].Path+".head")); err != nil {
		t.Fatal(err)
	}
	marked, counted := disks[5].Serial, disks[8].Serial
	var letters [2]string
	for boot := range 2 {
		m, c := guest(t, h, fmt.Sprintf("platter-test-guest-%d", boot), disks)
		found := seen(t, c)
		for _, d := range disks {
			want := fmt.Sprintf("%d %d", d.SizeBytes/512, max(d.LogicalBlock, 512))
			got := found[d.Serial]
			if len(got) != 3 || strings.Join(got[:2], " ") != want {
				t.Errorf("boot %d: disk %s on %s is %q in the guest, want sectors and block size %s", boot, d.Serial, d.Bus, got, want)
			}
		}
		if t.Failed() {
			return
		}
		letters[boot] = found[counted][2]
		device := "/dev/" + found[marked][2]
		if boot == 0 {
			shell(t, c, fmt.Sprintf("printf %s | dd of=%s bs=4096 count=1 conv=sync,fsync 2>/dev/null", marked, device))
		} else if got := shell(t, c, fmt.Sprintf("head -c %d %s", len(marked), device)); got != marked {
			t.Errorf("disk %s holds %q", marked, got)
		}
		countWrites(t, m, c, counted, found)
		if err := m.Destroy(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(disks)
	}
	t.Logf("disk %s was %s, then %s", counted, letters[0], letters[1])
}

// writeAt replaces the beginning of a file that is there.
func writeAt(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// countWrites compares what the guest flushed with what QEMU counted.
func countWrites(t *testing.T, m *Machine, c *remote.Client, serial string, found map[string][]string) {
	t.Helper()
	before, err := m.BlockStats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shell(t, c, fmt.Sprintf("dd if=/dev/zero of=/dev/%s bs=64k count=16 oflag=direct conv=fsync 2>/dev/null", found[serial][2]))
	after, err := m.BlockStats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, a := before[serial], after[serial]
	if a.WriteBytes-b.WriteBytes != 1<<20 || a.FlushRequests == b.FlushRequests || a.WriteTimeNs == b.WriteTimeNs {
		t.Errorf("disk %s: %+v, then %+v after writing and flushing 1 MiB", serial, b, a)
	}
}

// TestHostDiskFull: a host file system without space stops the machine, which
// says so, instead of giving the guest an error.
func TestHostDiskFull(t *testing.T) {
	h := openHost(t, storageRoot(t))
	small := filepath.Join(h.storage, "small")
	if err := errors.Join(os.MkdirAll(small, 0o711), syscall.Mount("tmpfs", small, "tmpfs", 0, "size=32m,mode=711")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	image := filepath.Join(small, "full")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 64<<20)); err != nil {
		t.Fatal(err)
	}
	probe, err := probeDir(small)
	if err != nil {
		t.Fatal(err)
	}
	disk := domain.DataDisk("full", image, 64<<20)
	mode, err := ResolveCache(CacheMode{Cache: Auto}, probe) // tmpfs: B28
	if err != nil {
		t.Fatal(err)
	}
	disk.Cache, disk.IO = mode.Cache, mode.IO
	m, c := guest(t, h, "platter-test-full", []domain.Disk{disk})
	device := seen(t, c)["full"][2]
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() {
		written <- c.Run(ctx, []string{"dd", "if=/dev/urandom", "of=/dev/" + device, "bs=1M"}, nil, io.Discard, io.Discard)
	}()
	t.Cleanup(func() { cancel(); <-written })
	for range 600 {
		state, err := m.Alive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !state.Running {
			if state.Name != "paused" || state.Reason != "ioerror" {
				t.Errorf("state %+v", state)
			}
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := m.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := ""
	for e := range m.Events() {
		told += fmt.Sprintf("%s:%s:%s ", e.Kind, e.Reason, e.Disk)
	}
	if !strings.Contains(told, "io_error:enospc:full ") {
		t.Errorf("events are %s", strconv.Quote(told))
	}
}
