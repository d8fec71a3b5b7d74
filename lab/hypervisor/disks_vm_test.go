package hypervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/digitalocean/go-libvirt"

	"platter/lab/domain"
)

// TestEveryDiskOption starts one machine that has a disk for each option, from
// a directory with every character that somebody once forgot to escape (B23),
// and finds each path byte for byte in QEMU's arguments.
func TestEveryDiskOption(t *testing.T) {
	h := openHost(t, filepath.Join(storageRoot(t), `R&D, "q1" <da'ta>`))
	shape := func(serial string, change func(*domain.Disk)) domain.Disk {
		v := volume(t, h, "options", serial, 16<<20)
		d := domain.DataDisk(serial, v.Path, v.SizeBytes)
		change(&d)
		return d
	}
	disks := []domain.Disk{
		shape("queues", func(d *domain.Disk) { d.Queues = 2 }),
		shape("main-loop", func(d *domain.Disk) { d.IOThread = false }),
		shape("writeback", func(d *domain.Disk) { d.Cache, d.IO = domain.CacheWriteback, domain.IOThreads }),
		shape("writethrough", func(d *domain.Disk) { d.Cache, d.IO = domain.CacheWritethrough, domain.IOThreads }),
		shape("directsync", func(d *domain.Disk) { d.Cache = domain.CacheDirectsync }),
		shape("unsafe", func(d *domain.Disk) { d.Cache, d.IO = domain.CacheUnsafe, domain.IOThreads }),
		shape("uring", func(d *domain.Disk) { d.IO = domain.IOUring }),
		shape("ignore", func(d *domain.Disk) { d.Discard, d.DetectZeroes = domain.DiscardIgnore, domain.DetectZeroesOn }),
		shape("unmap", func(d *domain.Disk) { d.DetectZeroes = domain.DetectZeroesUnmap }),
		shape("4kn", func(d *domain.Disk) { d.LogicalBlock, d.PhysicalBlock = 4096, 4096 }),
		shape("512e", func(d *domain.Disk) { d.LogicalBlock, d.PhysicalBlock = 512, 4096 }),
		shape("limits", func(d *domain.Disk) {
			d.Limits = domain.Limits{TotalBytesPerSecond: 1 << 20, BurstTotalBytesPerSecond: 2 << 20, ReadIOPS: 100, BurstReadIOPS: 200, BurstSeconds: 2, IOSizeBytes: 4096}
		}),
		shape("scsi-own", func(d *domain.Disk) {
			d.Bus, d.Queues, d.RotationRate, d.WWN = domain.SCSI, 2, 7200, "5000c500a1b2c3d4"
		}),
		shape("scsi-shared", func(d *domain.Disk) { d.Bus, d.IOThread, d.LogicalBlock = domain.SCSI, false, 4096 }),
		shape("sata-ssd", func(d *domain.Disk) {
			d.Bus, d.IOThread, d.RotationRate = domain.SATA, false, 1
		}),
		shape("nvme-a", func(d *domain.Disk) { d.Bus, d.IOThread, d.LogicalBlock = domain.NVMe, false, 4096 }),
		shape("nvme-b", func(d *domain.Disk) { d.Bus, d.IOThread, d.Limits = domain.NVMe, false, domain.Limits{WriteIOPS: 500} }),
	}
	v, err := h.CreateVolume(t.Context(), VolumeSpec{Tag: domain.Tag{Run: "options"}, Name: "cow", SizeBytes: 16 << 20, Format: domain.QCOW2, Preallocation: PreallocateOff})
	if err != nil {
		t.Fatal(err)
	}
	cow := domain.DataDisk("cow", v.Path, v.SizeBytes)
	cow.Format = domain.QCOW2
	disks = append(disks, cow)
	m := start(t, h, idleSpec(t, h, "options", "platter-test-options", disks...))
	args, err := m.QEMUCommandLine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(args, "\n")
	for _, d := range disks {
		json := strings.ReplaceAll(d.Path, `"`, `\"`)
		doubled := strings.ReplaceAll(d.Path, ",", ",,")
		if !strings.Contains(all, `"filename":"`+json+`"`) && !strings.Contains(all, "file="+doubled+",format=") {
			t.Errorf("disk %s: its path is not in QEMU's arguments", d.Serial)
		}
	}
	stats, err := m.BlockStats(t.Context())
	if err != nil || len(stats) != len(disks) {
		t.Errorf("%d statistics for %d disks, %v", len(stats), len(disks), err)
	}
}

