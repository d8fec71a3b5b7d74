package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// File is a file of a trial that is being written. It takes every byte it is given without an error, so that whoever
// follows a console never blocks, but keeps no more than its limit.
type File struct {
	file  *os.File
	zip   *zstd.Encoder // nil when not compressed
	left  int64
	limit int64
	cut   bool
}

func createFile(path string, limit int64, compressed bool) (*File, error) {
	if compressed {
		path += compressedSuffix
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, explain(path, err)
	}
	f := &File{file: file, left: limit, limit: limit}
	if compressed {
		if f.zip, err = zstd.NewWriter(file, zstd.WithEncoderConcurrency(1)); err != nil {
			return nil, errors.Join(explain(path, err), file.Close())
		}
	}
	return f, nil
}

// Name returns the file's path.
func (f *File) Name() string { return f.file.Name() }

// Cut reports whether bytes were dropped because the file reached its limit.
func (f *File) Cut() bool { return f.cut }

// Write keeps what fits and drops the rest; the file ends in a note where it was cut.
func (f *File) Write(p []byte) (int, error) {
	if f.cut {
		return len(p), nil
	}
	keep := p
	if int64(len(keep)) > f.left {
		keep = keep[:f.left]
		f.cut = true
	}
	if _, err := f.writer().Write(keep); err != nil {
		return 0, explain(f.file.Name(), err)
	}
	f.left -= int64(len(keep))
	if f.cut {
		if _, err := fmt.Fprintf(f.writer(), "\n[platter: cut here, the limit is %d bytes]\n", f.limit); err != nil {
			return 0, explain(f.file.Name(), err)
		}
	}
	return len(p), nil
}

func (f *File) writer() io.Writer {
	if f.zip != nil {
		return f.zip
	}
	return f.file
}

// Close flushes the file to disk and closes it.
func (f *File) Close() error {
	var err error
	if f.zip != nil {
		err = f.zip.Close()
	}
	return explain(f.file.Name(), errors.Join(err, f.file.Sync(), f.file.Close()))
}
