package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"platter/results/store"
)

// ExistsError says that a run folder is there already, with other content.
type ExistsError struct{ Path string }

// Error says what to do.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s is there already and holds something else; it was left alone, choose another directory", e.Path)
}

// Unpacked is one run that came out of a packed file.
type Unpacked struct {
	Path  string
	There bool // it was there already, the same
}

// Unpack puts the runs of a packed file into a directory, made if need be, each as a folder of its name. Nothing is
// replaced: the same folder counts as done, another one is an *ExistsError. All is unpacked, proven and on disk in a
// temporary directory before the first run takes its place by a rename, so there is never half a run. What is wrong with
// the file is a *store.Problem.
func Unpack(file, into string, limits Limits) ([]Unpacked, error) {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	temp, release, err := makeTemp(into)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer release()
	runs, err := extract(file, temp, limits)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	return place(runs, into)
}

// extract writes the payload of a packed file below dir and opens the runs.
func extract(file, dir string, limits Limits) ([]*store.Run, error) {
	f, err := openPlain(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dirs := map[string]bool{".": true}
	err = read(io.NewSectionReader(f, 0, info.Size()), limits, func(name string, content io.Reader) error {
		if err := makeDirs(root, path.Dir(name), dirs); err != nil {
			return err
		}
		return writeFile(root, name, content)
	})
	if err != nil {
		return nil, err
	}
	runs, err := openRuns(dir)
	if err != nil {
		return nil, err
	}
	return runs, syncTree(dir)
}

// makeDirs makes a directory and those above it, each once.
func makeDirs(root *os.Root, name string, made map[string]bool) error {
	if made[name] {
		return nil
	}
	if err := makeDirs(root, path.Dir(name), made); err != nil {
		return err
	}
	made[name] = true
	return root.Mkdir(name, 0o755)
}

func writeFile(root *os.Root, name string, content io.Reader) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// openRuns opens what was unpacked: run folders under their own names, and nothing else.
func openRuns(dir string) ([]*store.Run, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var runs []*store.Run
	for _, entry := range entries {
		run, err := store.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, problem(store.Refused, payload+entry.Name(), "%w", err)
		}
		if run.ID() != entry.Name() {
			return nil, problem(store.Foreign, payload+entry.Name(), "it calls itself %q", run.ID())
		}
		runs = append(runs, run)
	}
	if len(runs) == 0 {
		return nil, problem(store.Empty, payload, "no run is in it")
	}
	return runs, nil
}

// place moves runs to where they belong. Whatever would be replaced by something else stops it before the first move.
func place(runs []*store.Run, into string) ([]Unpacked, error) {
	var done []Unpacked
	for _, run := range runs {
		target := filepath.Join(into, run.ID())
		_, err := os.Lstat(target)
		there := err == nil
		if there && !same(run.Path(), target) {
			return nil, &ExistsError{Path: target}
		}
		done = append(done, Unpacked{Path: target, There: there})
	}
	for i, run := range runs {
		if done[i].There {
			continue
		}
		err := unix.Renameat2(unix.AT_FDCWD, run.Path(), unix.AT_FDCWD, done[i].Path, unix.RENAME_NOREPLACE)
		if errors.Is(err, fs.ErrExist) {
			return done[:i], &ExistsError{Path: done[i].Path}
		}
		if err != nil {
			return done[:i], fmt.Errorf("put %s in place: %w", done[i].Path, err)
		}
	}
	return done, syncDir(into)
}