// TestManyDisks is case B27: every number of disks is either accepted, or
// refused with the limit.
func TestManyDisks(t *testing.T) {
	h := openHost(t, storageRoot(t))
	info, err := h.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	many := func(n int) []domain.Disk {
		var disks []domain.Disk
		for i := range n {
			serial := fmt.Sprintf("data%d", i)
			disks = append(disks, domain.DataDisk(serial, filepath.Join(h.RunDir("many"), serial), 16<<20))
		}
		return disks
	}
	for _, n := range []int{1, 5, 24, 32, 70, domain.MaxPCIFunctions} {
		s, err := h.complete(info, idleSpec(t, h, "many", fmt.Sprintf("platter-test-define-%d", n), many(n)...))
		if err != nil {
			t.Fatal(err)
		}
		s.SSHPort = 1
		text, err := domain.Build(s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ask(t.Context(), h, "DomainDefineXMLFlags", queryLimit, func(lv *libvirt.Libvirt) (struct{}, error) {
			dom, err := lv.DomainDefineXMLFlags(text, libvirt.DomainDefineValidate)
			if err != nil {
				return struct{}{}, err
			}
			return struct{}{}, lv.DomainUndefineFlags(dom, 0)
		})
		if err != nil {
			t.Errorf("define with %d disks: %v", n, err)
		}
	}
	_, err = h.Start(t.Context(), idleSpec(t, h, "many", "platter-test-too-many", many(domain.MaxPCIFunctions+1)...))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("a machine has room for %d", domain.MaxPCIFunctions)) {
		t.Errorf("one disk too many: %v", err)
	}
	for _, n := range []int{24, 70} {
		for i := range n {
			name := fmt.Sprintf("data%d", i)
			if _, err := os.Stat(filepath.Join(h.RunDir("many"), name)); err != nil {
				volume(t, h, "many", name, 16<<20)
			}
		}
		begin := time.Now()
		m := start(t, h, idleSpec(t, h, "many", fmt.Sprintf("platter-test-%d", n), many(n)...))
		awaitConsole(t, m, "hello")
		t.Logf("%d disks: first word of the guest after %s", n, time.Since(begin))
		if stats, err := m.BlockStats(t.Context()); err != nil || len(stats) != n {
			t.Errorf("%d statistics for %d disks, %v", len(stats), n, err)
		}
		if err := m.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestSharedImage: two machines use one read-only image at once, and neither
// its owner nor its mode has changed afterwards (B19).
func TestSharedImage(t *testing.T) {
	h := openHost(t, storageRoot(t))
	content := make([]byte, 1<<20)
	path, err := h.Stage(t.Context(), "root.squashfs", digestOf(content), func() (io.ReadCloser, error) { return zeroes(len(content)), nil })
	if err != nil {
		t.Fatal(err)
	}
	before := statOf(t, path)
	first := start(t, h, idleSpec(t, h, "shared", "platter-test-a", domain.ImageDisk("root", path)))
	second := start(t, h, idleSpec(t, h, "shared", "platter-test-b", domain.ImageDisk("root", path)))
	if first.Spec().SSHPort == second.Spec().SSHPort {
		t.Error("both machines have the same port")
	}
	for _, m := range []*Machine{first, second} {
		if err := m.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if after := statOf(t, path); after != before {
		t.Errorf("the image was %s and is %s", before, after)
	}
}

func statOf(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("uid %d gid %d mode %v", st.Uid, st.Gid, info.Mode())
}

// TestImageInUse is case B11: an image that a QEMU outside of libvirt has open
// stops the start with one line, and nothing is left.
func TestImageInUse(t *testing.T) {
	h := openHost(t, storageRoot(t))
	v := volume(t, h, "locked", "data0", 16<<20)
	ctx, cancel := context.WithCancel(t.Context())
	qemu := exec.CommandContext(ctx, "qemu-system-x86_64", "-S", "-display", "none", "-nodefaults", "-accel", "tcg",
		"-drive", "if=none,id=d,format=raw,file="+v.Path, "-device", "virtio-blk-pci,drive=d")
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); qemu.Wait() })
	disk := domain.DataDisk("data0", v.Path, v.SizeBytes)
	for range 100 {
		if checkLocks(domain.Spec{Disks: []domain.Disk{disk}}) != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	_, err := h.Start(t.Context(), idleSpec(t, h, "locked", "platter-test-locked", disk))
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Path != v.Path {
		t.Fatalf("error is %v", err)
	}
	want := fmt.Sprintf("start machine platter-test-locked: use %s: it is open in qemu-system-x86_64 (process %d); stop that first or use another image", v.Path, qemu.Process.Pid)
	if err.Error() != want {
		t.Errorf("message is\n%s, want\n%s", err, want)
	}
	// The same, where the lock is taken between the check and the start.
	info, err := h.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.complete(info, idleSpec(t, h, "locked", "platter-test-locked", disk))
	if err != nil {
		t.Fatal(err)
	}
	s.SSHPort, err = freePort()
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.startOnce(t.Context(), s)
	var failed *StartError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), `Failed to get "write" lock`) || strings.Contains(err.Error(), "\n") {
		t.Errorf("QEMU's own refusal: %v", err)
	}
	noDomain(t, h, "platter-test-locked")
	if names := strings.Join(filesIn(t, h.RunDir("locked")), " "); !strings.HasPrefix(names, "data0 owner.json") {
		t.Errorf("the run holds %q", names)
	}
}

// noDomain makes sure that libvirt has no domain of that name.
func noDomain(t *testing.T, h *Host, name string) {
	t.Helper()
	_, err := ask(context.Background(), h, "DomainLookupByName", queryLimit, func(lv *libvirt.Libvirt) (libvirt.Domain, error) {
		return lv.DomainLookupByName(name)
	})
	if !gone(err) {
		t.Errorf("domain %s is still there (%v)", name, err)
	}
}
