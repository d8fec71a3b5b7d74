package tarball

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"platter/images"
)

// member is an entry of a test's archive.
type member struct {
	name, content string // the content of a link is its target
	kind          byte   // 0 is a file
	mode          int64
}

func pack(t *testing.T, members []member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: m.kind, Mode: m.mode | 0o644}
		switch m.kind {
		case 0, tar.TypeReg:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(m.content))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = m.content
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, m.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// keep writes data to a file and names it as a study does.
func keep(t *testing.T, data []byte) images.Tarball {
	t.Helper()
	file := filepath.Join(t.TempDir(), "server.tar.gz")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return images.Tarball{Source: file, SHA256: hex.EncodeToString(sum[:])}
}

func program(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// open carries a tarball as far as Open.
func open(t *testing.T, tb images.Tarball, most Limits) (Distribution, error) {
	t.Helper()
	file, err := Fetch(t.Context(), tb, t.TempDir(), func(string) {})
	if err != nil {
		return Distribution{}, err
	}
	dir := t.TempDir()
	if err := Unpack(t.Context(), tb, file, dir, most); err != nil {
		return Distribution{}, err
	}
	return Open(tb, dir, runtime.GOARCH)
}

// A distribution is found wherever it lies in the archive, however it is packed, and without what no server needs.
func TestOpen(t *testing.T) {
	server := program(t, "/bin/ls")
	members := []member{
		{name: "mysql-5.1/", kind: tar.TypeDir},
		{name: "mysql-5.1/bin/mysqld", content: server, mode: 0o4755},
		{name: "mysql-5.1/bin/mysqld-debug", content: server, mode: 0o755},
		{name: "mysql-5.1/bin/mysql", content: "mysqld", kind: tar.TypeSymlink},
		{name: "mysql-5.1/share/english/errmsg.sys", content: "words"},
		{name: "mysql-5.1/mysql-test/bin/mysqld", content: server, mode: 0o755},
		{name: "mysql-5.1/mysql-test/link", content: "mysql-5.1/mysql-test/bin/mysqld", kind: tar.TypeLink},
		{name: "mysql-5.1/lib/libmysqld.a", content: "!<arch>"},
		{name: "mysql-5.1/lib/plugin/debug/x.so", content: "x"},
	}
	plain := pack(t, members)
	packed := map[string][]byte{"plain": plain, "gzip": gzipped(plain)}
	var x, z bytes.Buffer
	xw, err := xz.NewWriter(&x)
	if err != nil {
		t.Fatal(err)
	}
	xw.Write(plain)
	xw.Close()
	zw, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	zw.Write(plain)
	zw.Close()
	packed["xz"], packed["zstd"] = x.Bytes(), z.Bytes()
	for name, data := range packed {
		t.Run(name, func(t *testing.T) {
			d, err := open(t, keep(t, data), Most)
			if err != nil {
				t.Fatal(err)
			}
			if d.Server != "bin/mysqld" || filepath.Base(d.Dir) != "mysql-5.1" {
				t.Errorf("found %s in %s", d.Server, d.Dir)
			}
			var left []string
			filepath.Walk(d.Dir, func(path string, info os.FileInfo, err error) error {
				if !info.IsDir() {
					rel, _ := filepath.Rel(d.Dir, path)
					left = append(left, rel)
				}
				if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
					t.Errorf("%s has mode %v", path, info.Mode())
				}
				return nil
			})
			if got := strings.Join(left, " "); got != "bin/mysql bin/mysqld share/english/errmsg.sys" {
				t.Errorf("unpacked %s", got)
			}
		})
	}
	for layout, want := range map[string]string{"libexec/mysqld": "libexec/mysqld", "x/sbin/mariadbd": "sbin/mariadbd", "./a/b/bin/mysqld": "bin/mysqld"} {
		d, err := open(t, keep(t, pack(t, []member{{name: layout, content: server, mode: 0o755}})), Most)
		if err != nil || d.Server != want {
			t.Errorf("%s: found %s, %v", layout, d.Server, err)
		}
	}
}

// header32 is the header of a program for 32-bit x86.
var header32 = "\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x03\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 16) + "\x34\x00\x20\x00\x00\x00\x28\x00\x00\x00\x00\x00"

// other is this machine's program with the machine of another architecture in its header.
func other(t *testing.T) (data, name string) {
	machine, name := byte(0xb7), "arm64"
	if runtime.GOARCH == "arm64" {
		machine, name = 0x3e, "amd64"
	}
	raw := []byte(program(t, "/bin/ls"))
	raw[18], raw[19] = machine, 0
	return string(raw), name
}

