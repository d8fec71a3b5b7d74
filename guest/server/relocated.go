package server

import (
	"os"
	"path"
	"slices"
	"strings"
)

// tarballDir is where a server image holds a binary distribution, which may have been compiled for another place.
const tarballDir = "/usr/local/mysql"

// libraryDirs of such a distribution are searched before the system's; the image was built with the same list.
var libraryDirs = []string{"lib", "lib/private", "lib/mysql", "lib64"}

// baseOf is the directory of the distribution a program belongs to, "" for one of a Debian package.
func baseOf(program string) string {
	if strings.HasPrefix(program, tarballDir+"/") {
		return tarballDir
	}
	return ""
}

// libraryPath is the environment's part that lets a distribution's programs find its own libraries; nil for others.
func libraryPath(program string) []string {
	base := baseOf(program)
	if base == "" {
		return nil
	}
	dirs := make([]string, len(libraryDirs))
	for i, dir := range libraryDirs {
		dirs[i] = path.Join(base, dir)
	}
	return []string{"LD_LIBRARY_PATH=" + strings.Join(dirs, ":")}
}

// relocation are the settings by which a distribution finds its own parts, wherever it was compiled for: its base, the
// texts of its errors, its character sets and its plugins.
func relocation(r *root, c Catalogue, base string) []setting {
	if base == "" {
		return nil
	}
	out := []setting{{name: "basedir", value: base}}
	share := first(r, base, "english/errmsg.sys", "share", "share/mysql", "share/mariadb")
	switch {
	case share == "":
	case c.Knows("lc-messages-dir"):
		out = append(out, setting{name: "lc-messages-dir", value: share})
	case c.Knows("language"): // before MySQL 5.5
		out = append(out, setting{name: "language", value: path.Join(share, "english")})
	}
	if dir := first(r, base, "Index.xml", "share/charsets", "share/mysql/charsets", "share/mariadb/charsets"); dir != "" {
		out = append(out, setting{name: "character-sets-dir", value: dir})
	}
	if dir := first(r, base, "", "lib/plugin", "lib/mysql/plugin", "lib64/plugin", "lib64/mysql/plugin"); dir != "" {
		out = append(out, setting{name: "plugin-dir", value: dir})
	}
	return slices.DeleteFunc(out, func(s setting) bool { return !c.Knows(s.name) })
}

// first is the first of the directories below base that holds a file, or that is there when file is "".
func first(r *root, base, file string, dirs ...string) string {
	for _, dir := range dirs {
		if _, err := os.Stat(r.outside(path.Join(base, dir, file))); err == nil {
			return path.Join(base, dir)
		}
	}
	return ""
}
