package blockdev

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Discard tells a held disk that nothing on it is needed any more, so that an SSD begins as if it were new. The claim
// must allow it.
func (h *Hold) Discard() error {
	serial := h.Claim.Passport.Serial
	if !h.Claim.Allows(Discard) {
		return fmt.Errorf("discard disk %s: its claim does not allow it; claim it again with --use %s", serial, Discard)
	}
	f, err := os.OpenFile(h.Disk.Node, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("discard disk %s: %w", serial, err)
	}
	defer f.Close()
	span := [2]uint64{0, uint64(h.Disk.Passport.SizeBytes)}
	if err := ioctlPointer(f, unix.BLKDISCARD, &span); err != nil {
		return fmt.Errorf("discard disk %s: %w", serial, err)
	}
	return nil
}
