package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// The format of a dm-log-writes device (drivers/md/dm-log-writes.c of the kernel): a superblock in the first sector, then
// for each entry a sector with its head, followed by its data. All numbers are little-endian; sectors of an entry are
// those of the super block.
const (
	writeLogMagic   = 0x6a736677736872
	writeLogVersion = 1

	logFlush   = 1 << 0
	logFUA     = 1 << 1
	logDiscard = 1 << 2
	logMark    = 1 << 3
)

// logEntry is the head of an entry.
type logEntry struct {
	Sector, Sectors, Flags, DataBytes uint64
}

// replayed is what a replay did.
type replayed struct {
	Entries, Bytes int64
	Dropped        int64 // bytes of writes that were completed, but not made durable, before the mark
}

// errNoMark says that the log is not whole: it ran out of space, or the mark was never written.
var errNoMark = errors.New("the log of writes has no mark of the power cut: its disk is too small, or the kernel stopped logging")

// replay copies to w what a log holds before the mark, and counts what it holds after it: those writes were in the disk's
// cache when the power went. zero makes a range read as zeroes, as a discard does.
func replay(ctx context.Context, log io.ReaderAt, mark string, w io.WriterAt, zero func(offset, length int64) error) (replayed, error) {
	var done replayed
	var super struct {
		Magic, Version, Entries uint64
		SectorBytes             uint32
	}
	if err := binary.Read(io.NewSectionReader(log, 0, 512), binary.LittleEndian, &super); err != nil {
		return done, fmt.Errorf("read the log of writes: %w", err)
	}
	if super.Magic != writeLogMagic || super.Version != writeLogVersion || super.SectorBytes < 512 || super.SectorBytes > 1<<16 {
		return done, fmt.Errorf("read the log of writes: its superblock is %+v", super)
	}
	size := int64(super.SectorBytes)
	at, marked := size, false
	for range super.Entries {
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		var e logEntry
		if err := binary.Read(io.NewSectionReader(log, at, size), binary.LittleEndian, &e); err != nil {
			return done, fmt.Errorf("read the log of writes at %d: %w", at, err)
		}
		head := at
		at += size
		offset, length := int64(e.Sector)*size, int64(e.Sectors)*size
		switch {
		case e.Flags&logMark != 0:
			text := make([]byte, min(e.DataBytes, uint64(size)-32))
			if _, err := log.ReadAt(text, head+32); err != nil && !errors.Is(err, io.EOF) {
				return done, fmt.Errorf("read a mark of the log of writes: %w", err)
			}
			marked = marked || string(bytes.TrimRight(text, "\x00")) == mark
			continue
		case marked:
			if e.Flags&logDiscard == 0 {
				done.Dropped += length
				at += length
			}
			continue
		case e.Flags&logDiscard != 0:
			if err := zero(offset, length); err != nil {
				return done, fmt.Errorf("discard %d bytes at %d: %w", length, offset, err)
			}
		case length > 0:
			if _, err := io.Copy(io.NewOffsetWriter(w, offset), io.NewSectionReader(log, at, length)); err != nil {
				return done, fmt.Errorf("replay %d bytes at %d: %w", length, offset, err)
			}
			at += length
			done.Bytes += length
		}
		done.Entries++
	}
	if !marked {
		return done, errNoMark
	}
	return done, nil
}

// zeroRange makes a range of a block device read as zeroes.
func zeroRange(fd int) func(offset, length int64) error {
	return func(offset, length int64) error {
		if length == 0 {
			return nil
		}
		// A hole in a block device reads as zeroes or is refused; only then are zeroes written.
		if err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, length); err == nil {
			return nil
		}
		return unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, offset, length)
	}
}
