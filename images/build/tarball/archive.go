package tarball

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// packings are recognised by their first bytes, never by a file's name.
var packings = []struct {
	name  string
	magic []byte
	open  func(io.Reader) (io.Reader, error)
}{
	{"gzip", []byte{0x1f, 0x8b}, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", []byte("\xfd7zXZ\x00"), func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, openZstd},
	{"bzip2", []byte("BZh"), func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

func openZstd(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// ustar stands at this offset of every tar archive that any tool of the last thirty years wrote.
const ustarOffset = 257

// unpacked returns the tar stream inside a file.
func unpacked(file io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(file, 1<<20)
	head, err := in.Peek(ustarOffset + 5)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, p := range packings {
		if bytes.HasPrefix(head, p.magic) {
			out, err := p.open(in)
			if err != nil {
				return nil, fmt.Errorf("it begins like %s and is none: %w", p.name, err)
			}
			return out, nil
		}
	}
	if len(head) == ustarOffset+5 && string(head[ustarOffset:]) == "ustar" {
		return in, nil
	}
	return nil, fmt.Errorf("it is no tar archive, plain or packed by gzip, xz, zstd or bzip2; it begins with %q", head[:min(len(head), 16)])
}
