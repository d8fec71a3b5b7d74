package build

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"platter/images"
)

// packagesFile is where the hook leaves the records of the package index; the
// filter reads it and leaves it out of the image.
const packagesFile = "/platter-packages"

// recordPackages runs outside of the new root, with apt's lists still there.
const recordPackages = `export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
chroot "$1" dpkg-query -W -f '${Package}=${Version}\n' | xargs apt-cache show --no-all-versions |
grep -E '^(Package|Version|Architecture|SHA256):' >"$1` + packagesFile + `"`

// optionsFile is where the hook leaves the server's list of options, which the filter takes out like packagesFile.
const optionsFile = "/platter-options"

// recordOptions asks the new root's server for its options, as its own user, since as root it refuses. An image without
// the list is as good: options are then checked in the guest.
var recordOptions = fmt.Sprintf(`chroot --userspec=%d:%d "$1" sh -c 'exec "$(command -v mariadbd || command -v mysqld)" --no-defaults --verbose --help' >"$1%s" 2>/dev/null || rm -f "$1%s"`,
	images.ServerUID, images.ServerUID, optionsFile, optionsFile)

// mmdebstrap returns the command line that installs recipe r and writes the
// root as a tar stream to its standard output. mode is root, or unshare for an
// ordinary user; keyring may be empty.
func mmdebstrap(mode string, r images.Recipe, o images.Options, keyring string) []string {
	args := []string{
		"mmdebstrap",
		"--mode=" + mode,
		// Only the Essential packages and ours: no apt in the image.
		"--variant=essential",
		"--format=tar",
		"--architectures=" + o.Arch,
		"--components=" + strings.Join(r.Components, ","),
		"--include=" + strings.Join(r.PackagesFor(o.Arch), ","),
		`--aptopt=Apt::Install-Recommends "false"`,
		`--aptopt=Acquire::Languages "none"`,
		`--aptopt=Acquire::Retries "3"`,
		"--extract-hook=" + configureDpkg(r.Customize),
	}
	for _, line := range append(append([]string{}, r.AptOptions...), o.AptOptions...) {
		args = append(args, "--aptopt="+line)
	}
	if keyring != "" {
		args = append(args, "--keyring="+keyring)
	}
	for _, line := range r.Customize.Run {
		args = append(args, `--customize-hook=chroot "$1" sh -ec `+quote(line))
	}
	if r.Kind == images.KindServer && r.Distribution == nil {
		args = append(args, "--customize-hook="+recordOptions)
	}
	args = append(args, "--customize-hook="+recordPackages, r.Suite, "-")
	if o.Mirror != "" {
		args = append(args, o.Mirror)
	}
	return args
}

// configureDpkg returns a hook that runs when the Essential packages are
// unpacked and gives dpkg its options.
//
// Note: mmdebstrap's --dpkgopt would do the same, but with path-exclude among
// them it sends the Essential packages through a filter in Python, which takes
// half a minute; a recipe's Remove gets the same files later for nothing.
func configureDpkg(c images.Customize) string {
	// A root that is lost by a crash is built again: no fsync for each file.
	lines := []string{"force-unsafe-io"}
	for _, pattern := range c.Exclude {
		lines = append(lines, "path-exclude="+pattern)
	}
	for _, pattern := range c.Include {
		lines = append(lines, "path-include="+pattern)
	}
	return `mkdir -p "$1/etc/dpkg/dpkg.cfg.d" && printf '%s\n' ` + quote(strings.Join(lines, "\n")) + ` >"$1/etc/dpkg/dpkg.cfg.d/platter"`
}

// quote returns s as one word of a shell command.
func quote(s string) string { return `'` + strings.ReplaceAll(s, `'`, `'\''`) + `'` }

// squash returns the command line that turns a tar stream on standard input
// into a squashfs. lz4 is the cheapest to read back under software emulation,
// where the guest pays for every decompressed byte: from /init to the login it
// takes 0.84 s of an emulated CPU, zstd 1.54 s, no compression 0.67 s with
// twice the size.
func squash(file string) []string {
	return []string{
		"mksquashfs", "-", file, "-tar", "-noappend", "-quiet", "-no-progress", "-comp", "lz4",
		"-root-mode", "0755", "-root-time", strconv.FormatInt(images.SourceDateEpoch, 10),
	}
}

// environment returns the environment of the build's processes. The system's own tools come first: a wrapper of python3
// in the user's PATH would run for every file of every package.
func environment(scratch string) []string {
	return append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin:"+os.Getenv("PATH"),
		"LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "TMPDIR="+scratch,
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", images.SourceDateEpoch))
}
