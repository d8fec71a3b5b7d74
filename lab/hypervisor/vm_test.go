package hypervisor

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"platter/lab/domain"
)

var vm = flag.Bool("vm", false, "also run the tests that start real virtual machines through libvirt")

// needVM skips a test that needs libvirt, unless -vm says that it is there.
func needVM(t *testing.T) {
	t.Helper()
	if !*vm {
		t.Skip("needs -vm: libvirt, QEMU and root")
	}
}

// openHost opens the user's own hypervisor with a storage directory of its own
// that QEMU's user can reach.
func openHost(t *testing.T, storage string) *Host {
	t.Helper()
	needVM(t)
	level := slog.LevelInfo
	if testing.Verbose() {
		level = slog.LevelDebug
	}
	h, err := Open(t.Context(), Options{StorageDir: storage, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// storageRoot is where a test keeps its images; t.TempDir is closed to others.
func storageRoot(t *testing.T) string {
	t.Helper()
	needVM(t)
	base := "/var/lib/libvirt/images"
	if os.Geteuid() != 0 {
		base = os.Getenv("HOME")
	}
	dir, err := os.MkdirTemp(base, "platter-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// idleKernel is the smallest thing QEMU's Linux loader takes: a boot protocol
// header whose code halts. Machines with it start in a moment and do nothing.
func idleKernel(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "idle-kernel")
	if err := os.WriteFile(path, haltingKernel(), 0o444); err != nil {
		t.Fatal(err)
	}
	return path
}

// haltingKernel is a bzImage of boot protocol 2.02 with one setup sector. Its
// real-mode entry turns interrupts off and halts.
func haltingKernel() []byte {
	image := make([]byte, 4096)
	image[0x1f1] = 1                                    // setup sectors
	image[0x1fe], image[0x1ff] = 0x55, 0xaa             // boot flag
	image[0x200], image[0x201] = 0xeb, 0x62             // jump over the header to 0x264
	copy(image[0x202:], "HdrS")                         // magic
	image[0x206], image[0x207] = 0x02, 0x02             // protocol 2.02
	image[0x211] = 0x01                                 // loaded high
	copy(image[0x264:], []byte{0xfa, 0xf4, 0xeb, 0xfc}) // cli; 1: hlt; jmp 1b
	return image
}

// idleSpec is a machine that halts at once, with the given disks.
func idleSpec(t *testing.T, h *Host, run, name string, disks ...domain.Disk) domain.Spec {
	t.Helper()
	accel, err := h.Accel(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	return domain.Spec{
		Name: name, CPUs: 1, MemoryBytes: 128 << 20, Accel: accel,
		Kernel: idleKernel(t, storageOf(h)), Cmdline: "console=ttyS0",
		Disks: disks, Tag: domain.Tag{Run: run},
	}
}

func storageOf(h *Host) string {
	if err := os.MkdirAll(h.storage, 0o711); err != nil {
		panic(err)
	}
	return h.storage
}

// start starts a machine and destroys it after the test.
func start(t *testing.T, h *Host, s domain.Spec) *Machine {
	t.Helper()
	m, err := h.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := m.Destroy(ctx); err != nil {
			t.Error(err)
		}
	})
	return m
}

func volume(t *testing.T, h *Host, run, name string, size int64) Volume {
	t.Helper()
	v, err := h.CreateVolume(t.Context(), VolumeSpec{Tag: domain.Tag{Run: run}, Name: name, SizeBytes: size})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asUser is the attribute of a command that runs as an unprivileged user.
func asUser(t *testing.T, name string) (*syscall.SysProcAttr, int) {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, uid
}