// Everything that is wrong with a tarball is said in words, as the tarball's fault, and nothing outside is touched.
func TestBadTarballs(t *testing.T) {
	server := program(t, "/bin/ls")
	foreign, arch := other(t)
	few := Limits{Bytes: 64 << 20, Entries: 20}
	many := make([]member, 30)
	for i := range many {
		many[i] = member{name: "a/" + strings.Repeat("x", i+1)}
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"no archive", []byte("<!DOCTYPE html><title>404 Not Found</title>" + strings.Repeat(" ", 300)), `no tar archive, plain or packed by gzip, xz, zstd or bzip2; it begins with "<!DOCTYPE html>`},
		{"empty file", nil, "no tar archive"},
		{"cut gzip", gzipped(pack(t, []member{{name: "a/bin/mysqld", content: server}}))[:5000], "read"},
		{"no server", pack(t, []member{{name: "a/bin/mysql", content: server}}), "no program mysqld or mariadbd"},
		{"only a wrapper", pack(t, []member{{name: "a/bin/mysqld", content: "#!/bin/sh\n", mode: 0o755}}), "bin/mysqld is no program of Linux"},
		{"another architecture", pack(t, []member{{name: "a/bin/mysqld", content: foreign}}), "built for " + arch + ", the machines are " + runtime.GOARCH},
		{"32 bits", pack(t, []member{{name: "a/bin/mysqld", content: header32}}), "built for 32-bit x86"},
		{"absolute path", pack(t, []member{{name: "/etc/cron.d/x", content: "x"}}), `"/etc/cron.d/x" lies outside of the archive`},
		{"path upwards", pack(t, []member{{name: "a/../../x", content: "x"}}), "lies outside of the archive"},
		{"link upwards", pack(t, []member{{name: "a/l", content: "../../etc/passwd", kind: tar.TypeSymlink}}), `points outside of the archive, to "../../etc/passwd"`},
		{"absolute link", pack(t, []member{{name: "a/l", content: "/etc", kind: tar.TypeSymlink}}), "points outside of the archive"},
		{"hard link upwards", pack(t, []member{{name: "a/l", content: "../../etc/passwd", kind: tar.TypeLink}}), "points outside of the archive"},
		{"hard link to nothing", pack(t, []member{{name: "a/l", content: "a/none", kind: tar.TypeLink}}), `link "a/l" to "a/none"`},
		{"way out through links", pack(t, []member{
			{name: "a/b/c/", kind: tar.TypeDir}, {name: "a/b/up", content: "../..", kind: tar.TypeSymlink},
			{name: "a/b/up/out", content: "../x", kind: tar.TypeSymlink}, {name: "out/y", content: "y"},
		}), `entry "out/y"`},
		{"device", pack(t, []member{{name: "a/sda", kind: tar.TypeBlock}}), "neither file, directory nor link"},
		{"pipe", pack(t, []member{{name: "a/fifo", kind: tar.TypeFifo}}), "neither file, directory nor link"},
		{"bomb", gzipped(pack(t, []member{{name: "a/zeros", content: strings.Repeat("\x00", 65<<20)}})), "more than 64 MiB"},
		{"too many files", pack(t, many), "more than 20 files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := keep(t, c.data)
			_, err := open(t, tb, few)
			var bad *images.TarballError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), tb.Source) {
				t.Errorf("%v\nwant a TarballError with %q", err, c.want)
			}
		})
	}
}

func TestFetch(t *testing.T) {
	data := pack(t, []member{{name: "a/bin/mysqld", content: "x"}})
	good := keep(t, data)
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mysql.tar" {
			http.NotFound(w, r)
			return
		}
		w.Write(data)
	}))
	defer served.Close()
	quiet := func(string) {}
	scratch := t.TempDir()
	file, err := Fetch(t.Context(), images.Tarball{Source: served.URL + "/mysql.tar", SHA256: good.SHA256}, scratch, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, data) || filepath.Dir(file) != scratch {
		t.Errorf("downloaded %d bytes to %s, %v", len(got), file, err)
	}
	wrong := strings.Repeat("0", 64)
	for _, c := range []struct{ source, sum, want string }{
		{good.Source, wrong, "its digest is sha256 " + good.SHA256 + ", the study says " + wrong},
		{served.URL + "/mysql.tar", wrong, "its digest is sha256 " + good.SHA256},
		{served.URL + "/none.tar", good.SHA256, "404 Not Found"},
		{"ftp://example.org/mysql.tar", good.SHA256, "URLs of ftp are not read"},
		{filepath.Join(scratch, "none.tar"), good.SHA256, "no such file"},
		{scratch, good.SHA256, "it is not a file"},
	} {
		_, err := Fetch(t.Context(), images.Tarball{Source: c.source, SHA256: c.sum}, t.TempDir(), quiet)
		var bad *images.TarballError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant a TarballError with %q", c.source, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fetch(stopped, good, scratch, quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Libraries in the distribution are followed, those of the system are needs with the versions asked of them.
func TestNeeds(t *testing.T) {
	d, err := open(t, keep(t, pack(t, []member{{name: "a/bin/mysqld", content: program(t, "/bin/ls"), mode: 0o755}})), Most)
	if err != nil {
		t.Fatal(err)
	}
	find := func(library string) *Need {
		t.Helper()
		needs, err := d.Needs()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range needs {
			if n.Library == library {
				return &n
			}
		}
		return nil
	}
	libc := find("libc.so.6")
	if libc == nil || libc.By != "bin/mysqld" || !slices.ContainsFunc(libc.Versions, func(v string) bool { return strings.HasPrefix(v, "GLIBC_2.") }) {
		t.Errorf("libc: %+v", libc)
	}
	const selinux = "libselinux.so.1"
	if find(selinux) == nil {
		t.Fatal("ls does not need libselinux here; take another program for this test")
	}
	found, _ := filepath.Glob("/lib/*-linux-gnu/" + selinux)
	if len(found) != 1 {
		t.Fatalf("libselinux lies in %v", found)
	}
	if err := os.MkdirAll(filepath.Join(d.Dir, "lib/private"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Dir, "lib/private", selinux), []byte(program(t, found[0])), 0o644); err != nil {
		t.Fatal(err)
	}
	if n := find(selinux); n != nil {
		t.Errorf("a library of the distribution is asked of the system: %+v", n)
	}
	if n := find("libpcre2-8.so.0"); n == nil || n.By != "lib/private/"+selinux {
		t.Errorf("what that library needs: %+v", n)
	}
}
