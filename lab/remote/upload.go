package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/pkg/sftp"
)

// Upload writes size bytes of r to the guest file name, with the permission
// bits of mode. The bytes go to a temporary file beside it; length and SHA-256
// are compared in the guest before the rename, so name is either the old file
// or the whole new one, also when name is a running binary. A missing directory
// is made. It fails with an *UploadError, and then the temporary file is gone
// unless the connection is gone too.
func (c *Client) Upload(ctx context.Context, name string, size int64, mode fs.FileMode, r io.Reader) error {
	u := &upload{
		client: c, name: name, size: size, mode: mode.Perm(),
		temp:   path.Join(path.Dir(name), "."+path.Base(name)+"."+randomName()),
		source: &source{ctx: ctx, r: r, left: size, sum: sha256.New()},
	}
	err := c.withFiles(ctx, func(files *sftpChannel) error {
		err := u.write(files)
		if err == nil {
			err = u.publish(ctx, files)
		}
		if err != nil {
			err = u.explain(files, err)
		}
		return err
	})
	var explained *UploadError
	if err == nil || errors.As(err, &explained) && ctx.Err() == nil {
		return err
	}
	return c.failure(ctx, "upload "+name, err)
}

// upload is one transfer.
type upload struct {
	client     *Client
	name, temp string
	size       int64
	mode       fs.FileMode
	source     *source
}

// write fills the temporary file.
func (u *upload) write(files *sftpChannel) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	file, err := files.OpenFile(u.temp, flags)
	if errors.Is(err, fs.ErrNotExist) {
		if err = files.MkdirAll(path.Dir(u.temp)); err == nil {
			file, err = files.OpenFile(u.temp, flags)
		}
	}
	if err != nil {
		return fmt.Errorf("create temporary file: %w", err)
	}
	err = u.fill(files, file)
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close: %w", closeErr)
	}
	return err
}

func (u *upload) fill(files *sftpChannel, file *sftp.File) error {
	if err := file.Chmod(u.mode); err != nil {
		return fmt.Errorf("set mode: %w", err)
	}
	// One write per round trip would make a 100 ms link crawl (pkg/sftp#472).
	// Concurrent writes may leave holes after an error, which is why nothing
	// but a temporary file is written.
	if _, err := file.ReadFromWithConcurrency(u.source, sftpInFlight); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := u.source.complete(); err != nil {
		return err
	}
	if _, ok := files.HasExtension("fsync@openssh.com"); ok {
		if err := file.Sync(); err != nil {
			return fmt.Errorf("fsync: %w", err)
		}
	}
	return nil
}

// publish checks what arrived and gives it its name.
func (u *upload) publish(ctx context.Context, files *sftpChannel) error {
	info, err := files.Stat(u.temp)
	if err != nil {
		return fmt.Errorf("check size: %w", err)
	}
	if info.Size() != u.size {
		return fmt.Errorf("the guest holds %d bytes of %d", info.Size(), u.size)
	}
	out, err := u.client.Output(ctx, "sha256sum", "--", u.temp)
	if err != nil {
		return fmt.Errorf("check digest: %w", err)
	}
	// sha256sum puts a backslash first if the name needs escaping.
	got, _, _ := bytes.Cut(bytes.TrimPrefix(out, []byte(`\`)), []byte(" "))
	if want := hex.EncodeToString(u.source.sum.Sum(nil)); string(got) != want {
		return fmt.Errorf("the guest holds other bytes: sha256 is %q, want %s", clip(string(got), 64), want)
	}
	if err := files.PosixRename(u.temp, u.name); err != nil {
		return fmt.Errorf("rename: %w", err)
	}
	return nil
}

// source hands out exactly the promised bytes, digests them, and stops when ctx
// ends. A source that grows while it is read is an error, like one that ends
// early: both mean that the digest would be of something never meant.
type source struct {
	ctx  context.Context
	r    io.Reader
	left int64
	sum  hash.Hash
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, context.Cause(s.ctx)
	}
	if s.left == 0 {
		return 0, io.EOF
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.left)])
	s.sum.Write(p[:n])
	s.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &sourceError{err}
	}
	return n, err
}

// complete checks that the source had neither fewer nor more bytes.
func (s *source) complete() error {
	if s.left > 0 {
		return &sourceError{fmt.Errorf("ended %d bytes early", s.left)}
	}
	n, err := io.ReadFull(s.r, make([]byte, 1))
	if n > 0 {
		return &sourceError{errors.New("grew while it was read")}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return &sourceError{err}
	}
	return nil
}

// sourceError is a fault of the host's file, not of the guest.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return "read source: " + e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }
