package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platter/results/store"
)

// hostile are archives that an attacker makes who knows the form, so that their index and manifests are right. Each must
// be refused with a place and a reason.
var hostile = []struct {
	name   string
	forge  func(*forger)
	limits func(*Limits)
	want   string
}{
	{"a symbolic link", add(special(tar.TypeSymlink, "data/x", "/etc/passwd")), nil, "a symbolic link"},
	{"a hard link", add(special(tar.TypeLink, "data/x", "bag/bagit.txt")), nil, "a hard link"},
	{"a character device", add(special(tar.TypeChar, "data/x", "")), nil, "a character device"},
	{"a block device", add(special(tar.TypeBlock, "data/x", "")), nil, "a block device"},
	{"a fifo", add(special(tar.TypeFifo, "data/x", "")), nil, "a fifo"},
	{"a directory", add(special(tar.TypeDir, "data/x/", "")), nil, "a directory"},
	{"an absolute name", add(plain("/etc/cron.d/x", "x")), nil, "leads out"},
	{"a way up", add(plain("bag/data/../../../x", "x")), nil, "leads out"},
	{"a way up at the front", add(plain("../x", "x")), nil, "leads out"},
	{"a backslash", add(plain(`bag/data/..\..\x`, "x")), nil, `one of \`},
	{"a drive", add(plain("bag/data/C:x", "x")), nil, `one of \`},
	{"a control character", add(plain("bag/data/\x1b[2Jx", "x")), nil, "control characters"},
	{"a bidi override", add(plain("bag/data/\u202egpj.exe", "x")), nil, "control characters"},
	{"a name that is not UTF-8", add(plain("bag/data/\xff\xfe", "x")), nil, "not UTF-8"},
	{"a name without end", add(plain("bag/data/"+strings.Repeat("d/", 600)+"x", "x")), nil, "at most"},
	{"a deep name", add(plain("bag/data/"+strings.Repeat("d/", 40)+"x", "x")), nil, "parts"},
	{"another bag beside", add(plain("other/data/x", "x")), nil, "outside of the bag"},
	{"a file twice", add(plain("bag/data/"+runName+"/run.json", "{}")), nil, "there twice"},
	{"the same in capitals", add(plain("bag/data/"+runName+"/RUN.json", "{}")), nil, "one name on some filesystems"},
	{"the same decomposed", add(plain("bag/data/x\u00e9", "1"), plain("bag/data/xe\u0301", "2")), nil, "one name on some filesystems"},
	{"a file for a directory", add(plain("bag/data/"+runName, "x")), nil, "a file and a directory"},
	{"a directory for a file", add(plain("bag/data/"+runName+"/run.json/x", "x")), nil, "a file and a directory"},
	{"an extended attribute", add(member{tar.Header{Typeflag: tar.TypeReg, Name: "bag/data/x", Mode: 0o644,
		PAXRecords: map[string]string{"SCHILY.xattr.security.capability": "x"}}, ""}), nil, "the attribute"},
	{"GNU's own header", add(member{tar.Header{Typeflag: tar.TypeReg, Name: "bag/data/x", Mode: 0o644, Format: tar.FormatGNU}, ""}), nil, "GNU's own"},
	{"a file the manifest leaves out", func(f *forger) {
		f.members = append(f.members, plain("bag/data/extra", "x"))
		f.loose = []string{"bag/data/extra"}
	}, nil, "does not name it"},
	{"a file that is not there", func(f *forger) { f.members = f.members[:len(f.members)-1]; f.tags = manifestOf(f, "data/gone") }, nil, "not there"},
	{"a file with another digest", func(f *forger) { f.tags = manifestOf(f, "") }, nil, "the manifest says"},
	{"a tag file that was changed", func(f *forger) {
		f.tags = func(tags []tagFile) []tagFile { tags[1].text = append(tags[1].text, "x: y\n"...); return tags }
	}, nil, "tagmanifest"},
	{"tag files in disorder", func(f *forger) {
		f.tags = func(tags []tagFile) []tagFile { slices.Reverse(tags); return tags }
	}, nil, "want bagit.txt"},
	{"data behind the end", func(f *forger) { f.tail = []byte("#!/bin/sh\n") }, nil, "follows the end"},
	{"zeros without end", func(f *forger) { f.tail = make([]byte, 8<<20) }, nil, "follows the end"},
	{"too many files", many(300), func(l *Limits) { l.Files = 100 }, "more than 100 files"},
	{"too many bytes", add(plain("bag/data/big", strings.Repeat("x", 1<<20))), func(l *Limits) { l.Bytes = 1 << 19 }, "bytes unpacked"},
	{"a bomb", add(plain("bag/data/zeros", strings.Repeat("\x00", 16<<20))), func(l *Limits) { l.RatioFrom = 1 << 20 }, "a bomb"},
	{"a manifest without end", many(3000), func(l *Limits) { l.ManifestBytes = 10 << 10 }, "too_large"},
	{"no run", func(f *forger) { f.members = []member{plain("bag/data/"+runName+"/x", "x")} }, nil, "not a run folder"},
	{"a run of another name", func(f *forger) {
		for i := range f.members {
			f.members[i].header.Name = strings.Replace(f.members[i].header.Name, runName, "20990101T000000Z-other-000000", 1)
		}
	}, nil, "calls itself"},
	{"nothing", func(f *forger) { f.members = nil }, nil, "no run"},
}

func add(members ...member) func(*forger) {
	return func(f *forger) { f.members = append(f.members, members...) }
}

func special(kind byte, name, target string) member {
	return member{tar.Header{Typeflag: kind, Name: "bag/" + name, Linkname: target, Mode: 0o777, Devmajor: 7}, ""}
}

func many(n int) func(*forger) {
	return func(f *forger) {
		for i := range n {
			f.members = append(f.members, plain(fmt.Sprintf("bag/data/many/%d", i), "x"))
		}
	}
}

// manifestOf forges a manifest, and the tag manifest to fit: a file more, or a wrong digest for the last.
func manifestOf(f *forger, more string) func([]tagFile) []tagFile {
	return func([]tagFile) []tagFile {
		b := bag{name: "bag", runs: []string{runName}}
		for _, m := range f.members {
			_, digest := sum(m.text)
			b.items = append(b.items, item{name: strings.TrimPrefix(m.header.Name, "bag/"), sha256: digest})
		}
		if more != "" {
			b.items = append(b.items, item{name: more, sha256: strings.Repeat("0", 64)})
		} else {
			b.items[len(b.items)-1].sha256 = strings.Repeat("0", 64)
		}
		return b.tagFiles()
	}
}

func TestHostile(t *testing.T) {
	if len(hostile) < 12 {
		t.Fatal("too few")
	}
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			f := forger{members: honest(t)}
			c.forge(&f)
			file, limits := f.write(t), DefaultLimits()
			if c.limits != nil {
				c.limits(&limits)
			}
			house := t.TempDir() // everything around the target is watched
			into := filepath.Join(house, "a", "b", "results")
			if err := os.MkdirAll(into, 0o755); err != nil {
				t.Fatal(err)
			}
			before := tree(t, house)
			runs, err := Unpack(file, into, limits)
			var p *store.Problem
			if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) || len(runs) != 0 {
				t.Errorf("got %v, %v; want a problem with %q", runs, err, c.want)
			}
			if after := tree(t, house); !slices.Equal(before, after) {
				t.Errorf("it left\n%s\nof\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
			if _, err := os.Lstat("/etc/cron.d/x"); err == nil {
				t.Error("it wrote outside")
			}
		})
	}
}

// TestForgerIsHonest: without a forgery the forger's archive is taken, so that each refusal above has its own reason.
func TestForgerIsHonest(t *testing.T) {
	runs, err := Unpack(forger{members: honest(t)}.write(t), t.TempDir(), DefaultLimits())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	if problems := open(t, runs[0].Path).Verify(); len(problems) != 0 {
		t.Error(problems)
	}
}

// TestCutShort cuts a packed file at every length, and gives files that never were one.
func TestCutShort(t *testing.T) {
	data := read1(t, packed(t))
	var p *store.Problem
	for n := 0; n < len(data); n += 7 {
		if err := readAll(data[:n]); !errors.As(err, &p) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	for _, text := range []string{"", "x", strings.Repeat("x", 1000), string(data) + "x", string(data[1:])} {
		if err := readAll([]byte(text)); !errors.As(err, &p) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
