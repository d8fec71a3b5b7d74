package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"platter/results/store"
)

// FuzzRead reads hostile archives. With wrap the bytes are a tar that an attacker packed with a right index, else they
// are the whole file. Whatever comes out, it is refused with a place or every file of it lies within, and nothing panics.
// Fuzz it with -fuzzminimizetime 1x: what the decoder covers differs from run to run, and minimizing has no end.
func FuzzRead(f *testing.F) {
	var small bytes.Buffer
	w := tar.NewWriter(&small)
	for _, tag := range (bag{name: "b", items: []item{{name: "data/x", bytes: 1, sha256: strings.Repeat("a", 64)}}}).tagFiles() {
		_ = w.WriteHeader(&tar.Header{Name: "b/" + tag.name, Size: int64(len(tag.text)), Typeflag: tar.TypeReg, Mode: 0o644})
		_, _ = w.Write(tag.text)
	}
	_ = w.WriteHeader(&tar.Header{Name: "b/data/x", Size: 1, Typeflag: tar.TypeReg, Mode: 0o644})
	_, _ = w.Write([]byte("x"))
	_ = w.Close()
	f.Add(small.Bytes(), true)
	f.Add(wrapped(f, small.Bytes()), false)
	limits := DefaultLimits()
	limits.Bytes, limits.Files, limits.ManifestBytes = 1<<20, 1000, 1<<20
	f.Fuzz(func(t *testing.T, data []byte, wrap bool) {
		if wrap {
			data = wrapped(t, data)
		}
		seen := map[string]bool{}
		total := int64(0)
		err := read(io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), limits, func(name string, content io.Reader) error {
			if !filepath.IsLocal(name) || seen[strings.ToLower(name)] {
				t.Fatalf("%q was let through", name)
			}
			seen[strings.ToLower(name)] = true
			n, err := io.Copy(io.Discard, content)
			if total += n; total > limits.Bytes {
				t.Fatalf("%d bytes were let through", total)
			}
			if err != nil {
				return problem(store.Broken, name, "%w", err)
			}
			return nil
		})
		var p *store.Problem
		if err != nil && !errors.As(err, &p) {
			t.Fatalf("%v (%T) names no place", err, err)
		}
	})
}

// wrapped packs a tar as one frame with a right index.
func wrapped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	frames, err := newFrameWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if err := frames.begin("x"); err != nil {
		t.Fatal(err)
	}
	if _, err := frames.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := frames.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
