package hypervisor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"platter/lab/domain"
)

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// opener counts how often an image is opened.
func opener(content []byte, opened *int) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		*opened++
		return io.NopCloser(bytes.NewReader(content)), nil
	}
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestStage(t *testing.T) {
	h := unitHost(t, "")
	content := bytes.Repeat([]byte("root image "), 100_000)
	digest := digestOf(content)
	opened := 0
	var first string
	for range 2 {
		path, err := h.Stage(t.Context(), "root.squashfs", digest, opener(content, &opened))
		if err != nil {
			t.Fatal(err)
		}
		first = path
	}
	if opened != 1 {
		t.Errorf("opened %d times, want once", opened)
	}
	got, err := os.ReadFile(first)
	info, statErr := os.Stat(first)
	if err = errors.Join(err, statErr); err != nil || !bytes.Equal(got, content) || info.Mode().Perm() != 0o444 {
		t.Errorf("staged file: %v, %d bytes, mode %v", err, len(got), info.Mode())
	}
	if want := "root.squashfs-" + digest[:16]; filepath.Base(first) != want {
		t.Errorf("named %s, want %s", filepath.Base(first), want)
	}
}

// TestStageFromFile goes through the kernel's copy instead of ours.
func TestStageFromFile(t *testing.T) {
	h := unitHost(t, "")
	content := bytes.Repeat([]byte{1, 2, 3, 4}, 1<<18)
	src := filepath.Join(t.TempDir(), "src")
	if err := os.WriteFile(src, content, 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := h.Stage(t.Context(), "vmlinuz", "sha256:"+digestOf(content), func() (io.ReadCloser, error) { return os.Open(src) })
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
		t.Errorf("staged %d bytes, %v", len(got), err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the disk is on fire") }
func (brokenReader) Close() error             { return nil }

// TestStageLeavesNothingHalf: a bad, a broken and an interrupted copy leave no
// file behind.
func TestStageLeavesNothingHalf(t *testing.T) {
	content := []byte("kernel")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	opened := 0
	cases := []struct {
		name, image, digest string
		ctx                 context.Context
		open                func() (io.ReadCloser, error)
		want                string
	}{
		{"wrong digest", "vmlinuz", digestOf([]byte("other")), t.Context(), opener(content, &opened), "its SHA-256 is " + digestOf(content)},
		{"broken source", "vmlinuz", digestOf(content), t.Context(), func() (io.ReadCloser, error) { return brokenReader{}, nil }, "the disk is on fire"},
		{"no source", "vmlinuz", digestOf(content), t.Context(), func() (io.ReadCloser, error) { return nil, os.ErrNotExist }, "does not exist"},
		{"interrupted", "vmlinuz", digestOf(content), ended, opener(content, &opened), "canceled"},
		{"no digest", "vmlinuz", "abc", t.Context(), opener(content, &opened), "not a hexadecimal SHA-256"},
		{"bad name", "../vmlinuz", digestOf(content), t.Context(), opener(content, &opened), "want 1 to 100 of"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := unitHost(t, "")
			_, err := h.Stage(c.ctx, c.image, c.digest, c.open)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if _, err := os.Stat(h.storage); err == nil {
				if left := filesIn(t, filepath.Join(h.storage, imagesDir)); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			}
		})
	}
	var digestError *DigestError
	if _, err := unitHost(t, "").Stage(t.Context(), "x", digestOf(nil), opener(content, &opened)); !errors.As(err, &digestError) {
		t.Errorf("error is a %T, want a DigestError", err)
	}
}

func TestStageConcurrently(t *testing.T) {
	h := unitHost(t, "")
	content := bytes.Repeat([]byte("x"), 1<<20)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			opened := 0
			if _, err := h.Stage(t.Context(), "root", digestOf(content), opener(content, &opened)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if left := filesIn(t, filepath.Join(h.storage, imagesDir)); len(left) != 1 {
		t.Errorf("images are %q, want one", left)
	}
}

func TestRunDirectory(t *testing.T) {
	h := unitHost(t, "")
	tag, err := NewTag("20261130-1800")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, err := h.ensureRun(tag); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if names := filesIn(t, h.storage); len(names) != 1 || names[0] != "run-20261130-1800" {
		t.Fatalf("storage holds %q", names)
	}
	got, err := readOwner(h.RunDir(tag.Run))
	if err != nil || !sameOwner(got, tag) {
		t.Errorf("owner is %+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(h.RunDir(tag.Run), "data0"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.RemoveRun(tag.Run); err != nil {
			t.Error(err)
		}
	}
	if names := filesIn(t, h.storage); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
}

// TestRemoveRunSparesOthers: what does not say that it is this run's stays.
func TestRemoveRunSparesOthers(t *testing.T) {
	h := unitHost(t, "")
	foreign := h.RunDir("theirs")
	renamed := h.RunDir("renamed")
	outside := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(os.MkdirAll(foreign, 0o755), os.MkdirAll(renamed, 0o755), os.MkdirAll(outside, 0o755),
		os.WriteFile(filepath.Join(renamed, ownerFile), []byte(`{"run":"original"}`), 0o644),
		os.WriteFile(filepath.Join(outside, ownerFile), []byte(`{"run":"link"}`), 0o644),
		os.Symlink(outside, h.RunDir("link"))); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"theirs", "renamed", "link", "../x", ""} {
		if err := h.RemoveRun(run); err == nil {
			t.Errorf("run %q was removed", run)
		}
	}
	for _, dir := range []string{foreign, renamed, outside} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("lost: %v", err)
		}
	}
}

