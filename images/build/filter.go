package build

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"platter/images"
)

// filter applies a Customize to a tar stream.
type filter struct {
	customize images.Customize
	remove    *regexp.Regexp
	keep      *regexp.Regexp  // nil keeps everything
	replaced  map[string]bool // paths that the customization adds itself
	written   map[string]bool
	captured  map[string][]byte

	// Of an image made of a tarball, else nil.
	distribution *distribution
	libraries    *libraries
}

func newFilter(c images.Customize) *filter {
	f := &filter{
		customize: c,
		remove:    patterns(append(slices.Clone(c.Remove), packagesFile, optionsFile)),
		replaced:  map[string]bool{},
		written:   map[string]bool{},
		captured:  map[string][]byte{},
	}
	if len(c.Keep) > 0 {
		f.keep = patterns(c.Keep)
	}
	for _, file := range c.Files {
		f.replaced[file.Path] = true
	}
	for _, dir := range c.Directories {
		f.replaced[dir.Path] = true
	}
	for _, link := range c.Links {
		f.replaced[link.Path] = true
	}
	return f
}

// patterns compiles shell patterns in which, as in dpkg's path-exclude, "*"
// and "?" also match "/". A pattern without them also matches what lies below.
func patterns(list []string) *regexp.Regexp {
	alternatives := make([]string, len(list))
	for i, pattern := range list {
		expression := regexp.QuoteMeta(pattern)
		expression = strings.ReplaceAll(expression, `\*`, `.*`)
		expression = strings.ReplaceAll(expression, `\?`, `.`)
		alternatives[i] = expression + `(/.*)?`
	}
	return regexp.MustCompile(`^(` + strings.Join(alternatives, "|") + `)$`)
}

// copy reads a tar stream and writes the filtered one, additions last. The
// result depends on the content only: times are clamped, owners are numbers.
func (f *filter) copy(dst io.Writer, src io.Reader) error {
	in, out := tar.NewReader(src), tar.NewWriter(dst)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if err := f.entry(out, in, header); err != nil {
			return err
		}
	}
	if err := f.add(out); err != nil {
		return err
	}
	if f.distribution != nil {
		if err := f.distribution.writeTo(f, out); err != nil {
			return err
		}
	}
	return out.Close()
}

func (f *filter) entry(out *tar.Writer, in io.Reader, header *tar.Header) error {
	name := path.Join("/", header.Name)
	if isCaptured(header, name) {
		content, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		f.captured[name] = content
		in = bytes.NewReader(content)
	}
	if f.libraries != nil && f.libraries.wants(header, name) {
		content, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		f.libraries.content[name] = content
		in = bytes.NewReader(content)
	}
	if name == "/" || f.replaced[name] || f.drops(name) {
		return nil
	}
	if header.Typeflag == tar.TypeLink {
		if target := path.Join("/", header.Linkname); !f.written[target] {
			return fmt.Errorf("%s is a hard link to %s, which is left out: leave out both or none", name, target)
		}
		header.Linkname = path.Join("/", header.Linkname)[1:]
	}
	if f.keep != nil {
		if err := f.parents(out, name); err != nil {
			return err
		}
	}
	if isModule(header, name) {
		module, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		module = withoutSignature(module)
		header.Size, in = int64(len(module)), bytes.NewReader(module)
	}
	f.normalize(header, name)
	return f.write(out, header, in)
}

func (f *filter) drops(name string) bool {
	return f.remove.MatchString(name) || f.keep != nil && !f.keep.MatchString(name)
}

// normalize takes out of a header what differs between two builds.
func (f *filter) normalize(header *tar.Header, name string) {
	clean := tar.Header{
		Typeflag: header.Typeflag,
		Name:     name[1:],
		Linkname: header.Linkname,
		Size:     header.Size,
		Mode:     header.Mode,
		Uid:      header.Uid,
		Gid:      header.Gid,
		ModTime:  header.ModTime.Truncate(time.Second),
		Devmajor: header.Devmajor,
		Devminor: header.Devminor,
	}
	if epoch := time.Unix(images.SourceDateEpoch, 0); clean.ModTime.After(epoch) {
		clean.ModTime = epoch
	}
	if header.Typeflag == tar.TypeDir {
		clean.Name += "/"
	}
	for key, value := range header.PAXRecords {
		if strings.HasPrefix(key, "SCHILY.xattr.security.") {
			if clean.PAXRecords == nil {
				clean.PAXRecords = map[string]string{}
			}
			clean.PAXRecords[key] = value
		}
	}
	*header = clean
}

func (f *filter) write(out *tar.Writer, header *tar.Header, content io.Reader) error {
	if err := out.WriteHeader(header); err != nil {
		return fmt.Errorf("write %s: %w", header.Name, err)
	}
	if header.Typeflag == tar.TypeReg {
		if _, err := io.Copy(out, content); err != nil {
			return fmt.Errorf("write %s: %w", header.Name, err)
		}
	}
	f.written[path.Join("/", header.Name)] = true
	return nil
}

// add writes the files, directories and links of the customization.
func (f *filter) add(out *tar.Writer) error {
	epoch := time.Unix(images.SourceDateEpoch, 0)
	for _, d := range f.customize.Directories {
		if err := f.parents(out, d.Path); err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeDir, Name: d.Path[1:] + "/", Mode: tarMode(d.Mode), Uid: d.UID, Gid: d.GID, ModTime: epoch}
		if err := f.write(out, header, nil); err != nil {
			return err
		}
	}
	for _, file := range f.customize.Files {
		if err := f.parents(out, file.Path); err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.Path[1:], Mode: tarMode(file.Mode), Size: int64(len(file.Content)), ModTime: epoch}
		if err := f.write(out, header, strings.NewReader(file.Content)); err != nil {
			return err
		}
	}
	for _, link := range f.customize.Links {
		if err := f.parents(out, link.Path); err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeSymlink, Name: link.Path[1:], Linkname: link.Target, Mode: 0o777, ModTime: epoch}
		if err := f.write(out, header, nil); err != nil {
			return err
		}
	}
	return nil
}

// parents writes the directories above name that the stream did not have.
func (f *filter) parents(out *tar.Writer, name string) error {
	dir := path.Dir(name)
	if dir == "/" || f.written[dir] {
		return nil
	}
	if err := f.parents(out, dir); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: 0o755, ModTime: time.Unix(images.SourceDateEpoch, 0)}
	return f.write(out, header, nil)
}

// tarMode takes permissions as written in a recipe (0o1777 is a sticky
// directory), whose bits are those of tar and not those of fs.FileMode.
func tarMode(mode fs.FileMode) int64 { return int64(mode) & 0o7777 }
