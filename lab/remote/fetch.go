package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Fetch copies the guest file name to w and returns its length. A file longer
// than maxBytes gives a *TooLargeError, without any transfer if the guest admits
// its size. A missing file satisfies errors.Is(err, fs.ErrNotExist).
func (c *Client) Fetch(ctx context.Context, name string, maxBytes int64, w io.Writer) (int64, error) {
	var n int64
	err := c.withFiles(ctx, func(files *sftpChannel) error {
		var err error
		n, err = fetch(ctx, files, name, maxBytes, w)
		return err
	})
	if err != nil {
		return 0, c.failure(ctx, "fetch "+name, err)
	}
	return n, nil
}

func fetch(ctx context.Context, files *sftpChannel, name string, maxBytes int64, w io.Writer) (int64, error) {
	file, err := files.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	tooLarge := &TooLargeError{Name: name, MaxBytes: maxBytes}
	info, err := file.Stat()
	switch {
	case err != nil:
		return 0, fmt.Errorf("stat: %w", err)
	case info.IsDir():
		return 0, errors.New("it is a directory")
	case info.Size() > maxBytes:
		return 0, tooLarge
	}
	n, err := file.WriteTo(&stopping{ctx, &cappedWriter{w: w, left: maxBytes, err: tooLarge}})
	if err == nil && n < info.Size() {
		err = fmt.Errorf("got %d bytes of %d", n, info.Size())
	}
	return n, err
}

// stopping is a writer that ends with its context, and with it the transfer.
type stopping struct {
	ctx context.Context
	w   io.Writer
}

func (s *stopping) Write(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.w.Write(p)
}

// ReadFile returns a guest file of at most 1 MiB.
func (c *Client) ReadFile(ctx context.Context, name string) ([]byte, error) {
	var b bytes.Buffer
	_, err := c.Fetch(ctx, name, maxOutput, &b)
	return b.Bytes(), err
}
