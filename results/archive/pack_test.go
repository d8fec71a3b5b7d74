package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"platter/results/store"
)

// TestPackTwice: the same folder gives the same bytes, wherever it lies, whatever its times, modes and reports.
func TestPackTwice(t *testing.T) {
	first := packed(t)
	other := copyRun(t, t.TempDir())
	if err := other.WriteReport("report.txt", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, name := range []string{"run.json", "trials/000-ext4/1-1/result.json"} {
		path := filepath.Join(other.Path(), name)
		if err := errors.Join(os.Chtimes(path, when, when), os.Chmod(path, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	second := filepath.Join(t.TempDir(), "b"+Suffix)
	if err := Pack(second, []*store.Run{other}, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if a, b := read1(t, first), read1(t, second); !bytes.Equal(a, b) {
		t.Errorf("%d and %d bytes, and they differ", len(a), len(b))
	}
	if err := Pack(second, []*store.Run{other}, DefaultLimits()); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("packing over a file: %v", err)
	}
}

func read1(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestStranger reads a packed file with tar and coreutils alone.
func TestStranger(t *testing.T) {
	dir := t.TempDir()
	decoder, err := zstd.NewReader(bytes.NewReader(read1(t, packed(t))))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	plainTar, err := io.ReadAll(decoder)
	if err != nil {
		t.Fatal(err)
	}
	script := `set -e
tar -xf - && cd ` + runName + `
sha256sum --check --quiet --strict tagmanifest-sha256.txt
sha256sum --check --quiet --strict manifest-sha256.txt
cd data/` + runName + `
sha256sum --check --quiet --strict SHA256SUMS
find . -type f | wc -l`
	command := exec.Command("sh", "-c", script)
	command.Dir, command.Stdin = dir, bytes.NewReader(plainTar)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), fmt.Sprint(len(honest(t))); got != want {
		t.Errorf("a stranger finds %s files, the run has %s", got, want)
	}
}

// TestFlippedBit flips one bit of every byte of a packed file: each is found, and the place is named.
func TestFlippedBit(t *testing.T) {
	data := read1(t, packed(t))
	named := map[string]int{}
	for i := range data {
		data[i] ^= 1 << (i % 8)
		err := readAll(data)
		data[i] ^= 1 << (i % 8)
		var p *store.Problem
		if !errors.As(err, &p) {
			t.Fatalf("bit %d of byte %d: %v", i%8, i, err)
		}
		switch {
		case strings.Contains(err.Error(), runName+"/"):
			named["frame"]++
		case strings.Contains(err.Error(), "index"):
			named["index"]++
		default:
			t.Fatalf("byte %d: %v names no place", i, err)
		}
	}
	if named["frame"]+named["index"] != len(data) || named["frame"] < len(data)/2 {
		t.Errorf("named %v of %d bytes", named, len(data))
	}
	if err := readAll(data); err != nil {
		t.Errorf("without a flipped bit: %v", err)
	}
}

// TestDamageIsLocal: of a large packed file the members of the damaged frame are named, and no others.
func TestDamageIsLocal(t *testing.T) {
	run := copyRun(t, t.TempDir())
	for _, name := range []string{"a.bin", "b.bin", "c.bin"} {
		noise := make([]byte, 300<<10)
		for i := range noise {
			noise[i] = byte(i*i>>3 ^ i>>7 ^ int(name[0]))
		}
		if err := os.WriteFile(filepath.Join(run.Path(), "env", name), noise, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "x"+Suffix)
	if err := Pack(path, []*store.Run{run}, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	data := read1(t, path)
	x, err := readIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(x) < 4 {
		t.Fatalf("index %v, %v; want several frames", x, err)
	}
	at := slices.IndexFunc(x, func(f frame) bool { return strings.HasSuffix(f.first, "env/b.bin") })
	if at < 0 {
		t.Fatalf("no frame begins with b.bin: %v", x)
	}
	offset := int64(0)
	for _, f := range x[:at] {
		offset += f.bytes
	}
	data[offset+x[at].bytes/2] ^= 4
	err = readAll(data)
	if err == nil || !strings.Contains(err.Error(), "env/b.bin") || strings.Contains(err.Error(), "a.bin") || strings.Contains(err.Error(), "plan.json") {
		t.Errorf("error is %v, want b.bin named and what lies elsewhere not", err)
	}
}

func readAll(data []byte) error {
	return read(io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), DefaultLimits(), func(string, io.Reader) error { return nil })
}

// TestPackRefuses: what is no plain file, and what its reader would refuse.
func TestPackRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(dir string) error
		limits func(*Limits)
		want   string
	}{
		{"a symbolic link", func(dir string) error { return os.Symlink("/etc/passwd", dir+"/study/link") }, nil, "study/link is not a plain file"},
		{"a fifo", func(dir string) error { return exec.Command("mkfifo", dir+"/env/raw/fifo").Run() }, nil, "fifo is not a plain file"},
		{"names that differ in case", func(dir string) error { return os.WriteFile(dir+"/PLAN.json", nil, 0o644) }, nil, "one name on some filesystems"},
		{"too many", func(string) error { return nil }, func(l *Limits) { l.Files = 5 }, "more than 5 files"},
		{"too large", func(string) error { return nil }, func(l *Limits) { l.Bytes = 500 }, "more than 500 bytes"},
	} {
		run, limits := copyRun(t, t.TempDir()), DefaultLimits()
		if c.limits != nil {
			c.limits(&limits)
		}
		if err := os.MkdirAll(run.Path()+"/env/raw", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := c.spoil(run.Path()); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		err := Pack(filepath.Join(dir, "x"+Suffix), []*store.Run{run}, limits)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: left %v", c.name, left)
		}
	}
}
