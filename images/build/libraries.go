package build

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"platter/images"
	"platter/images/build/tarball"
)

// libraries watches a tar stream for the system's libraries that a distribution needs.
type libraries struct {
	needs   []tarball.Need
	paths   map[string]string // a library's name → its path
	links   map[string]string // path → path it points to
	content map[string][]byte // path → file
}

func newLibraries(needs []tarball.Need) *libraries {
	return &libraries{needs: needs, paths: map[string]string{}, links: map[string]string{}, content: map[string][]byte{}}
}

// libraryPath is where the dynamic loader looks on its own.
var libraryPath = regexp.MustCompile(`^/(usr/)?lib(64)?(/[a-z0-9_]+-linux-gnu[a-z0-9]*)?/[^/]+$`)

// wants tells whether the stream's file is a library that is needed, by any of its names, and notes links to it.
func (l *libraries) wants(header *tar.Header, name string) bool {
	if !libraryPath.MatchString(name) {
		return false
	}
	stem, _, _ := strings.Cut(path.Base(name), ".so")
	if !slices.ContainsFunc(l.needs, func(n tarball.Need) bool {
		wanted, _, _ := strings.Cut(n.Library, ".so")
		return wanted == stem || strings.HasPrefix(stem, wanted+"-") // libc-2.13.so
	}) {
		return false
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		target := header.Linkname
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		l.links[name] = target
	case tar.TypeReg:
	default:
		return false
	}
	l.paths[path.Base(name)] = name
	return header.Typeflag == tar.TypeReg
}

// check names the first library that nobody has, or that lacks a version.
func (l *libraries) check(base images.Base) error {
	for _, n := range l.needs {
		at, ok := l.paths[n.Library]
		if !ok {
			return fmt.Errorf("its %s needs the library %s, which neither the tarball nor Debian %s with %s holds; put it into the tarball's lib directory",
				n.By, n.Library, base.Suite, strings.Join(base.Packages, ", "))
		}
		for range 10 {
			if target, isLink := l.links[at]; isLink {
				at = target
			}
		}
		have, err := versionsOf(l.content[at])
		if err != nil || have == nil {
			continue // a library without versions serves everybody
		}
		for _, v := range n.Versions {
			if !have[v] {
				return fmt.Errorf("its %s needs %s of the library %s, which Debian %s's does not have; put the library into the tarball's lib directory", n.By, v, n.Library, base.Suite)
			}
		}
	}
	return nil
}

// versionsOf lists the symbol versions that a library offers; nil when it has none.
func versionsOf(library []byte) (map[string]bool, error) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return nil, err
	}
	versions, err := f.DynamicVersions()
	if err != nil || len(versions) == 0 {
		return nil, err
	}
	have := map[string]bool{}
	for _, v := range versions {
		have[v.Name] = true
	}
	return have, nil
}
