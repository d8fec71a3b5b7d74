package build

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platter/images"
)

var (
	update = flag.Bool("update", false, "write the golden files anew")
	vm     = flag.Bool("vm", false, "run the tests that need virtual machines, root or the network")
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-golden +now; -update accepts):\n%s", file, diff)
	}
}

func TestCommandGolden(t *testing.T) {
	r := images.Recipe{
		Name: "sample", Kind: images.KindRoot, Suite: "sid", Components: []string{"main", "contrib"},
		Packages: []string{"linux-image-{arch}", "kmod"}, AptOptions: []string{`Acquire::Check-Valid-Until "false";`},
		Customize: images.Customize{
			Exclude: []string{"/usr/share/doc/*"}, Include: []string{"/usr/share/doc/kmod/*"},
			Run: []string{"depmod 6.12", "echo 'a b' >/etc/c"},
		},
	}
	got := mmdebstrap("unshare", r, images.Options{Arch: "arm64"}, "")
	golden(t, "mmdebstrap-default", strings.Join(got, "\n")+"\n")
	o := images.Options{Arch: "amd64", Mirror: "http://mirror.example/debian", AptOptions: []string{`Acquire::http::Proxy "http://cache.example:3142";`}}
	golden(t, "mmdebstrap-mirror", strings.Join(mmdebstrap("root", r, o, "/scratch/keys"), "\n")+"\n")
	golden(t, "mksquashfs", strings.Join(squash("/cache/root.squashfs"), "\n")+"\n")
}

// entry is one member of a tar stream of a test.
type entry struct {
	name, content string
	kind          byte
	mode          int64
	uid           int
	xattr         map[string]string
	age           time.Duration // after SOURCE_DATE_EPOCH
}

