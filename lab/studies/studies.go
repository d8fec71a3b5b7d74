// Package studies holds the studies platter ships, one YAML file each, and resolves what a user types (a shipped
// name or a path, with an optional @scale) into the bytes of a study. It decodes nothing; cmd/platter calls it.
package studies

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"platter/lab"
)

//go:embed *.yaml
var shipped embed.FS

// Source is a study as found, not yet decoded.
type Source struct {
	File  string // as messages name it: ext4-vs-xfs.yaml, or the path given
	Scale string // "" when the reference names none
	Data  []byte
}

// Names returns the shipped studies, sorted.
func Names() []string {
	files, err := fs.Glob(shipped, "*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	return files
}

// Open finds the study a reference names: NAME or NAME@SCALE of a shipped study, or the path of a file, which holds a
// slash or ends in .yaml or .yml.
func Open(reference string) (Source, error) {
	name, scale := reference, ""
	if i := strings.LastIndexByte(reference, '@'); i > 0 && !strings.Contains(reference[i:], "/") {
		name, scale = reference[:i], reference[i+1:]
		if scale == "" {
			return Source{}, &lab.InputError{Err: fmt.Errorf("study %q: no scale behind the @", reference)}
		}
	}
	if isPath(name) {
		data, err := os.ReadFile(name)
		if err != nil {
			return Source{}, &lab.InputError{Err: fmt.Errorf("read study: %w", err)}
		}
		return Source{File: name, Scale: scale, Data: data}, nil
	}
	data, err := shipped.ReadFile(name + ".yaml")
	if err != nil {
		return Source{}, &lab.InputError{Err: unknownStudy(name)}
	}
	return Source{File: name + ".yaml", Scale: scale, Data: data}, nil
}

// Parse finds and decodes a study in one go; sets are --set overrides.
func Parse(reference string, sets []string) (lab.Study, Source, error) {
	src, err := Open(reference)
	if err != nil {
		return lab.Study{}, src, err
	}
	s, err := lab.ParseStudy(src.File, src.Data, src.Scale, sets)
	return s, src, err
}

func isPath(name string) bool {
	ext := path.Ext(name)
	return strings.ContainsRune(name, '/') || ext == ".yaml" || ext == ".yml"
}

func unknownStudy(name string) error {
	if _, err := os.Stat(name); err == nil {
		return fmt.Errorf("no shipped study is named %q; for the file of that name write ./%s", name, name)
	}
	if near := lab.Nearest(name, Names()); near != "" {
		return fmt.Errorf("unknown study %q, did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown study %q; there are %s, and a path to a file works too", name, strings.Join(Names(), ", "))
}
