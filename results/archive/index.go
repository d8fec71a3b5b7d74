package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frame is one line of the index: a piece of the packed file.
type frame struct {
	sha256 string
	bytes  int64
	first  string // the member that begins with the frame
}

// index lists the frames of a packed file in order. It is written as the last frame, one that zstd decoders pass over
// (RFC 8878, 3.1.2), and ends in its own digest and, at a fixed place, its size.
type index []frame

const (
	skippableMagic  = 0x184D2A50
	skippableHeader = 8 // magic and size, little-endian
	indexTitle      = "platter pack index 1\n"
	indexDigest     = "index %064s\n"
	indexSize       = "size %016d\n" // of the whole last frame
	maxIndexBytes   = 512 << 20
)

var indexTailBytes = int64(len(fmt.Sprintf(indexSize, 0)))

func (x index) encode() []byte {
	var text bytes.Buffer
	text.WriteString(indexTitle)
	for _, f := range x {
		fmt.Fprintf(&text, "%s %d %s\n", f.sha256, f.bytes, f.first)
	}
	digest := sha256.Sum256(text.Bytes())
	fmt.Fprintf(&text, indexDigest, hex.EncodeToString(digest[:]))
	size := skippableHeader + int64(text.Len()) + indexTailBytes
	fmt.Fprintf(&text, indexSize, size)
	whole := binary.LittleEndian.AppendUint32(nil, skippableMagic)
	whole = binary.LittleEndian.AppendUint32(whole, uint32(text.Len()))
	return append(whole, text.Bytes()...)
}

// errNoIndex says that a file does not end as a packed file does.
var errNoIndex = errors.New("it does not end in the index of a packed file: cut short, damaged at its end, or not made by platter pack")

// readIndex reads the index from the end of a file, and proves that it is what was written.
func readIndex(file io.ReaderAt, size int64) (index, error) {
	tail := make([]byte, indexTailBytes)
	if size < indexTailBytes+skippableHeader {
		return nil, errNoIndex
	}
	if _, err := file.ReadAt(tail, size-indexTailBytes); err != nil {
		return nil, err
	}
	digits, ok := strings.CutPrefix(strings.TrimSuffix(string(tail), "\n"), "size ")
	length, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || length > min(size, maxIndexBytes) || length < skippableHeader+indexTailBytes {
		return nil, errNoIndex
	}
	whole := make([]byte, length)
	if _, err := file.ReadAt(whole, size-length); err != nil {
		return nil, err
	}
	x, err := parseIndex(whole)
	if err != nil || !bytes.Equal(x.encode(), whole) {
		return nil, errNoIndex
	}
	left := size - length
	for _, f := range x {
		left -= f.bytes
	}
	if left != 0 {
		return nil, fmt.Errorf("%w (%d bytes too many or too few before it)", errNoIndex, left)
	}
	return x, nil
}

// parseIndex reads the frames of an index. That it is what encode writes is its caller's to prove.
func parseIndex(whole []byte) (index, error) {
	text, ok := strings.CutPrefix(string(whole[skippableHeader:]), indexTitle)
	if !ok {
		return nil, errNoIndex
	}
	var x index
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "index ") {
			return x, nil
		}
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(fields) != 3 {
			return nil, errNoIndex
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || n < 1 {
			return nil, errNoIndex
		}
		x = append(x, frame{sha256: fields[0], bytes: n, first: fields[2]})
	}
	return nil, errNoIndex
}

// damage holds every frame against its digest and names those that are not what was written.
func (x index) damage(file io.ReaderAt) (bad []error, err error) {
	offset := int64(0)
	for i, f := range x {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.NewSectionReader(file, offset, f.bytes)); err != nil {
			return bad, err
		}
		if hex.EncodeToString(hash.Sum(nil)) != f.sha256 {
			bad = append(bad, fmt.Errorf("bytes %d to %d are not what was packed; they hold %s", offset, offset+f.bytes-1, x.span(i)))
		}
		offset += f.bytes
	}
	return bad, nil
}

// span names the members that lie in a frame.
func (x index) span(i int) string {
	if i+1 < len(x) {
		return fmt.Sprintf("%q and what follows before %q", x[i].first, x[i+1].first)
	}
	return fmt.Sprintf("%q and what follows", x[i].first)
}

// packedBytes is the size of all frames.
func (x index) packedBytes() (n int64) {
	for _, f := range x {
		n += f.bytes
	}
	return n
}