var volumeCases = []struct {
	name  string
	spec  VolumeSpec
	want  string // part of the error
	check func(Volume, os.FileInfo, int64) bool
}{
	{name: "full", spec: VolumeSpec{Name: "full", SizeBytes: 8 << 20}, check: func(v Volume, i os.FileInfo, used int64) bool {
		return v.Method != "none" && i.Size() == 8<<20 && used >= 8<<20 && v.Format == domain.Raw
	}},
	{name: "sparse", spec: VolumeSpec{Name: "sparse", SizeBytes: 8 << 20, Preallocation: PreallocateOff}, check: func(v Volume, i os.FileInfo, used int64) bool {
		return v.Method == "none" && i.Size() == 8<<20 && used < 1<<20
	}},
	{name: "again", spec: VolumeSpec{Name: "full", SizeBytes: 8 << 20}, want: "exists"},
	{name: "odd", spec: VolumeSpec{Name: "odd", SizeBytes: 123456789}, want: "want a multiple of 512"},
	{name: "empty", spec: VolumeSpec{Name: "empty"}, want: "want a multiple of 512"},
	{name: "huge", spec: VolumeSpec{Name: "huge", SizeBytes: 1 << 60}, want: "huge of 1EiB: "},
	{name: "path", spec: VolumeSpec{Name: "a/b", SizeBytes: 512}, want: "want 1 to 100 of"},
	{name: "owner", spec: VolumeSpec{Name: ownerFile, SizeBytes: 512}, want: "the name is taken"},
	{name: "format", spec: VolumeSpec{Name: "f", SizeBytes: 512, Format: "vmdk"}, want: "want raw or qcow2"},
	{name: "preallocation", spec: VolumeSpec{Name: "p", SizeBytes: 512, Preallocation: "metadata"}, want: "want full or off"},
}

func TestCreateVolume(t *testing.T) {
	h := unitHost(t, "")
	for _, c := range volumeCases {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Tag.Run = "r1"
			v, err := h.CreateVolume(t.Context(), c.spec)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(v.Path)
			if err != nil {
				t.Fatal(err)
			}
			if used := diskUsage(v.Path); !c.check(v, info, used) {
				t.Errorf("volume %+v of %d bytes uses %d", v, info.Size(), used)
			}
		})
	}
	if names := filesIn(t, h.RunDir("r1")); strings.Join(names, " ") != "full owner.json sparse" {
		t.Errorf("the run holds %q", names)
	}
	var space *SpaceError
	_, err := h.CreateVolume(t.Context(), VolumeSpec{Tag: domain.Tag{Run: "r1"}, Name: "huge", SizeBytes: 1 << 60})
	if !errors.As(err, &space) || space.NeedBytes != 1<<60+reserveBytes {
		t.Errorf("error is %v", err)
	}
	for range 2 {
		if err := h.RemoveVolume(Volume{Run: "r1", Name: "full", Path: filepath.Join(h.RunDir("r1"), "full")}); err != nil {
			t.Error(err)
		}
	}
	if err := h.RemoveVolume(Volume{Run: "r1", Name: "passwd", Path: "/etc/passwd"}); err == nil {
		t.Error("a file outside of the run was removed")
	}
}
