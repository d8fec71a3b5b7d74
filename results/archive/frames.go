package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// frameTarget is the size from which a frame is closed at the next member: small enough to keep damage local, large
// enough for JSON files that are alike to help each other.
const frameTarget = 256 << 10

// windowBytes is how far back a frame refers, and so the memory its reader needs.
const windowBytes = 1 << 20

// frameWriter compresses a stream in zstd frames that begin with members, and writes the index of them at its end. The
// same input gives the same bytes.
type frameWriter struct {
	out    io.Writer
	zip    *zstd.Encoder
	packed bytes.Buffer // compressed and not yet written
	digest hash.Hash    // of the open frame
	raw    int64        // bytes that went into the open frame
	index  index
}

func newFrameWriter(out io.Writer) (*frameWriter, error) {
	w := &frameWriter{out: out, digest: sha256.New()}
	var err error
	w.zip, err = zstd.NewWriter(&w.packed, zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithWindowSize(windowBytes))
	return w, err
}

// begin says that a member comes next.
func (w *frameWriter) begin(member string) error {
	if len(w.index) > 0 && w.raw < frameTarget {
		return nil
	}
	if err := w.endFrame(); err != nil {
		return err
	}
	w.index = append(w.index, frame{first: member})
	return nil
}

// Write takes a piece of the stream; begin came before.
func (w *frameWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // tar pads with nothing before the first member
	}
	w.raw += int64(len(p))
	n, err := w.zip.Write(p)
	if err != nil {
		return n, err
	}
	return n, w.flush()
}

// flush moves what is compressed out, and into the frame's digest.
func (w *frameWriter) flush() error {
	w.index[len(w.index)-1].bytes += int64(w.packed.Len())
	w.digest.Write(w.packed.Bytes()) // never fails
	_, err := w.packed.WriteTo(w.out)
	return err
}

func (w *frameWriter) endFrame() error {
	if len(w.index) == 0 {
		return nil
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.index[len(w.index)-1].sha256 = hex.EncodeToString(w.digest.Sum(nil))
	w.digest.Reset()
	w.zip.Reset(&w.packed)
	w.raw = 0
	return nil
}

// close ends the last frame and writes the index.
func (w *frameWriter) close() error {
	if err := w.endFrame(); err != nil {
		return err
	}
	_, err := w.out.Write(w.index.encode())
	return err
}
