package hypervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// TestAccess is case B19: the first directory that stops QEMU's user is named,
// with two ways out.
func TestAccess(t *testing.T) {
	base, err := os.MkdirTemp("", "access")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	closed := filepath.Join(base, "open", "closed")
	if err := errors.Join(os.Chmod(base, 0o711), os.MkdirAll(filepath.Join(closed, "deeper"), 0o755), os.Chmod(closed, 0o700),
		os.WriteFile(filepath.Join(base, "secret"), nil, 0o600), os.WriteFile(filepath.Join(base, "public"), nil, 0o444)); err != nil {
		t.Fatal(err)
	}
	who := qemuUser{uid: 64055, gid: 64055}
	if err := who.enter(t.Context(), filepath.Join(base, "public")); err != nil {
		t.Errorf("a reachable file: %v", err)
	}
	if err := who.read(t.Context(), filepath.Join(base, "public")); err != nil {
		t.Errorf("a readable file: %v", err)
	}
	var e *AccessError
	image := filepath.Join(closed, "deeper", "disk.raw")
	if err := who.enter(t.Context(), image); !errors.As(err, &e) || e.Block != closed || e.Path != image {
		t.Fatalf("error is %v, want one about %s", err, closed)
	}
	for _, part := range []string{"(uid 64055), which may not enter " + closed, "/var/lib/libvirt/images", `setfacl -m u:64055:x "` + closed} {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("message %q lacks %q", e, part)
		}
	}
	secret := filepath.Join(base, "secret")
	if err := who.read(t.Context(), secret); !errors.As(err, &e) || e.Block != secret {
		t.Errorf("error is %v, want one about %s", err, secret)
	}
	owner := qemuUser{uid: os.Geteuid(), gid: os.Getegid()}
	if err := errors.Join(owner.enter(t.Context(), image), owner.read(t.Context(), secret)); err != nil {
		t.Errorf("the owner is stopped: %v", err)
	}
}

// TestImageLock is case B11 without a QEMU: the locks it takes are seen.
func TestImageLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data0")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	data := domain.DataDisk("data0", path, 4096)
	image := domain.ImageDisk("root", path)
	if err := checkLocks(domain.Spec{Disks: []domain.Disk{data}}); err != nil {
		t.Fatalf("a free image: %v", err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	// As QEMU does for "consistent read".
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: unix.SEEK_SET, Start: 100, Len: 1}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if err := checkLocks(domain.Spec{Disks: []domain.Disk{data}}); !errors.As(err, &locked) || locked.Path != path {
		t.Errorf("error is %v", err)
	}
	if err := checkLocks(domain.Spec{Disks: []domain.Disk{image}}); err != nil {
		t.Errorf("a shared read-only image: %v", err)
	}
	missing := domain.DataDisk("data0", path+".none", 4096)
	if err := checkLocks(domain.Spec{Disks: []domain.Disk{missing}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing image: %v", err)
	}
}
