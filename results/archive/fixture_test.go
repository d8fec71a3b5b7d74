package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"platter/results/store"
)

const runName = "20260131T021500Z-ext4-vs-xfs-7f3a9c"

var fixture = filepath.Join("..", "store", "testdata", runName)

// copyRun makes a run folder of its own below dir.
func copyRun(t *testing.T, dir string) *store.Run {
	t.Helper()
	path := filepath.Join(dir, runName)
	if err := os.CopyFS(path, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

func open(t *testing.T, path string) *store.Run {
	t.Helper()
	run, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// packed packs the archived run and returns where.
func packed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run"+Suffix)
	if err := Pack(path, []*store.Run{open(t, fixture)}, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	return path
}

// tree lists everything below a directory, with the digests of files.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		line := path + " " + entry.Type().String()
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// forger writes archives as an attacker would who knows the form: index, manifest and tag manifest are right unless the
// forger changes them.
type forger struct {
	bag     string
	members []member
	tags    func([]tagFile) []tagFile // changes the tag files
	tail    []byte                    // behind the end of the tar
	loose   []string                  // members that the manifest leaves out
}

type member struct {
	header tar.Header
	text   string
}

// plain is an ordinary member of the payload.
func plain(name, text string) member {
	return member{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text))}, text}
}

// honest is the payload of a real run.
func honest(t *testing.T) []member {
	t.Helper()
	var all []member
	err := open(t, fixture).Files(func(name string, _ fs.DirEntry) error {
		data, err := os.ReadFile(filepath.Join(fixture, name))
		all = append(all, plain("bag/data/"+runName+"/"+name, string(data)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.header.Name, b.header.Name) })
	return all
}

func (f forger) write(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	frames, err := newFrameWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(frames)
	put := func(m member) {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := frames.begin(strings.ReplaceAll(m.header.Name, "\n", "?")); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&m.header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	b := bag{name: "bag", runs: []string{runName}}
	listed := map[string]bool{}
	for _, m := range f.members {
		digest := sha256.Sum256([]byte(m.text))
		name := strings.TrimPrefix(m.header.Name, "bag/")
		if slices.Contains(f.loose, m.header.Name) || listed[name] {
			continue
		}
		listed[name] = true
		b.items = append(b.items, item{name: name, bytes: int64(len(m.text)), sha256: hex.EncodeToString(digest[:])})
	}
	tags := b.tagFiles()
	if f.tags != nil {
		tags = f.tags(tags)
	}
	for _, tag := range tags {
		put(plain("bag/"+tag.name, string(tag.text)))
	}
	for _, m := range f.members {
		put(m)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := frames.Write(f.tail); err != nil {
		t.Fatal(err)
	}
	if err := frames.close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "forged"+Suffix)
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
