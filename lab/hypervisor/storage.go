package hypervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/google/renameio/v2"

	"platter/lab/domain"
)

// What lies below the storage directory:
//
//	images/<name>-<digest>   staged images, read-only, shared by all runs
//	images/.stage-*          images being staged, locked while that goes on
//	run-<run>/owner.json     whose run this is
//	run-<run>/<volume>       volumes and consoles of one run
//	.run-*                   a run directory being made
//	.probe-*                 a probe going on
const (
	imagesDir   = "images"
	runPrefix   = "run-"
	ownerFile   = "owner.json"
	stagePrefix = ".stage-"
	newPrefix   = ".run-"
	probePrefix = ".probe-"
)

// nameOK is what may become a file name below the storage directory.
var nameOK = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func checkName(what, name string) error {
	if !nameOK.MatchString(name) {
		return fmt.Errorf("%s %q: want 1 to 100 of A-Za-z0-9._-, starting with a letter or digit", what, name)
	}
	return nil
}

// storageDir is the default place: one that QEMU's user can enter and that
// AppArmor's profile of libvirt covers.
func (env environment) storageDir(mode Mode) string {
	if mode == SystemMode {
		return "/var/lib/libvirt/images/platter"
	}
	return filepath.Join(env.xdg("XDG_DATA_HOME", ".local/share"), "platter", "volumes")
}

// makeDir makes a directory below the storage directory (or that itself) that
// others, QEMU's user among them, can pass through but not list.
func (h *Host) makeDir(elem ...string) (string, error) {
	dir := filepath.Join(append([]string{h.storage}, elem...)...)
	err := os.MkdirAll(dir, 0o711)
	if errors.Is(err, fs.ErrPermission) && h.addr.mode == SystemMode {
		return "", fmt.Errorf("make the storage directory: %w; choose another with --storage-dir or use --connect qemu:///session", err)
	}
	if err != nil {
		return "", fmt.Errorf("make the storage directory: %w", err)
	}
	return dir, nil
}

// RunDir is the directory of a run's volumes on the host.
func (h *Host) RunDir(run string) string { return filepath.Join(h.storage, runPrefix+run) }

// ensureRun makes the directory of a run together with the file that says whose
// it is; there is no moment at which the one is there without the other.
func (h *Host) ensureRun(tag domain.Tag) (string, error) {
	if err := checkName("run", tag.Run); err != nil {
		return "", err
	}
	dir := h.RunDir(tag.Run)
	if have, err := readOwner(dir); err == nil {
		return dir, h.renewOwner(dir, have, tag)
	}
	if _, err := h.makeDir(); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(h.storage, newPrefix)
	if err != nil {
		return "", fmt.Errorf("make the directory of run %s: %w", tag.Run, err)
	}
	defer os.RemoveAll(fresh) // gone already when all went well
	text, err := json.MarshalIndent(tag, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the tag of run %s: %w", tag.Run, err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(fresh, ownerFile), append(text, '\n'), 0o644),
		os.Chmod(fresh, 0o711),
	)
	if err != nil {
		return "", fmt.Errorf("make the directory of run %s: %w", tag.Run, err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, again := readOwner(dir); again == nil { // made by another goroutine meanwhile
			return dir, nil
		}
		return "", fmt.Errorf("make the directory of run %s: %w", tag.Run, err)
	}
	return dir, nil
}

// renewEvery is how much later a run's expiry must be to be worth a write.
const renewEvery = time.Hour

// renewOwner keeps the owner file of a run that goes on up to date: with its
// later expiry, and with a resumed run's new process, since what a dead one owns
// is a leftover.
func (h *Host) renewOwner(dir string, have, tag domain.Tag) error {
	switch same := sameOwner(have, tag); {
	case same && tag.Expires.Sub(have.Expires) < renewEvery:
		return nil
	case !same && stateOf(have) == ownerRuns:
		return fmt.Errorf("use %s: it belongs to process %d of %s, which still runs", dir, have.PID, have.OwnerName)
	}
	text, err := json.MarshalIndent(tag, "", "  ")
	if err == nil {
		err = renameio.WriteFile(filepath.Join(dir, ownerFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("renew the tag of run %s: %w", tag.Run, err)
	}
	return nil
}

// readOwner reads the tag of a run directory. A directory without one is not ours.
func readOwner(dir string) (domain.Tag, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return domain.Tag{}, err
	}
	if !info.IsDir() {
		return domain.Tag{}, fmt.Errorf("%s is no directory", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if err != nil {
		return domain.Tag{}, err
	}
	var tag domain.Tag
	if err := json.Unmarshal(text, &tag); err != nil {
		return domain.Tag{}, fmt.Errorf("read %s of %s: %w", ownerFile, dir, err)
	}
	if filepath.Base(dir) != runPrefix+tag.Run {
		return domain.Tag{}, fmt.Errorf("%s belongs to run %q", dir, tag.Run)
	}
	return tag, nil
}

// RemoveRun removes the directory of a run with all its volumes. A run that is
// not there is done; a directory that does not say that it is this run's is
// left alone.
func (h *Host) RemoveRun(run string) error {
	if err := checkName("run", run); err != nil {
		return err
	}
	dir := h.RunDir(run)
	if _, err := readOwner(dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("remove %s: it has no %s, so it is not ours", dir, ownerFile)
	} else if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return removeRunDir(dir)
}

// removeRunDir takes the owner file last, so that what could not be removed is
// still known as a leftover of ours.
func removeRunDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	var errs []error
	for _, entry := range entries {
		if entry.Name() != ownerFile {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}
