package tarball

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"platter/images"
)

// Distribution is an unpacked tarball.
type Distribution struct {
	Tarball images.Tarball
	Dir     string // on this host: the directory that becomes images.TarballDir
	Server  string // the server's program below it: bin/mysqld
}

// programDirs are where a distribution keeps the server; source builds of old ones used libexec.
var programDirs = []string{"bin", "sbin", "libexec"}

// Open finds the server's program in an unpacked tarball and proves that it runs on machines of an architecture, in
// Debian's words.
func Open(t images.Tarball, dir, arch string) (Distribution, error) {
	found, err := servers(dir)
	if err != nil {
		return Distribution{}, err
	}
	if len(found) == 0 {
		return Distribution{}, bad(t, fmt.Errorf("no program mysqld or mariadbd is in a directory %s of it: it is no binary distribution of a server", strings.Join(programDirs, ", ")))
	}
	// The one nearest to the top; of two names the new one, the other is then a link or a wrapper.
	slices.SortStableFunc(found, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(path.Base(a), path.Base(b))
	})
	base := path.Dir(path.Dir(found[0]))
	d := Distribution{Tarball: t, Dir: filepath.Join(dir, base), Server: path.Join(path.Base(path.Dir(found[0])), path.Base(found[0]))}
	return d, d.checkMachine(arch)
}

// servers lists every file with a server's name, relative to dir.
func servers(dir string) (found []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if !entry.IsDir() && (base == "mysqld" || base == "mariadbd") && slices.Contains(programDirs, path.Base(path.Dir(name))) {
			found = append(found, name)
		}
		return nil
	})
	return found, err
}

// machines are the ELF names of the architectures there are guests of.
var machines = map[string]struct {
	machine elf.Machine
	class   elf.Class
}{
	"amd64": {elf.EM_X86_64, elf.ELFCLASS64},
	"arm64": {elf.EM_AARCH64, elf.ELFCLASS64},
}

func (d Distribution) checkMachine(arch string) error {
	file, closer, err := d.elf(d.Server)
	if err != nil {
		return err
	}
	if file == nil {
		return bad(d.Tarball, fmt.Errorf("its %s is no program of Linux", d.Server))
	}
	defer closer()
	want := machines[arch]
	if file.Machine != want.machine || file.Class != want.class {
		return bad(d.Tarball, fmt.Errorf("its %s is built for %s, the machines are %s: take the distribution for that", d.Server, describe(file), arch))
	}
	return nil
}

// describe names an architecture for people.
func describe(f *elf.File) string {
	switch {
	case f.Machine == elf.EM_386:
		return "32-bit x86"
	case f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS32:
		return "x32"
	}
	for name, m := range machines {
		if m.machine == f.Machine && m.class == f.Class {
			return name
		}
	}
	return strings.TrimPrefix(f.Machine.String(), "EM_")
}

// open opens a file of the distribution; a link that leads out of it is not followed.
func (d Distribution) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(name)
}

// elf opens a program or library. It is nil without an error when there is no such file, or one of another kind: a script,
// a link to what was left out. The caller closes it.
func (d Distribution) elf(name string) (*elf.File, func() error, error) {
	file, err := d.open(name)
	if err != nil {
		return nil, nil, nil
	}
	parsed, err := elf.NewFile(file)
	var format *elf.FormatError
	if errors.As(err, &format) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, file.Close()
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return parsed, file.Close, nil
}
