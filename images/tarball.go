package images

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// TarballDir is where a server image holds the binary distribution of a tarball: the place such distributions are
// compiled for.
const TarballDir = "/usr/local/mysql"

// Tarball is a binary distribution of MySQL, Percona Server or MariaDB, old or self-built. Its identity is its digest.
type Tarball struct {
	Source string `json:"source"` // path, or URL of HTTP or HTTPS
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
}

// TarballError is something wrong with a tarball itself: another digest, no archive, no server in it, a library that is
// nowhere. Building again does not help.
type TarballError struct {
	Source string
	Err    error
}

// Error names the tarball.
func (e *TarballError) Error() string { return fmt.Sprintf("tarball %s: %v", e.Source, e.Err) }

// Unwrap returns what is wrong.
func (e *TarballError) Unwrap() error { return e.Err }

var sha256Shape = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check tells whether source and digest are there; it opens nothing.
func (t Tarball) Check() error {
	if t.Source == "" {
		return errors.New("a tarball needs its path or URL")
	}
	if !sha256Shape.MatchString(t.SHA256) {
		return fmt.Errorf("tarball %s needs its sha256, 64 hexadecimal digits (sha256sum prints them)", t.Source)
	}
	return nil
}

// Image is the name of the image made of the tarball, the same for the same digest wherever it comes from.
func (t Tarball) Image() string { return "tarball-" + t.SHA256[:12] }

// Recipe is how the image is built. Source is not part of its digest.
func (t Tarball) Recipe() Recipe {
	customize := server()
	// The install scripts of old servers are written in perl.
	customize.Remove = slices.DeleteFunc(customize.Remove, func(p string) bool { return slices.Contains(interpreters, p) })
	return Recipe{
		Name: t.Image(), Kind: KindServer, About: "binary distribution " + t.Source, Components: []string{"main"},
		Distribution: &Distribution{SHA256: t.SHA256, Source: t.Source, Bases: bases},
		Customize:    customize,
	}
}

// Distribution is the part of a recipe that says what a tarball is built upon.
type Distribution struct {
	Source string `json:"-"`
	SHA256 string `json:"sha256"`
	// Bases are tried in order: the first that can have what the server's program asks of its libraries is taken.
	Bases []Base `json:"bases"`
}

// Base is a Debian release with the libraries that binary distributions use.
type Base struct {
	Suite      string   `json:"suite"`
	SigningKey string   `json:"signing_key"`
	Packages   []string `json:"packages"`
	// Versions are the newest symbol versions of its C and C++ libraries: GLIBC → 2.36.
	Versions map[string]string `json:"versions"`
	// Absent are libraries that another base has and this one has not.
	Absent []string `json:"absent,omitempty"`
}

// bases are the releases server images are made of anyway. Debian 12 comes first: it still has the libraries old servers
// were linked with, and what is built on a newer system asks for a newer C library.
var bases = []Base{
	{
		Suite: "bookworm", SigningKey: "debian-archive-bookworm-automatic.gpg",
		Packages: append([]string{
			"libaio1", "libncurses5", "libtinfo5", "libssl3", "libcurl4", "libreadline8", "libldap-2.5-0", "libpcre3",
		}, common...),
		Versions: map[string]string{"GLIBC": "2.36", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13"},
		Absent:   []string{"libaio.so.1t64", "libldap.so.2"},
	},
	{
		Suite: "trixie", SigningKey: "debian-archive-trixie-automatic.gpg",
		Packages: append([]string{
			"libaio1t64", "libssl3t64", "libcurl4t64", "libreadline8t64", "libldap2",
		}, common...),
		Versions: map[string]string{"GLIBC": "2.41", "GLIBCXX": "3.4.33", "CXXABI": "1.3.15"},
		Absent:   []string{"libaio.so.1", "libncurses.so.5", "libtinfo.so.5", "libpcre.so.3", "libldap-2.5.so.0"},
	},
}

// common are libraries with the same package name in all bases.
var common = []string{
	"libnuma1", "libncurses6", "libtinfo6", "libpam0g", "liburing2", "libsystemd0", "liblz4-1", "libzstd1", "libsnappy1v5", "libbz2-1.0",
	"liblzma5", "liblzo2-2", "libstdc++6", "libgcc-s1", "libatomic1", "libcrypt1", "libpcre2-8-0", "zlib1g", "libjemalloc2", "libedit2",
	"libxml2", "libsasl2-2", "libgssapi-krb5-2", "libkeyutils1",
}
