package hypervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// firstBlock is what QEMU tries to read when it looks for the unit of direct requests.
const firstBlock = 4096

// settleVolumes makes QEMU find the true unit of direct requests to each volume of a machine.
//
// When QEMU opens a file without the page cache, it reads the file's beginning in units of 1, 512, 1024, 2048 and 4096
// bytes and takes the first that the file system does not refuse. Ext4, for one, checks nothing for a hole or a reserved
// block that was never written: it lets one byte through, which QEMU does not believe and takes 4096 instead. From then on
// each request of the guest that is not a multiple of 4096 costs a read and holds up its neighbours. Before version 8.1,
// merged writes of 1024 segments fail as well, since the padding makes them 1025, more than IOV_MAX: the guest sees an I/O
// error ("block: Split padded I/O vectors exceeding IOV_MAX" is the fix).
//
// The unit is looked for at each start, and the guest may have discarded the block, so each start sees to it.
func (h *Host) settleVolumes(s domain.Spec) error {
	for _, d := range s.Disks {
		ours := filepath.Dir(d.Path) == h.RunDir(s.Tag.Run)
		if d.ReadOnly || d.Kind != domain.File || d.Format != domain.Raw || !ours {
			continue
		}
		if err := settleFirstBlock(d.Path); err != nil {
			return fmt.Errorf("settle the first block of disk %s: %w", d.Serial, err)
		}
	}
	return nil
}

// settleFirstBlock writes the first block of an image back as it is when a direct read of one byte would succeed.
func settleFirstBlock(path string) error {
	if !readsOneByte(path) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		return nil // QEMU's own user will find out
	}
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, firstBlock)
	n, err := f.ReadAt(block, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := f.WriteAt(block[:n], 0); err != nil {
		return err
	}
	return f.Sync()
}

// readsOneByte tells whether a direct read of the first byte goes through, as QEMU tries it. Where there is no direct
// access it does not.
func readsOneByte(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	memory, err := unix.Mmap(-1, 0, firstBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer unix.Munmap(memory)
	_, err = unix.Pread(fd, memory[:1], 0)
	return err == nil
}
