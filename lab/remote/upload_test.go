package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// onlyFile fails if dir holds anything but name with content (or nothing at
// all, if content is nil).
func onlyFile(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if content == nil || e.Name() != name {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	if content == nil {
		return
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%s holds %d bytes, want %d; %v", name, len(got), len(content), err)
	}
}

func TestUploadAndFetch(t *testing.T) {
	c := newTestServer(t).dial(t)
	for name, size := range map[string]int{"empty": 0, "one": 1, "packet": sftpPacket, "big one's name": 5*sftpPacket + 7, `back\slash`: 10} {
		dir := filepath.Join(t.TempDir(), "made", "on demand")
		data := make([]byte, size)
		rand.Read(data)
		file := filepath.Join(dir, name)
		if err := c.Upload(t.Context(), file, int64(size), 0o751, bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		onlyFile(t, dir, name, data)
		if info, _ := os.Stat(file); info.Mode().Perm() != 0o751 {
			t.Errorf("%s: mode is %v", name, info.Mode())
		}
		var back bytes.Buffer
		if n, err := c.Fetch(t.Context(), file, int64(size), &back); err != nil || n != int64(size) || !bytes.Equal(back.Bytes(), data) {
			t.Errorf("%s: fetched %d bytes, %v", name, n, err)
		}
		var tooLarge *TooLargeError
		if _, err := c.Fetch(t.Context(), file, int64(size)-1, io.Discard); !errors.As(err, &tooLarge) {
			t.Errorf("%s: beyond the limit: %v", name, err)
		}
	}
	if _, err := c.ReadFile(t.Context(), "/no/such/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	// The size of a file in /proc is 0, and a device has no end.
	if b, err := c.ReadFile(t.Context(), "/proc/self/status"); err != nil || len(b) == 0 {
		t.Errorf("file of unknown size: %d bytes, %v", len(b), err)
	}
	var tooLarge *TooLargeError
	if _, err := c.ReadFile(t.Context(), "/dev/zero"); !errors.As(err, &tooLarge) {
		t.Errorf("endless file: %v", err)
	}
}

// TestFetchNoticesMissingPieces uses a server that answers reads with less than
// asked, out of which pkg/sftp makes a short file without an error.
func TestFetchNoticesMissingPieces(t *testing.T) {
	s := newTestServer(t)
	s.set(func(b *behaviour) { b.maxRead = sftpPacket / 4 })
	c := s.dial(t)
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, make([]byte, 10*sftpPacket), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Fetch(t.Context(), name, 1<<30, io.Discard); err == nil && n != 10*sftpPacket {
		t.Errorf("fetched %d bytes of %d without an error", n, 10*sftpPacket)
	}
}

func TestUploadKeepsOldFileOnFailure(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted by the user")
	cases := map[string]struct {
		size   int64
		source io.Reader
		digest string
		want   string
	}{
		"source ends early": {size: 10, source: strings.NewReader("123456789"), want: "ended 1 bytes early"},
		"source grows":      {size: 10, source: strings.NewReader("12345678901"), want: "grew"},
		"source breaks":     {size: 10, source: io.MultiReader(strings.NewReader("123"), brokenReader{}), want: "read source: bad sector"},
		"guest mixes bytes": {size: 10, source: strings.NewReader("1234567890"), digest: strings.Repeat("0", 64), want: "other bytes"},
		"guest has no tool": {size: 10, source: strings.NewReader("1234567890"), digest: "missing", want: "exit status 127"},
		"caller cancels it": {size: 1 << 20, source: &cancellingReader{cancel: func() { cancel(interrupted) }}, want: "interrupted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			c := s.dial(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "agent")
			if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.digest != "" {
				s.onExec(reply(func(ch ssh.Channel) {
					if tc.digest == "missing" {
						exit(ch, 127)
						return
					}
					io.WriteString(ch, tc.digest+"  x\n")
					exit(ch, 0)
				}))
			}
			err := c.Upload(ctx, file, tc.size, 0o755, tc.source)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			onlyFile(t, dir, "agent", []byte("old"))
			if b, err := c.ReadFile(t.Context(), file); err != nil || string(b) != "old" {
				t.Errorf("the connection is of no use afterwards: %q, %v", b, err)
			}
		})
		if name == "caller cancels it" {
			ctx, cancel = context.WithCancelCause(t.Context())
		}
	}
	cancel(nil)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("bad sector") }

// cancellingReader ends the upload's context after its first bytes.
type cancellingReader struct{ cancel func() }

func (r *cancellingReader) Read(p []byte) (int, error) {
	r.cancel()
	return len(p), nil
}

// fullDisk is a guest filesystem that takes left bytes and then says "failure".
type fullDisk struct {
	sftp.FileCmder
	put  sftp.FileWriter
	left int64
	vfs  sftp.StatVFS
}

func (d *fullDisk) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	w, err := d.put.Filewrite(r)
	return &fullFile{w, d}, err
}

func (d *fullDisk) StatVFS(*sftp.Request) (*sftp.StatVFS, error) { return &d.vfs, nil }

type fullFile struct {
	w io.WriterAt
	d *fullDisk
}

func (f *fullFile) WriteAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.d.left {
		return 0, sftp.ErrSSHFxFailure
	}
	return f.w.WriteAt(p, off)
}

func TestUploadNamesCause(t *testing.T) {
	for _, tc := range []struct {
		name  string
		left  int64
		vfs   sftp.StatVFS
		cause error
		want  string
	}{
		{"no space", 100, sftp.StatVFS{Frsize: 1024, Bavail: 300, Bfree: 500, Files: 9, Favail: 9}, ErrNoSpace, "no space: 307200 bytes free in /, 1048576 needed"},
		{"no inodes", 100, sftp.StatVFS{Frsize: 4096, Bavail: 1 << 30, Files: 9}, ErrNoSpace, "no space"},
		{"read-only", 0, sftp.StatVFS{Frsize: 4096, Bavail: 1 << 30, Files: 9, Favail: 9, Flag: 1}, ErrReadOnly, "read-only"},
		{"other", 0, sftp.StatVFS{Frsize: 4096, Bavail: 1 << 30, Files: 9, Favail: 9}, nil, "write: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTestServer(t)
			c := s.dial(t)
			c.sftp = nil // the token was read from real files; the rest is not
			memory := sftp.InMemHandler()
			memory.FilePut = &fullDisk{put: memory.FilePut, left: tc.left}
			memory.FileCmd = &fullDisk{FileCmder: memory.FileCmd, vfs: tc.vfs}
			s.set(func(b *behaviour) { b.handlers = &memory })
			err := c.Upload(t.Context(), "/agent", 1<<20, 0o755, bytes.NewReader(make([]byte, 1<<20)))
			var upload *UploadError
			if !errors.As(err, &upload) || tc.cause != nil && !errors.Is(err, tc.cause) || tc.cause == nil && upload.Cause != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %v and %q", err, tc.cause, tc.want)
			}
			files, err := c.files(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if list, err := files.ReadDir("/"); err != nil || len(list) > 0 {
				t.Errorf("left behind: %v, %v", list, err)
			}
		})
	}
}
