package agent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// writeLog makes a log as dm-log-writes does.
type writeLog struct {
	body    bytes.Buffer
	entries uint64
}

func (l *writeLog) add(sector, flags uint64, data []byte) *writeLog {
	e := logEntry{Sector: sector, Sectors: uint64(len(data) / 512), Flags: flags}
	extra := []byte(nil)
	if flags&logMark != 0 {
		e.Sectors, e.DataBytes, extra, data = 0, uint64(len(data)), data, nil
	}
	if flags&logDiscard != 0 {
		data = nil
	}
	var head bytes.Buffer
	binary.Write(&head, binary.LittleEndian, e)
	head.Write(extra)
	l.body.Write(append(head.Bytes(), make([]byte, 512-head.Len())...))
	l.body.Write(data)
	l.entries++
	return l
}

func (l *writeLog) bytes() []byte {
	var super bytes.Buffer
	for _, v := range []any{uint64(writeLogMagic), uint64(writeLogVersion), l.entries, uint32(512)} {
		binary.Write(&super, binary.LittleEndian, v)
	}
	return append(append(super.Bytes(), make([]byte, 512-super.Len())...), l.body.Bytes()...)
}

// memory is a disk in memory.
type memory []byte

func (m memory) WriteAt(p []byte, off int64) (int, error) { return copy(m[off:], p), nil }

func block(c byte, sectors int) []byte { return bytes.Repeat([]byte{c}, 512*sectors) }

// TestReplay: what the log holds before the mark is on the disk, in its order, and nothing that came behind it.
func TestReplay(t *testing.T) {
	log := new(writeLog).add(0, 0, block('a', 2)).add(1, 0, block('b', 2)).add(0, logFlush, nil).
		add(2, logDiscard, block('-', 1)).add(4, logFUA, block('c', 1)).
		add(0, logMark, []byte("someone-elses")).add(5, logFlush, block('d', 1)).
		add(0, logMark, []byte(cutMark)).
		add(0, 0, block('X', 3)).add(6, logDiscard, block('-', 1)).add(6, logFUA, block('X', 1)).add(0, logMark, []byte("dm-log-writes-end"))
	disk := memory(bytes.Repeat([]byte{'.'}, 8*512))
	zero := func(offset, length int64) error {
		copy(disk[offset:offset+length], make([]byte, length))
		return nil
	}
	done, err := replay(t.Context(), bytes.NewReader(log.bytes()), cutMark, disk, zero)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i := 0; i < len(disk); i += 512 {
		got.WriteByte(disk[i])
		if !bytes.Equal(disk[i:i+512], block(disk[i], 1)) {
			t.Errorf("sector %d is torn", i/512)
		}
	}
	if want := "ab\x00.cd.."; got.String() != want {
		t.Errorf("disk %q, want %q", got.String(), want)
	}
	if want := (replayed{Entries: 6, Bytes: 6 * 512, Dropped: 4 * 512}); done != want {
		t.Errorf("%+v, want %+v", done, want)
	}
}

// A log without the mark, or that is none, replays to an error: the rig is at fault, not the disk.
func TestReplayRefuses(t *testing.T) {
	nothing := func(int64, int64) error { return nil }
	whole := new(writeLog).add(0, 0, block('a', 1)).bytes()
	if _, err := replay(t.Context(), bytes.NewReader(whole), cutMark, make(memory, 4096), nothing); !errors.Is(err, errNoMark) {
		t.Errorf("a log without the mark: %v", err)
	}
	foreign := append([]byte("MBR"), whole[3:]...)
	if _, err := replay(t.Context(), bytes.NewReader(foreign), cutMark, make(memory, 4096), nothing); err == nil || !strings.Contains(err.Error(), "superblock") {
		t.Errorf("no log at all: %v", err)
	}
	if _, err := replay(t.Context(), bytes.NewReader(whole[:700]), cutMark, make(memory, 4096), nothing); err == nil {
		t.Error("a log that is cut short was replayed")
	}
}
