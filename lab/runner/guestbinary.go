package runner

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
)

// guestBinary is the static binary that every trial uploads.
type guestBinary struct {
	path string
	size int64
}

// FindGuestBinary looks for the guest binary of an architecture in libvirt's words (x86_64, aarch64): first where
// PLATTER_GUEST points, then beside the running binary.
func FindGuestBinary(arch string) (string, error) {
	if path := os.Getenv("PLATTER_GUEST"); path != "" {
		return path, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the guest binary: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", fmt.Errorf("find the guest binary: %w", err)
	}
	name := map[string]string{"x86_64": "platter-guest-amd64", "aarch64": "platter-guest-arm64"}[arch]
	if name == "" {
		return "", fmt.Errorf("find the guest binary: no guest binary is made for %s machines", arch)
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the guest binary: %w; run `make build`, which puts it beside platter, or set PLATTER_GUEST", err)
	}
	return path, nil
}

func readGuestBinary(find func(string) (string, error), arch string) (guestBinary, error) {
	path, err := find(arch)
	if err != nil {
		return guestBinary{}, err
	}
	file, err := elf.Open(path)
	if err != nil {
		return guestBinary{}, fmt.Errorf("read the guest binary %s: %w", path, err)
	}
	defer file.Close()
	want := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64}[arch]
	if file.Machine != want {
		return guestBinary{}, fmt.Errorf("the guest binary %s is built for %s, the machine is %s; run `make build`", path, file.Machine, arch)
	}
	info, err := os.Stat(path)
	if err != nil {
		return guestBinary{}, fmt.Errorf("read the guest binary: %w", err)
	}
	return guestBinary{path: path, size: info.Size()}, nil
}
