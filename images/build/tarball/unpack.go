package tarball

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"platter/images"
)

// Limits bound what an archive may unpack to, so that a small file cannot fill the host's disk.
type Limits struct {
	Bytes   int64
	Entries int
}

// Most is several times the largest distribution there is, test suite and debug builds included.
var Most = Limits{Bytes: 16 << 30, Entries: 200_000}

// Unpack writes the archive in file into the empty directory dir, without what no server needs to run: test suites,
// headers, manuals, static libraries, debug builds. An entry that would lie outside dir, a link out of it, a device, or
// more than the limits is refused.
func Unpack(ctx context.Context, t images.Tarball, file, dir string, most Limits) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	stream, err := unpacked(reader{ctx, in})
	if err != nil {
		return bad(t, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := unpacking{root: root, most: most, left: map[string]bool{}}
	if err := u.all(tar.NewReader(stream)); err != nil {
		var host *hostError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &host):
			return fmt.Errorf("unpack tarball %s: %w", t.Source, host.err)
		}
		return bad(t, err)
	}
	return nil
}

// hostError is not the archive's fault: no space, no rights.
type hostError struct{ err error }

func (e *hostError) Error() string { return e.err.Error() }

type unpacking struct {
	root    *os.Root
	most    Limits
	bytes   int64
	entries int
	left    map[string]bool // files that were left out
}

func (u *unpacking) all(in *tar.Reader) error {
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			if u.entries == 0 {
				return errors.New("the archive is empty")
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := u.entry(in, header); err != nil {
			return err
		}
	}
}

func (u *unpacking) entry(in io.Reader, header *tar.Header) error {
	if u.entries++; u.entries > u.most.Entries {
		return fmt.Errorf("it holds more than %d files, which no server does", u.most.Entries)
	}
	if u.bytes += max(header.Size, 0); u.bytes > u.most.Bytes {
		return fmt.Errorf("it unpacks to more than %d MiB, which no server does", u.most.Bytes>>20)
	}
	name, err := inside(header.Name)
	if err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir:
		if leftOut(name) {
			return nil
		}
		return u.host(u.root.MkdirAll(name, 0o755))
	case tar.TypeReg, tar.TypeGNUSparse:
		if leftOut(name) {
			u.left[name] = true
			return nil
		}
		return u.file(in, header, name)
	case tar.TypeSymlink:
		return u.symlink(header, name)
	case tar.TypeLink:
		return u.link(header, name)
	}
	return fmt.Errorf("entry %q is neither file, directory nor link: a device or a pipe has no place in a server's distribution", header.Name)
}

// inside is an entry's path, which must not leave the archive.
func inside(name string) (string, error) {
	if path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("entry %q lies outside of the archive", name)
	}
	return path.Clean(name), nil
}

func (u *unpacking) file(in io.Reader, header *tar.Header, name string) error {
	if err := u.parent(name); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if header.Mode&0o111 != 0 {
		mode = 0o755 // set-user-id and the like are dropped: the server's user needs none
	}
	out, err := u.root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return u.refused(name, err)
	}
	defer out.Close()
	from := &source{Reader: in}
	if _, err := io.Copy(out, from); err != nil {
		if from.err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		return &hostError{err}
	}
	return u.host(out.Close())
}

// source remembers that reading failed, and not writing.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

func (u *unpacking) symlink(header *tar.Header, name string) error {
	target := header.Linkname
	if path.IsAbs(target) || !local(path.Join(path.Dir(name), target)) {
		return fmt.Errorf("link %q points outside of the archive, to %q", header.Name, target)
	}
	if leftOut(name) {
		return nil
	}
	if err := u.parent(name); err != nil {
		return err
	}
	if err := u.root.Symlink(target, name); err != nil {
		return u.refused(name, err)
	}
	return nil
}

// local tells whether a cleaned relative path stays below where it starts.
func local(name string) bool { return name != ".." && !strings.HasPrefix(name, "../") }

func (u *unpacking) link(header *tar.Header, name string) error {
	target, err := inside(header.Linkname)
	if err != nil {
		return fmt.Errorf("link %q points outside of the archive, to %q", header.Name, header.Linkname)
	}
	if leftOut(name) || u.left[target] {
		u.left[name] = true
		return nil
	}
	if err := u.parent(name); err != nil {
		return err
	}
	if err := u.root.Link(target, name); err != nil {
		return fmt.Errorf("link %q to %q: %w", header.Name, header.Linkname, errors.Unwrap(err))
	}
	return nil
}

func (u *unpacking) parent(name string) error {
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return u.refused(name, err)
	}
	return nil
}

// refused tells an entry that the directory cannot hold, because of entries before it, from a host that is out of space.
func (u *unpacking) refused(name string, err error) error {
	var at *fs.PathError
	if errors.Is(err, fs.ErrExist) || errors.As(err, &at) && strings.Contains(at.Err.Error(), "escapes") {
		return fmt.Errorf("entry %q: %w", name, err)
	}
	return &hostError{err}
}

func (u *unpacking) host(err error) error {
	if err != nil {
		return &hostError{err}
	}
	return nil
}

// uselessDirs hold nothing a server runs; the first two are most of a distribution.
var uselessDirs = []string{"mysql-test", "mariadb-test", "sql-bench", "include", "man", "docs", "doc"}

// leftOut tells whether a path of the archive is of no use to a running server.
func leftOut(name string) bool {
	parts := strings.Split(name, "/")
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains(uselessDirs, dir) {
			return true
		}
	}
	base := parts[len(parts)-1]
	return strings.HasSuffix(base, ".a") || strings.HasSuffix(base, "-debug") || strings.Contains(name, "plugin/debug/")
}
