package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"platter/images"
)

// tools are the programs a build needs on the host, with their Debian package.
var tools = []struct{ program, pkg string }{
	{"mmdebstrap", "mmdebstrap"},
	{"apt-get", "apt"},
	{"dpkg-deb", "dpkg"},
	{"mksquashfs", "squashfs-tools"},
	{"unsquashfs", "squashfs-tools"},
}

// unprivilegedTools come on top for a user other than root.
var unprivilegedTools = []struct{ program, pkg string }{
	{"newuidmap", "uidmap"},
}

// checkHost names everything the host lacks at once: programs with their
// Debian package, space, and for an ordinary user subordinate ids.
func checkHost(r images.Recipe, dir, scratch string) error {
	errs := checkTools(r)
	errs = append(errs, checkSpace(scratch, 2<<30), checkSpace(dir, 512<<20))
	if uid := os.Geteuid(); uid != 0 {
		subuid, err := os.ReadFile("/etc/subuid")
		if err == nil {
			err = checkSubordinate(string(subuid), uid)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("build image %s: %w", r.Name, err)
	}
	return nil
}

func checkTools(r images.Recipe) []error {
	wanted := tools
	if os.Geteuid() != 0 {
		wanted = append(append(wanted[:0:0], wanted...), unprivilegedTools...)
	}
	var errs []error
	for _, t := range wanted {
		if _, err := exec.LookPath(t.program); err != nil {
			errs = append(errs, fmt.Errorf("the host has no %s; install the Debian package %s", t.program, t.pkg))
		}
	}
	return errs
}

// checkSpace wants free bytes in the filesystem of dir.
func checkSpace(dir string, bytes uint64) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("look for space in %s: %w", dir, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < bytes {
		return fmt.Errorf("%s has %d MiB free, a build needs %d MiB; free some, or choose another place with TMPDIR or XDG_CACHE_HOME",
			dir, free>>20, bytes>>20)
	}
	return nil
}

// checkSubordinate looks in the text of /etc/subuid for the range in which
// mmdebstrap lets an ordinary user's files belong to many users.
func checkSubordinate(subuid string, uid int) error {
	name := strconv.Itoa(uid)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	for line := range strings.Lines(subuid) {
		owner, _, _ := strings.Cut(line, ":")
		if owner == name || owner == strconv.Itoa(uid) {
			return nil
		}
	}
	return fmt.Errorf("user %s has no range in /etc/subuid; as root run usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s", name, name)
}

// keyringDir is where Debian's debian-archive-keyring keeps one file a key.
const keyringDir = "usr/share/keyrings"

// findKeyring returns the keyring directory that can verify the recipe's suite,
// and "" when the one below host, the host's root directory, can. A host whose
// keyring package is too old gets the newest one that its own apt offers and
// verifies, unpacked below scratch: verification is never turned off, and
// nothing on the host changes.
func findKeyring(ctx context.Context, host string, r images.Recipe, scratch string, progress func(string)) (string, error) {
	if _, err := os.Stat(filepath.Join(host, keyringDir, r.SigningKey)); err == nil {
		return "", nil
	}
	progress("the host has no " + r.SigningKey + ": fetching debian-archive-keyring through the host's apt")
	dir, err := os.MkdirTemp(scratch, "keyring-")
	if err != nil {
		return "", err
	}
	fail := func(err error) (string, error) {
		return "", fmt.Errorf("build image %s: find the key %s of suite %s: %w; install a newer debian-archive-keyring",
			r.Name, r.SigningKey, r.Suite, err)
	}
	cmd := command(ctx, []string{"apt-get", "--quiet", "download", "debian-archive-keyring"})
	cmd.Dir = dir
	messages := &tail{}
	cmd.Stderr = messages
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	if err := wait(ctx, cmd, messages); err != nil {
		return fail(err)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fail(fmt.Errorf("apt-get downloaded %d packages: %s", len(debs), strings.Join(debs, " ")))
	}
	if _, err := output(ctx, "dpkg-deb", "-x", debs[0], dir); err != nil {
		return fail(err)
	}
	found := filepath.Join(dir, keyringDir)
	if _, err := os.Stat(filepath.Join(found, r.SigningKey)); err != nil {
		return fail(fmt.Errorf("%s does not hold it", filepath.Base(debs[0])))
	}
	return found, nil
}
