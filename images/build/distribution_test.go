package build

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platter/images"
	"platter/images/build/tarball"
)

// The catalogue's bases, by what old, middle-aged and new programs need.
func TestChooseBase(t *testing.T) {
	bases := images.Tarball{SHA256: strings.Repeat("0", 64)}.Recipe().Distribution.Bases
	need := func(library string, versions ...string) tarball.Need {
		return tarball.Need{Library: library, By: "bin/mysqld", Versions: versions}
	}
	for _, c := range []struct {
		name  string
		needs []tarball.Need
		want  string // suite, or part of the error
	}{
		{"static", nil, "bookworm"},
		{"old", []tarball.Need{need("libaio.so.1", "LIBAIO_0.4"), need("libc.so.6", "GLIBC_2.4", "GLIBC_2.17"), need("libtinfo.so.5")}, "bookworm"},
		{"private and odd versions", []tarball.Need{need("libc.so.6", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GLIBC_2.36")}, "bookworm"},
		{"newer C library", []tarball.Need{need("libc.so.6", "GLIBC_2.38")}, "trixie"},
		{"newer C++ library", []tarball.Need{need("libstdc++.so.6", "GLIBCXX_3.4.32")}, "trixie"},
		{"Debian 13's libaio", []tarball.Need{need("libaio.so.1t64"), need("libc.so.6", "GLIBC_2.17")}, "trixie"},
		{"too new", []tarball.Need{need("libc.so.6", "GLIBC_2.99")}, "bin/mysqld needs GLIBC_2.99 of libc.so.6, bookworm has GLIBC_2.36"},
		{"of both worlds", []tarball.Need{need("libtinfo.so.5"), need("libc.so.6", "GLIBC_2.38")}, "bin/mysqld needs the library libtinfo.so.5, which trixie does not have"},
	} {
		base, err := chooseBase(bases, c.needs)
		got := base.Suite
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The stream of the new root is watched for needed libraries: one that is nowhere, or too old, is named.
func TestLibraries(t *testing.T) {
	own, err := os.ReadFile("/bin/ls")
	if err != nil {
		t.Fatal(err)
	}
	library, _ := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	if len(library) != 1 {
		t.Fatalf("the C library lies in %v", library)
	}
	libc, err := os.ReadFile(library[0])
	if err != nil {
		t.Fatal(err)
	}
	root := []entry{
		{name: "./usr/", kind: tar.TypeDir, mode: 0o755}, {name: "./usr/lib/", kind: tar.TypeDir, mode: 0o755},
		{name: "./usr/lib/x86_64-linux-gnu/", kind: tar.TypeDir, mode: 0o755},
		{name: "./usr/lib/x86_64-linux-gnu/libc.so.6", kind: tar.TypeReg, content: string(libc), mode: 0o755},
		{name: "./usr/lib/x86_64-linux-gnu/libaio.so.1.0.2", kind: tar.TypeReg, content: "not read", mode: 0o644},
		{name: "./usr/lib/x86_64-linux-gnu/libaio.so.1", kind: tar.TypeSymlink, content: "libaio.so.1.0.2"},
		{name: "./usr/lib/x86_64-linux-gnu/far/libnuma.so.1", kind: tar.TypeReg, content: "the loader does not look here", mode: 0o644},
		{name: "./var/lib/dpkg/status", kind: tar.TypeReg, content: "Package: a\nStatus: install ok installed\n", mode: 0o644},
	}
	base := images.Base{Suite: "bookworm", Packages: []string{"libaio1"}}
	for _, c := range []struct {
		need tarball.Need
		want string
	}{
		{tarball.Need{Library: "libc.so.6", By: "bin/mysqld", Versions: []string{"GLIBC_2.4"}}, ""},
		{tarball.Need{Library: "libc.so.6", By: "bin/mysqld", Versions: []string{"GLIBC_2.4", "GLIBC_9.9"}}, "its bin/mysqld needs GLIBC_9.9 of the library libc.so.6"},
		{tarball.Need{Library: "libaio.so.1", By: "bin/mysqld", Versions: []string{"LIBAIO_0.4"}}, ""},
		{tarball.Need{Library: "libnuma.so.1", By: "bin/mysqld"}, "its bin/mysqld needs the library libnuma.so.1, which neither the tarball nor Debian bookworm with libaio1 holds"},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bin/mysqld"), own, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("mysqld", filepath.Join(dir, "bin/mariadbd")); err != nil {
			t.Fatal(err)
		}
		f := newFilter(images.Customize{})
		f.distribution, f.libraries = &distribution{Distribution: tarball.Distribution{Dir: dir, Server: "bin/mysqld"}}, newLibraries([]tarball.Need{c.need})
		var out bytes.Buffer
		if err := f.copy(&out, bytes.NewReader(stream(t, root))); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := f.libraries.check(base); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.need.Library, got, c.want)
		}
		list := listing(t, out.Bytes())
		for _, line := range []string{"5 0755 0/0 0 usr/local/mysql/bin/\n", "0 0755 0/0 0 usr/local/mysql/bin/mysqld ", "2 0777 0/0 0 usr/local/mysql/bin/mariadbd -> mysqld\n", "usr/lib/x86_64-linux-gnu/libc.so.6"} {
			if !strings.Contains(list, line) {
				t.Errorf("the stream has no %q", line)
			}
		}
	}
}
