package archive

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// checkName refuses a member's name that could mean another place, or another thing to another system.
func (l Limits) checkName(name string) error {
	switch {
	case name == "" || !utf8.ValidString(name):
		return errors.New("the name is empty or not UTF-8")
	case len(name) > l.NameBytes:
		return fmt.Errorf("the name has %d bytes, at most %d", len(name), l.NameBytes)
	case strings.ContainsFunc(name, isUnprintable):
		return errors.New("the name holds control characters")
	case strings.ContainsAny(name, `\%:`):
		return errors.New(`the name holds one of \ % :`)
	case path.IsAbs(name), !filepath.IsLocal(name), path.Clean(name) != name:
		return errors.New("the name leads out of the archive")
	case strings.Count(name, "/") >= l.Depth:
		return fmt.Errorf("the name has more than %d parts", l.Depth)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return fmt.Errorf("the name has a part that some filesystem does not keep: %q", part)
		}
	}
	return nil
}

// isUnprintable finds what steers a terminal or hides in a name: controls and invisible marks such as bidi overrides.
func isUnprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// names finds members that would be one file on a filesystem that ignores case or normalises Unicode, and files that are
// directories of others.
type names struct {
	fold cases.Caser
	kind map[string]nameKind // by folded name
	raw  map[string]string   // folded name → as written first
}

type nameKind bool

const (
	isDir  nameKind = true
	isFile nameKind = false
)

func newNames() *names {
	return &names{fold: cases.Fold(), kind: map[string]nameKind{}, raw: map[string]string{}}
}

// add takes a file's name, and refuses it when it is there already in some form.
func (n *names) add(name string) error {
	if err := n.put(name, isFile); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if err := n.put(dir, isDir); err != nil {
			return err
		}
	}
	return nil
}

func (n *names) put(name string, kind nameKind) error {
	key := norm.NFKC.String(n.fold.String(norm.NFKC.String(name)))
	have, known := n.kind[key]
	switch {
	case !known:
		n.kind[key], n.raw[key] = kind, name
	case have != kind:
		return fmt.Errorf("%q is a file and a directory", name)
	case n.raw[key] != name:
		return fmt.Errorf("%q and %q are one name on some filesystems", n.raw[key], name)
	case kind == isFile:
		return errors.New("the name is there twice")
	}
	return nil
}
