package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"platter/results/store"
)

// Import copies a run folder into a directory, by the rules of Unpack: whole or not at all, nothing replaced, and the
// same folder counts as done. Only plain files are copied, and what can be made again is left out.
func Import(run *store.Run, into string) (Unpacked, error) {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return Unpacked{}, fmt.Errorf("import: %w", err)
	}
	temp, release, err := makeTemp(into)
	if err != nil {
		return Unpacked{}, fmt.Errorf("import: %w", err)
	}
	defer release()
	root, err := os.OpenRoot(temp)
	if err != nil {
		return Unpacked{}, fmt.Errorf("import: %w", err)
	}
	defer root.Close()
	dirs := map[string]bool{".": true}
	err = run.Files(func(name string, entry fs.DirEntry) error {
		file, err := openPlain(filepath.Join(run.Path(), filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		defer file.Close()
		name = run.ID() + "/" + name
		return errors.Join(makeDirs(root, path.Dir(name), dirs), writeFile(root, name, file))
	})
	if err = errors.Join(err, syncTree(temp)); err != nil {
		return Unpacked{}, fmt.Errorf("import %s: %w", run.Path(), err)
	}
	copied, err := openRuns(temp)
	if err != nil {
		return Unpacked{}, fmt.Errorf("import %s: %w", run.Path(), err)
	}
	placed, err := place(copied, into)
	if err != nil {
		return Unpacked{}, fmt.Errorf("import %s: %w", run.Path(), err)
	}
	return placed[0], nil
}

// Holds tells whether a packed file is sound and holds a run exactly as it is, which makes its folder dispensable.
func Holds(file string, run *store.Run, limits Limits) (bool, error) {
	held := false
	err := Verify(file, limits, func(packed *store.Run) error {
		held = held || packed.ID() == run.ID() && same(packed.Path(), run.Path())
		return nil
	})
	return held, err
}

// same tells whether two run folders hold the same files, leaving aside what can be made again.
func same(a, b string) bool {
	x, errA := contents(a)
	y, errB := contents(b)
	if errA != nil || errB != nil || len(x) != len(y) {
		return false
	}
	for name, digest := range x {
		if y[name] != digest {
			return false
		}
	}
	return true
}

func contents(dir string) (map[string]string, error) {
	run, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	err = run.Files(func(name string, _ fs.DirEntry) error {
		digest, _, err := digestFile(filepath.Join(dir, filepath.FromSlash(name)))
		digests[name] = digest
		return err
	})
	return digests, err
}
