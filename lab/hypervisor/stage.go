package hypervisor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

var digestOK = regexp.MustCompile(`^[0-9a-f]{64}$`)

// DigestError says that an image is not what its digest promises.
type DigestError struct {
	Name      string
	Want, Got string // hexadecimal SHA-256
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("stage %s: its SHA-256 is %s, expected %s; the image cache is damaged, run: platter images verify", e.Name, e.Got, e.Want)
}

// Stage puts an immutable copy of an image where QEMU can read it and returns
// its path on the host. The copy is named by digest: one that is there already
// costs nothing, and open is not called. An interrupted copy leaves nothing
// that could be taken for the image.
func (h *Host) Stage(ctx context.Context, name, digest string, open func() (io.ReadCloser, error)) (string, error) {
	if err := checkName("image", name); err != nil {
		return "", err
	}
	digest = strings.TrimPrefix(digest, "sha256:")
	if !digestOK.MatchString(digest) {
		return "", fmt.Errorf("stage %s: %q is not a hexadecimal SHA-256", name, digest)
	}
	dir, err := h.makeDir(imagesDir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+"-"+digest[:16])
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	src, err := open()
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	defer src.Close()
	if err := stageFile(ctx, dir, path, name, digest, src); err != nil {
		return "", err
	}
	h.log.Debug("staged an image", "name", name, "path", path)
	return path, nil
}

// stageFile copies under a temporary name that is locked while it is ours, so
// that a stale one can be told from one in the making.
func stageFile(ctx context.Context, dir, path, name, digest string, src io.Reader) (err error) {
	tmp, err := os.CreateTemp(dir, stagePrefix+"*")
	if err != nil {
		return fmt.Errorf("stage %s: %w", name, err)
	}
	defer tmp.Close()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if err := unix.Flock(int(tmp.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("stage %s: lock %s: %w", name, tmp.Name(), err)
	}
	got, err := copyAndHash(ctx, tmp, src)
	if err != nil {
		return fmt.Errorf("stage %s: %w", name, err)
	}
	if got != digest {
		return &DigestError{Name: name, Want: digest, Got: got}
	}
	if err := errors.Join(tmp.Chmod(0o444), tmp.Sync()); err != nil {
		return fmt.Errorf("stage %s: %w", name, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("stage %s: %w", name, err)
	}
	return syncDir(dir)
}

// copyAndHash clones the extents of a file where the file system can and copies
// otherwise. The digest is always of what lies in the destination.
func copyAndHash(ctx context.Context, dst *os.File, src io.Reader) (string, error) {
	if file, ok := src.(*os.File); !ok || unix.IoctlFileClone(int(dst.Fd()), int(file.Fd())) != nil {
		if _, err := io.Copy(dst, contextReader{ctx, src}); err != nil {
			return "", err
		}
	}
	if _, err := dst.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, contextReader{ctx, dst}); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// contextReader ends a long copy when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
