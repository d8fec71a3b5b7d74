package images

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// Format is the revision of the way images are built. It is part of every
// recipe digest: raise it when the builder's output changes for the same
// recipe, and every cached image is built anew.
const Format = 2

// SourceDateEpoch is the time stamp, in seconds since 1970, given to every
// file that is newer. It makes two builds of the same packages equal.
const SourceDateEpoch int64 = 1767225600 // 2026-01-01T00:00:00Z

// Kind tells what an image is for.
type Kind string

// The kinds of image; the package comment says what each holds.
const (
	KindRoot   Kind = "root"
	KindServer Kind = "server"
	KindAddon  Kind = "addon"
)

// Recipe says what goes into an image, as plain data. Two recipes with equal
// digests give images that can stand in for each other.
type Recipe struct {
	// Name is how studies and people call the image: root, mariadb-11.8.
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// About is one line for listings; it is not part of the digest.
	About string `json:"-"`
	// Suite and Components choose the Debian release: trixie; main.
	Suite      string   `json:"suite"`
	Components []string `json:"components"`
	// SigningKey names the archive key, a file of Debian's
	// debian-archive-keyring package, that the host needs to verify Suite.
	SigningKey string `json:"signing_key"`
	// Packages are installed without their recommendations. "{arch}" in a
	// name becomes Debian's name of the architecture.
	Packages []string `json:"packages"`
	// AptOptions are apt.conf lines this suite needs wherever it is built.
	AptOptions []string  `json:"apt_options,omitempty"`
	Customize  Customize `json:"customize"`
	// Boot is set for root images only.
	Boot *Boot `json:"boot,omitempty"`
	// Distribution is set for server images made of a tarball. Suite,
	// SigningKey and Packages then come from one of its bases.
	Distribution *Distribution `json:"distribution,omitempty"`
}

// Customize turns installed packages into an image.
type Customize struct {
	// Exclude are shell patterns of paths that dpkg does not even unpack, with
	// the exceptions of Include. As in dpkg, "*" also matches "/".
	Exclude []string `json:"exclude,omitempty"`
	Include []string `json:"include,omitempty"`
	// Run are shell lines run inside the new root after the packages are
	// installed, as root, without network.
	Run []string `json:"run,omitempty"`
	// Remove are patterns of paths left out of the image, after Run. A pattern
	// without a wildcard also takes everything below it.
	Remove []string `json:"remove,omitempty"`
	// Keep, when not empty, are patterns of the only paths that stay.
	Keep []string `json:"keep,omitempty"`
	// Files, Directories and Links are added last and replace what was there.
	Files       []File      `json:"files,omitempty"`
	Directories []Directory `json:"directories,omitempty"`
	Links       []Link      `json:"links,omitempty"`
}

// File is a regular file, owned by root, with its whole content.
type File struct {
	Path    string      `json:"path"`
	Mode    fs.FileMode `json:"mode"`
	Content string      `json:"content"`
}

// Directory is an empty directory owned by UID and GID.
type Directory struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	UID  int         `json:"uid"`
	GID  int         `json:"gid"`
}

// Link is a symbolic link.
type Link struct {
	Path   string `json:"path"`
	Target string `json:"target"`
}

// Boot says how a root image starts. The kernel is the one the packages
// installed; the initramfs is put together from Modules and Init.
type Boot struct {
	// Modules are the kernel modules of the initramfs in the order of loading;
	// what they depend on is added from the kernel's own modules.dep.
	Modules []string `json:"modules"`
	// Shell is the path of a static busybox in the image.
	Shell string `json:"shell"`
	// Applets are the commands of Shell that Init uses.
	Applets []string `json:"applets"`
	// Init is the text of the initramfs' /init, run by Shell.
	Init string `json:"init"`
}

// Options are the choices of the host a recipe is built on.
type Options struct {
	// Mirror is what mmdebstrap takes as MIRROR: a URI, or lines of a
	// sources.list. Empty leaves the choice to mmdebstrap.
	Mirror string `json:"mirror,omitempty"`
	// AptOptions are apt.conf lines: Acquire::http::Proxy "http://cache:3142";
	AptOptions []string `json:"apt_options,omitempty"`
	// Arch is Debian's name of the guest's architecture: amd64, arm64.
	Arch string `json:"arch"`
}

// PackagesFor returns the package names for an architecture.
func (r Recipe) PackagesFor(arch string) []string {
	names := make([]string, len(r.Packages))
	for i, name := range r.Packages {
		names[i] = strings.ReplaceAll(name, "{arch}", arch)
	}
	return names
}

// Digest returns the identity of what the recipe builds with these options:
// "sha256:" and 64 hexadecimal digits over everything that can change the
// result, the texts of scripts included.
func (r Recipe) Digest(o Options) string {
	canonical, err := json.Marshal(struct {
		Format          int     `json:"format"`
		SourceDateEpoch int64   `json:"source_date_epoch"`
		Recipe          Recipe  `json:"recipe"`
		Options         Options `json:"options"`
	}{Format, SourceDateEpoch, r, o})
	if err != nil {
		panic(fmt.Sprintf("encode recipe %s: %v", r.Name, err)) // plain data always encodes
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}
