package tarball

import (
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// LibraryDirs are the directories of a distribution that programs of it find libraries in, before the system's.
var LibraryDirs = []string{"lib", "lib/private", "lib/mysql", "lib64"}

// helpers are the programs that initialising a data directory runs beside the server.
var helpers = []string{"bin/my_print_defaults", "bin/resolveip"}

// Need is a library that a distribution does not hold itself.
type Need struct {
	Library  string   // libaio.so.1
	By       string   // the first program or library that asks for it: bin/mysqld
	Versions []string // symbol versions asked of it, e.g. GLIBC_2.34; sorted
}

// Needs lists what the server, its helpers and the libraries they load from the distribution ask of the system, in order
// of name.
func (d Distribution) Needs() ([]Need, error) {
	w := walk{d: d, seen: map[string]bool{}, needs: map[string]*Need{}}
	for _, name := range append([]string{d.Server}, helpers...) {
		if err := w.file(name); err != nil {
			return nil, err
		}
	}
	out := make([]Need, 0, len(w.needs))
	for _, n := range w.needs {
		slices.Sort(n.Versions)
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Need) int { return strings.Compare(a.Library, b.Library) })
	return out, nil
}

type walk struct {
	d     Distribution
	seen  map[string]bool
	needs map[string]*Need
}

// file notes what one program or library needs, and follows what the distribution has.
func (w *walk) file(name string) error {
	if w.seen[name] {
		return nil
	}
	w.seen[name] = true
	f, closer, err := w.d.elf(name)
	if f == nil || err != nil {
		return err
	}
	defer closer()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return bad(w.d.Tarball, fmt.Errorf("read the libraries of %s: %w", name, err))
	}
	versions, err := f.DynamicVersionNeeds()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return bad(w.d.Tarball, fmt.Errorf("read the library versions of %s: %w", name, err))
	}
	for _, library := range libraries {
		if own := w.find(f, name, library); own != "" {
			if err := w.file(own); err != nil {
				return err
			}
			continue
		}
		w.need(library, name, versions)
	}
	return nil
}

func (w *walk) need(library, by string, versions []elf.DynamicVersionNeed) {
	n := w.needs[library]
	if n == nil {
		n = &Need{Library: library, By: by}
		w.needs[library] = n
	}
	for _, v := range versions {
		if v.Name != library {
			continue
		}
		for _, dep := range v.Needs {
			if !slices.Contains(n.Versions, dep.Dep) {
				n.Versions = append(n.Versions, dep.Dep)
			}
		}
	}
}

// find is the path of a library inside the distribution, "" when it has none.
func (w *walk) find(f *elf.File, name, library string) string {
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		lists, _ := f.DynString(tag) // none is no error to us
		for _, list := range lists {
			for dir := range strings.SplitSeq(list, ":") {
				for _, origin := range []string{"$ORIGIN", "${ORIGIN}"} {
					if rest, ok := strings.CutPrefix(dir, origin); ok {
						dirs = append(dirs, path.Join(path.Dir(name), rest))
					}
				}
			}
		}
	}
	for _, dir := range append(dirs, LibraryDirs...) {
		at := path.Join(dir, library)
		if !local(at) {
			continue
		}
		if file, err := w.d.open(at); err == nil {
			file.Close()
			return at
		}
	}
	return ""
}
