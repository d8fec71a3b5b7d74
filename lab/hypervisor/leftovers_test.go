package hypervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"platter/lab/domain"
)

// deadTag is the tag of a process that is gone.
func deadTag(t *testing.T, run string) domain.Tag {
	t.Helper()
	tag, err := NewTag(run)
	if err != nil {
		t.Fatal(err)
	}
	tag.PIDStart++
	return tag
}

func ownRun(t *testing.T, h *Host, tag domain.Tag) string {
	t.Helper()
	dir, err := h.ensureRun(tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data0"), make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLeftoverRuns: runs of the dead are found, those of the living only when
// asked for, those of others never.
func TestLeftoverRuns(t *testing.T) {
	h := unitHost(t, "")
	h.storage = filepath.Join(t.TempDir(), `R&D, "q1" [x]*`) // B23
	alive, err := NewTag("alive")
	if err != nil {
		t.Fatal(err)
	}
	dead := deadTag(t, "dead")
	ownRun(t, h, alive)
	ownRun(t, h, dead)
	foreign := h.RunDir("foreign")
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := h.leftoverRuns(DeadOwners)
	if err != nil || len(found) != 1 || found[0].Name != "dead" || found[0].SizeBytes < 8192 || !strings.Contains(found[0].Reason, "has ended") {
		t.Fatalf("found %+v, %v", found, err)
	}
	all, err := h.leftoverRuns(Everything)
	if err != nil || len(all) != 2 {
		t.Errorf("found %+v, %v; want both of ours", all, err)
	}
	for range 2 {
		if err := h.Remove(t.Context(), found[0]); err != nil {
			t.Error(err)
		}
	}
	if names := strings.Join(filesIn(t, h.storage), " "); names != "run-alive run-foreign" {
		t.Errorf("storage holds %q", names)
	}
	stolen := found[0]
	stolen.Tag.Run, stolen.Name = "alive", "alive"
	if err := h.Remove(t.Context(), stolen); err == nil || !strings.Contains(err.Error(), "another owner") {
		t.Errorf("a run with another owner: %v", err)
	}
}

// TestRemoveGoesOn is case B14: what is stuck is named, the rest is gone, and
// what is left is still known as ours.
func TestRemoveGoesOn(t *testing.T) {
	h := unitHost(t, "")
	tag := deadTag(t, "stuck")
	dir := ownRun(t, h, tag)
	stuck := filepath.Join(dir, "held")
	if err := os.MkdirAll(filepath.Join(stuck, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	release := hold(t, stuck)
	found, err := h.leftoverRuns(DeadOwners)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	err = h.Remove(t.Context(), found[0])
	if err == nil || !strings.Contains(err.Error(), stuck) {
		t.Errorf("error is %v, want one that names %s", err, stuck)
	}
	if names := strings.Join(filesIn(t, dir), " "); names != "held owner.json" {
		t.Errorf("the run holds %q", names)
	}
	release()
	if again, err := h.leftoverRuns(DeadOwners); err != nil || len(again) != 1 {
		t.Errorf("found %+v, %v", again, err)
	}
	if err := h.Remove(t.Context(), found[0]); err != nil {
		t.Error(err)
	}
}

// hold makes a directory's content impossible to remove until released: by its
// mode for a user, by the immutable attribute for root.
func hold(t *testing.T, dir string) (release func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		return func() { os.Chmod(dir, 0o700) }
	}
	set := func(flags int) error {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
	}
	if err := set(0x10); err != nil { // FS_IMMUTABLE_FL
		t.Fatal(err)
	}
	release = func() {
		if err := set(0); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	t.Cleanup(release)
	return release
}

// TestLeftoverTemps: files in the making are locked or young.
func TestLeftoverTemps(t *testing.T) {
	h := unitHost(t, "")
	images, err := h.makeDir(imagesDir)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	write := func(name string, mtime time.Time) string {
		path := filepath.Join(h.storage, name)
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, mtime, mtime)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	busy := write(imagesDir+"/.stage-busy", old)
	write(imagesDir+"/.stage-dead", time.Now())
	write(".probe-old", old)
	write(".probe-new", time.Now())
	write("notes.txt", old)
	f, err := os.Open(busy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	found, err := h.leftoverTemps()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range found {
		names = append(names, l.Name)
		if err := h.Remove(t.Context(), l); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(names, " "); got != ".stage-dead .probe-old" {
		t.Errorf("found %q", got)
	}
	if got := strings.Join(filesIn(t, images), " "); got != ".stage-busy" {
		t.Errorf("images holds %q", got)
	}
	for _, path := range []string{"/etc/.x", filepath.Join(h.storage, "notes.txt"), h.storage} {
		if err := h.Remove(t.Context(), Leftover{Kind: LeftoverTemp, Path: path}); err == nil {
			t.Errorf("%s was removed", path)
		}
	}
}

// TestStagedImages: they are copies, so "everything" includes them, and nothing
// else of the directory.
func TestStagedImages(t *testing.T) {
	h := unitHost(t, "")
	opened := 0
	path, err := h.Stage(t.Context(), "vmlinuz", digestOf([]byte("k")), opener([]byte("k"), &opened))
	if err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(filepath.Dir(path), "notes.txt")
	if err := os.WriteFile(notes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := h.stagedImages()
	if len(found) != 1 || found[0].Path != path {
		t.Fatalf("found %+v", found)
	}
	for range 2 {
		if err := h.Remove(t.Context(), found[0]); err != nil {
			t.Error(err)
		}
	}
	for _, other := range []string{notes, "/etc/passwd", "/boot/vmlinuz-0123456789abcdef"} {
		if err := h.Remove(t.Context(), Leftover{Kind: LeftoverImage, Path: other}); err == nil {
			t.Errorf("%s was removed", other)
		}
	}
}
