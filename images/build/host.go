package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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

// checkTools names every missing program and its package at once.
func checkTools(r images.Recipe) error {
	wanted := tools
	if os.Geteuid() != 0 {
		wanted = append(append(wanted[:0:0], wanted...), unprivilegedTools...)
	}
	var errs []error
	for _, t := range wanted {
		if _, err := exec.LookPath(t.program); err != nil {
			errs = append(errs, fmt.Errorf("build image %s: the host has no %s; install the Debian package %s", r.Name, t.program, t.pkg))
		}
	}
	return errors.Join(errs...)
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
