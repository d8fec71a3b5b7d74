package hypervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Probe is what a directory can do for a disk image, found by doing it.
type Probe struct {
	DirectIO         bool // reads and writes past the page cache
	DirectAlignBytes int  // their smallest unit, 512 or 4096; 0 without DirectIO
	DirectIOReason   string
	IOURing          bool // the host lets processes use io_uring
	IOURingReason    string
	Filesystem       string // "ext4", "tmpfs" and so on, or its magic number
	FreeBytes        int64  // that this user may fill
}

// Probe tries the storage directory, or what will hold it when it does not exist
// yet: planning makes no directory. A file of 64 KiB is written and removed.
func (h *Host) Probe(ctx context.Context) (Probe, error) {
	if err := ctx.Err(); err != nil {
		return Probe{}, err
	}
	dir := h.storage
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return probeDir(dir)
		}
		dir = filepath.Dir(dir)
	}
}

func probeDir(dir string) (Probe, error) {
	var p Probe
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return p, fmt.Errorf("probe %s: %w", dir, err)
	}
	p.Filesystem, p.FreeBytes = filesystemName(st.Type), int64(st.Bavail)*st.Bsize
	f, err := os.CreateTemp(dir, probePrefix+"*")
	if err != nil {
		return p, fmt.Errorf("probe %s: %w", dir, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := f.Truncate(64 << 10); err != nil {
		return p, fmt.Errorf("probe %s: %w", dir, err)
	}
	for _, align := range []int{512, 4096} {
		err := tryDirect(f.Name(), align)
		if err == nil {
			p.DirectIO, p.DirectAlignBytes, p.DirectIOReason = true, align, ""
			break
		}
		p.DirectIOReason = err.Error()
	}
	p.IOURing, p.IOURingReason = tryIOURing()
	return p, nil
}

// tryDirect writes and reads back one unit with O_DIRECT.
func tryDirect(path string, align int) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open with O_DIRECT: %w", err)
	}
	defer unix.Close(fd)
	// A mapping is aligned to a page, which a Go slice need not be.
	memory, err := unix.Mmap(-1, 0, 2*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("map memory: %w", err)
	}
	defer unix.Munmap(memory)
	out, in := memory[:align], memory[4096:4096+align]
	copy(out, bytes.Repeat([]byte{0xa5, 0x5a}, align/2))
	// The second unit: the first would be aligned whatever the unit is.
	offset := int64(align)
	if n, err := unix.Pwrite(fd, out, offset); err != nil || n != align {
		return fmt.Errorf("write %d bytes with O_DIRECT: %d written, %w", align, n, errOr(err, unix.EIO))
	}
	if n, err := unix.Pread(fd, in, offset); err != nil || n != align {
		return fmt.Errorf("read %d bytes with O_DIRECT: %d read, %w", align, n, errOr(err, unix.EIO))
	}
	if !bytes.Equal(out, in) {
		return fmt.Errorf("read %d bytes with O_DIRECT: not what was written", align)
	}
	return nil
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// tryIOURing sets up a ring of one entry, which a seccomp profile or the
// kernel's switch may forbid.
func tryIOURing() (bool, string) {
	if text, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled"); err == nil {
		if value := strings.TrimSpace(string(text)); value != "0" {
			return false, "kernel.io_uring_disabled is " + value
		}
	}
	var params [120]byte // struct io_uring_params, all zero
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return false, "io_uring_setup: " + errno.Error()
	}
	unix.Close(int(fd))
	return true, ""
}

func filesystemName(magic int64) string {
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs",
		unix.F2FS_SUPER_MAGIC: "f2fs", unix.FUSE_SUPER_MAGIC: "fuse", 0x2fc12fc1: "zfs",
	}
	if name, known := names[magic]; known {
		return name
	}
	return fmt.Sprintf("%#x", magic)
}
