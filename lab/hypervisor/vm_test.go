package hypervisor

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"platter/lab/domain"
)

var vm = flag.Bool("vm", false, "also run the tests that start real virtual machines through libvirt")

// needVM skips a test that needs libvirt, unless -vm says that it is there.
func needVM(t testing.TB) {
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
func storageRoot(t testing.TB) string {
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

// bootCode is a kernel for QEMU's Linux loader that prints a text on the serial
// console and then halts or turns the machine off. Machines with it start in a
// moment and need no image.
func bootCode(text string, powerOff bool) []byte {
	image := make([]byte, 4096)
	image[0x1f1] = 1                        // setup sectors
	image[0x1fe], image[0x1ff] = 0x55, 0xaa // boot flag
	image[0x200], image[0x201] = 0xeb, 0x62 // jump over the header to 0x264
	copy(image[0x202:], "HdrS")             // magic
	image[0x206], image[0x207] = 0x02, 0x02 // boot protocol 2.02
	image[0x211] = 0x01                     // loaded high
	code := []byte{0xfa, 0xba, 0xf8, 0x03}  // cli; mov dx, 0x3f8
	for _, c := range []byte(text) {
		code = append(code, 0xb0, c, 0xee) // mov al, c; out dx, al
	}
	if powerOff {
		// Sleep state 5 through the ACPI register of q35: mov dx, 0x604; mov ax, 0x2000; out dx, ax
		code = append(code, 0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef)
	}
	code = append(code, 0xf4, 0xeb, 0xfd) // 1: hlt; jmp 1b
	copy(image[0x264:], code)
	return image
}

// stageKernel puts boot code where QEMU reads it.
func stageKernel(t *testing.T, h *Host, code []byte) string {
	t.Helper()
	path, err := h.Stage(t.Context(), "kernel", digestOf(code), func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(code)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
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
		Kernel: stageKernel(t, h, bootCode("hello\n", false)), Cmdline: "console=ttyS0",
		Disks: disks, Tag: domain.Tag{Run: run},
	}
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

// zeroes is an image of nothing.
func zeroes(n int) io.ReadCloser { return io.NopCloser(bytes.NewReader(make([]byte, n))) }
