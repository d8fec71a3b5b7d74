package build

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"platter/images"
	"platter/images/build/tarball"
)

// distribution is a tarball on its way into an image.
type distribution struct {
	tarball.Distribution
	base  images.Base
	needs []tarball.Need
}

// takeTarball fetches and unpacks the tarball of a recipe below scratch, and chooses the base that has its libraries.
func takeTarball(ctx context.Context, r images.Recipe, o images.Options, scratch string, progress func(string)) (*distribution, error) {
	t := images.Tarball{Source: r.Distribution.Source, SHA256: r.Distribution.SHA256}
	file, err := tarball.Fetch(ctx, t, scratch, progress)
	if err != nil {
		return nil, err
	}
	progress("unpacking " + filepath.Base(t.Source))
	dir, err := os.MkdirTemp(scratch, "unpacked-")
	if err != nil {
		return nil, err
	}
	if err := tarball.Unpack(ctx, t, file, dir, tarball.Most); err != nil {
		return nil, err
	}
	found, err := tarball.Open(t, dir, o.Arch)
	if err != nil {
		return nil, err
	}
	d := &distribution{Distribution: found}
	if d.needs, err = found.Needs(); err != nil {
		return nil, err
	}
	d.base, err = chooseBase(r.Distribution.Bases, d.needs)
	if err != nil {
		return nil, &images.TarballError{Source: t.Source, Err: err}
	}
	return d, nil
}

// chooseBase returns the first base whose libraries can be what is needed. The error says what each lacks.
func chooseBase(bases []images.Base, needs []tarball.Need) (images.Base, error) {
	var errs []error
	for _, base := range bases {
		err := fits(base, needs)
		if err == nil {
			return base, nil
		}
		errs = append(errs, err)
	}
	return images.Base{}, fmt.Errorf("no Debian release has its libraries; put them into its lib directory, or build it on another system: %w", errors.Join(errs...))
}

func fits(base images.Base, needs []tarball.Need) error {
	for _, n := range needs {
		if slices.Contains(base.Absent, n.Library) {
			return fmt.Errorf("%s needs the library %s, which %s does not have", n.By, n.Library, base.Suite)
		}
		for _, v := range n.Versions {
			family, version, _ := strings.Cut(v, "_")
			if newest, ok := base.Versions[family]; ok && laterVersion(version, newest) {
				return fmt.Errorf("%s needs %s of %s, %s has %s_%s", n.By, v, n.Library, base.Suite, family, newest)
			}
		}
	}
	return nil
}

// laterVersion compares versions of numbers and dots; what is none (GLIBC_PRIVATE) is not later.
func laterVersion(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range as {
		x, err := strconv.Atoi(as[i])
		if err != nil {
			return false
		}
		y := 0
		if i < len(bs) {
			y, _ = strconv.Atoi(bs[i]) // our own table holds numbers
		}
		if x != y {
			return x > y
		}
	}
	return false
}

// over is the recipe with what the base installs.
func (d *distribution) over(r images.Recipe) images.Recipe {
	r.Suite, r.SigningKey, r.Packages = d.base.Suite, d.base.SigningKey, d.base.Packages
	return r
}

func (d *distribution) facts() *images.TarballFacts {
	return &images.TarballFacts{Source: d.Tarball.Source, Suite: d.base.Suite, Server: d.Server}
}

// writeTo adds the distribution to the image's tar stream, owned by root.
func (d *distribution) writeTo(f *filter, out *tar.Writer) error {
	if err := f.parents(out, path.Join(images.TarballDir, "x")); err != nil {
		return err
	}
	root := os.DirFS(d.Dir)
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path.Join(images.TarballDir, name)[1:], Mode: int64(info.Mode().Perm()), ModTime: time.Unix(images.SourceDateEpoch, 0)}
		switch {
		case entry.IsDir():
			header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
			return f.write(out, header, nil)
		case entry.Type() == fs.ModeSymlink:
			header.Typeflag, header.Mode = tar.TypeSymlink, 0o777
			if header.Linkname, err = os.Readlink(filepath.Join(d.Dir, name)); err != nil {
				return err
			}
			return f.write(out, header, nil)
		}
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		header.Typeflag, header.Size = tar.TypeReg, info.Size()
		return f.write(out, header, file)
	})
}
