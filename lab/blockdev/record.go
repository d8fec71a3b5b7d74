package blockdev

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// recordBytes is how much of the beginning and of the end of a disk a Record is about: partition tables, superblocks and
// their copies lie there.
const recordBytes = 1 << 20

// Record is how a disk begins and ends at one moment. Two equal records say that nobody put anything there in between.
type Record struct {
	Start      string      `json:"start_sha256"` // of the first MiB
	End        string      `json:"end_sha256"`   // of the last MiB
	Blank      bool        `json:"blank"`        // both are zeroes
	Signatures []Signature `json:"signatures,omitempty"`
	At         time.Time   `json:"at"`
}

// Same tells whether nothing changed between two records.
func (r Record) Same(o Record) bool { return r.Start == o.Start && r.End == o.End }

// describe is what a record shows, for messages.
func (r Record) describe() string {
	switch {
	case len(r.Signatures) > 0:
		return "holding " + Contents(r.Signatures)
	case r.Blank:
		return "blank"
	}
	return "holding data of no known kind"
}

// NewRecord reads a disk's beginning and end.
func NewRecord(r io.ReaderAt, sizeBytes int64, signatures []Signature) (Record, error) {
	length := min(recordBytes, sizeBytes)
	block := make([]byte, length)
	rec := Record{Blank: true, Signatures: signatures, At: time.Now().UTC().Truncate(time.Second)}
	for _, part := range []struct {
		at  int64
		sum *string
	}{{0, &rec.Start}, {sizeBytes - length, &rec.End}} {
		if _, err := r.ReadAt(block, part.at); err != nil && !errors.Is(err, io.EOF) {
			return rec, fmt.Errorf("read %d bytes at %d: %w", length, part.at, err)
		}
		sum := sha256.Sum256(block)
		*part.sum = hex.EncodeToString(sum[:])
		for _, b := range block {
			rec.Blank = rec.Blank && b == 0
		}
	}
	return rec, nil
}

// Examine reads the record of a disk that is not held, for a claim.
func Examine(d Disk) (Record, error) {
	f, err := os.Open(d.Node)
	if err != nil {
		return Record{}, fmt.Errorf("look at %s: %w", d.Node, err)
	}
	defer f.Close()
	rec, err := NewRecord(f, d.Passport.SizeBytes, d.Signatures)
	if err != nil {
		return rec, fmt.Errorf("look at %s: %w", d.Node, err)
	}
	return rec, nil
}

// flushBuffers writes out and drops what the host caches of a device, so that the next read comes from the device.
func flushBuffers(f *os.File) error {
	if err := unix.IoctlSetInt(int(f.Fd()), unix.BLKFLSBUF, 0); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("flush the buffers of %s: %w", f.Name(), err)
	}
	return nil // without the right to flush, the guest's own flushes have to do
}

// rereadPartitions lets the kernel see the partitions that a machine made. Devices that have none are no error.
func rereadPartitions(f *os.File) error {
	err := unix.IoctlSetInt(int(f.Fd()), unix.BLKRRPART, 0)
	if err == nil || errors.Is(err, unix.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return fmt.Errorf("read the partition table of %s again: %w", f.Name(), err)
}

// state is what platter itself did to a disk last; it is kept by serial, outlives reboots, and tells what platter left
// on a disk from what others put there.
type state struct {
	Schema     string     `json:"schema"`
	Serial     string     `json:"serial"`
	Owner      Owner      `json:"owner"`
	HandedOver time.Time  `json:"handed_over_at"`
	Before     Record     `json:"before"`
	ReleasedAt *time.Time `json:"released_at"` // nil: the owner has it, or died with it
	After      *Record    `json:"after"`
}

const stateSchema = "platter.disk/1"

// consented tells whether what lies on a disk is what its claim gave up, or what platter itself left there since. The
// error says what else is there. note says what a reader of the log should know.
func (c Claim) consented(last *state, now Record, bootID string) (note string, err error) {
	if c.Content.Same(now) {
		return "", nil
	}
	if last != nil && last.HandedOver.After(c.ClaimedAt.Add(-time.Second)) {
		if last.After != nil && last.After.Same(now) {
			return "", nil
		}
		if last.ReleasedAt == nil && last.Owner.BootID == bootID {
			return fmt.Sprintf("disk %s was in the hands of %s, which died with it; what lies there is taken for that run's", c.Passport.Serial, last.Owner), nil
		}
	}
	return "", fmt.Errorf("disk %s is not what was claimed: it was %s, and is now %s, which nobody gave up; look at it, and claim it again",
		c.Passport.Serial, c.Content.describe(), now.describe())
}
