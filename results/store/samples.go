package store

import (
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// samplesMemory bounds what a hostile frame can make the decoder allocate.
const samplesMemory = 64 << 20

// Samples opens the samples of an attempt for reading, decompressed and cut at their limit. The error satisfies
// errors.Is(err, fs.ErrNotExist) when the attempt has none.
func (r *Run) Samples(trialID string, attempt int) (io.ReadCloser, error) {
	dir, err := trialDir(trialID, attempt)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(r.file(filepath.Join(dir, SamplesFile)), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(file, zstd.WithDecoderMaxMemory(samplesMemory), zstd.WithDecoderConcurrency(1))
	if err != nil {
		file.Close()
		return nil, err
	}
	return samplesReader{io.LimitReader(decoder, samplesLimit), decoder, file}, nil
}

type samplesReader struct {
	io.Reader
	decoder *zstd.Decoder
	file    *os.File
}

// Close frees the decoder and closes the file.
func (s samplesReader) Close() error {
	s.decoder.Close()
	return s.file.Close()
}