func stream(t *testing.T, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: e.mode, Uid: e.uid, PAXRecords: e.xattr,
			ModTime: time.Unix(images.SourceDateEpoch, 0).Add(e.age), Uname: "somebody"}
		if e.kind == tar.TypeReg {
			h.Size = int64(len(e.content))
		} else {
			h.Linkname = e.content
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if e.kind == tar.TypeReg {
			if _, err := w.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listing prints a tar stream with everything that ends in the image.
func listing(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%c %04o %d/%d %d %s", h.Typeflag, h.Mode, h.Uid, h.Gid, h.ModTime.Unix()-images.SourceDateEpoch, h.Name)
		if h.Linkname != "" {
			fmt.Fprintf(&b, " -> %s", h.Linkname)
		}
		if h.Uname != "" {
			fmt.Fprintf(&b, " uname=%s", h.Uname)
		}
		for key := range h.PAXRecords {
			fmt.Fprintf(&b, " %s", key)
		}
		if len(content) > 0 {
			fmt.Fprintf(&b, " %q", content)
		}
		b.WriteByte('\n')
	}
}

var root = []entry{
	{name: "./", kind: tar.TypeDir, mode: 0o755},
	{name: "./bin", kind: tar.TypeSymlink, content: "usr/bin", mode: 0o777},
	{name: "./boot/", kind: tar.TypeDir, mode: 0o755},
	{name: "./boot/vmlinuz-6.12.118-amd64", kind: tar.TypeReg, content: "kernel", mode: 0o644},
	{name: "./etc/", kind: tar.TypeDir, mode: 0o755},
	{name: "./etc/hosts", kind: tar.TypeReg, content: "build host", mode: 0o644},
	{name: "./etc/passwd", kind: tar.TypeReg, content: "root:x:0", mode: 0o644, age: time.Hour},
	{name: "./usr/", kind: tar.TypeDir, mode: 0o755},
	{name: "./usr/bin/", kind: tar.TypeDir, mode: 0o755},
	{name: "./usr/bin/gunzip", kind: tar.TypeReg, content: "#!", mode: 0o755, age: -time.Hour},
	{name: "./usr/bin/uncompress", kind: tar.TypeLink, content: "./usr/bin/gunzip", mode: 0o755},
	{name: "./usr/bin/ping", kind: tar.TypeReg, content: "p", mode: 0o755, xattr: map[string]string{"SCHILY.xattr.security.capability": "x", "SCHILY.xattr.user.note": "y"}},
	{name: "./usr/share/", kind: tar.TypeDir, mode: 0o755},
	{name: "./usr/share/doc/", kind: tar.TypeDir, mode: 0o755},
	{name: "./usr/share/doc/a/copyright", kind: tar.TypeReg, content: "c", mode: 0o644},
	{name: "./var/", kind: tar.TypeDir, mode: 0o755},
	{name: "./var/lib/dpkg/status", kind: tar.TypeReg, content: "Package: kmod\nStatus: install ok installed\nVersion: 34\nArchitecture: amd64\n", mode: 0o644},
	{name: "./platter-packages", kind: tar.TypeReg, content: "Package: kmod\nArchitecture: amd64\nVersion: 34\nSHA256: feed\n", mode: 0o644},
}

func TestFilterGolden(t *testing.T) {
	customize := images.Customize{
		Remove:      []string{"/boot", "/usr/share/doc/*", "/var/lib/dpkg"},
		Files:       []images.File{{Path: "/etc/hosts", Mode: 0o644, Content: "127.0.0.1 localhost\n"}, {Path: "/usr/lib/platter/init", Mode: 0o755, Content: "#!/bin/sh\n"}},
		Directories: []images.Directory{{Path: "/tmp", Mode: 0o1777}, {Path: "/platter/data", Mode: 0o755, UID: 970, GID: 970}},
		Links:       []images.Link{{Path: "/usr/sbin/reboot", Target: "../bin/busybox"}},
	}
	for name, c := range map[string]images.Customize{
		"filter":      customize,
		"filter-keep": {Keep: []string{"/usr/bin/ping", "*/gunzip"}},
	} {
		f := newFilter(c)
		var out bytes.Buffer
		if err := f.copy(&out, bytes.NewReader(stream(t, root))); err != nil {
			t.Fatal(err)
		}
		golden(t, name, listing(t, out.Bytes()))

		got, err := f.output()
		if err != nil {
			t.Fatal(err)
		}
		want := &rootOutput{
			packages: []images.Package{{Name: "kmod", Version: "34", Architecture: "amd64", SHA256: "feed"}},
			kernel:   []byte("kernel"), kernelVersion: "6.12.118-amd64",
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(rootOutput{})); diff != "" {
			t.Errorf("%s: what the stream told:\n%s", name, diff)
		}
	}
}

// TestFilterEqualBytes feeds what differs between two builds of the same
// packages and wants the same stream.
func TestFilterEqualBytes(t *testing.T) {
	var outputs [2]bytes.Buffer
	for i, age := range []time.Duration{time.Hour, 48 * time.Hour} {
		entries := append([]entry{}, root...)
		entries[6].age = age
		entries = append(entries, entry{name: "./var/log/dpkg.log", kind: tar.TypeReg, content: age.String(), mode: 0o644})
		f := newFilter(images.Customize{Remove: []string{"/var/log/*"}})
		if err := f.copy(&outputs[i], bytes.NewReader(stream(t, entries))); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(outputs[0].Bytes(), outputs[1].Bytes()) {
		t.Errorf("streams differ:\n%s", cmp.Diff(listing(t, outputs[0].Bytes()), listing(t, outputs[1].Bytes())))
	}
}

func TestFilterRefuses(t *testing.T) {
	half := newFilter(images.Customize{Remove: []string{"/usr/bin/gunzip"}})
	if err := half.copy(io.Discard, bytes.NewReader(stream(t, root))); err == nil || !strings.Contains(err.Error(), "hard link") {
		t.Errorf("a hard link to a removed file: %v", err)
	}
	cut := stream(t, root)[:3000]
	if err := newFilter(images.Customize{}).copy(io.Discard, bytes.NewReader(cut)); err == nil {
		t.Error("a stream that ends early was accepted")
	}
	two := append([]entry{{name: "./boot/vmlinuz-6.1", kind: tar.TypeReg, content: "k"}}, root...)
	f := newFilter(images.Customize{})
	if err := f.copy(io.Discard, bytes.NewReader(stream(t, two))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.output(); err == nil || !strings.Contains(err.Error(), "two kernels") {
		t.Errorf("two kernels: %v", err)
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/boot", "/boot", true},
		{"/boot", "/boot/vmlinuz", true},
		{"/boot", "/bootloader", false},
		{"/tmp/*", "/tmp", false},
		{"/tmp/*", "/tmp/a/b", true},
		{"*/__pycache__/*", "/usr/lib/x/__pycache__/a.pyc", true},
		{"/etc/rc?.d", "/etc/rc2.d/S01ssh", true},
		{"/etc/rc?.d", "/etc/rc.d", false},
		{"/usr/lib/a.b", "/usr/lib/aXb", false},
		{"/usr/lib/*/kernel/sound/*", "/usr/lib/modules/6.12+deb13/kernel/sound/core/snd.ko", true},
	} {
		if got := patterns([]string{"/never", c.pattern}).MatchString(c.path); got != c.want {
			t.Errorf("pattern %q, path %q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestParsePackages(t *testing.T) {
	status := `Package: zlib1g
Status: install ok installed
Architecture: amd64
Version: 1:1.3
Description: library
 with Package: words inside
Conffiles:
 /etc/a 0123

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: adduser
Status: install ok installed
Architecture: all
Version: 3.152
`
	index := "Package: adduser\nArchitecture: all\nVersion: 3.152\nSHA256: aa\nPackage: zlib1g\nArchitecture: amd64\nVersion: 1:1.2\nSHA256: bb\n"
	got, err := parsePackages(status, index)
	if err != nil {
		t.Fatal(err)
	}
	want := []images.Package{{Name: "adduser", Version: "3.152", Architecture: "all", SHA256: "aa"}, {Name: "zlib1g", Version: "1:1.3", Architecture: "amd64"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := parsePackages("", index); err == nil {
		t.Error("an image without packages was accepted")
	}
}
