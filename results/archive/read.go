package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"platter/results/store"
)

// reader takes a packed file apart, member by member, and stops at the first that is not as it must be.
type reader struct {
	limits   Limits
	tar      *tar.Reader
	counted  *countingReader
	packed   int64 // bytes of all frames
	bag      string
	names    *names
	manifest map[string]string // payload name → digest, until the member has come
	tags     map[string]string // digests of the tag files read so far
	last     string            // name of the member before
	files    int
}

// problem is a fault of a packed file: where it is, and what is wrong there.
func problem(kind store.ProblemKind, where, format string, args ...any) *store.Problem {
	return &store.Problem{Path: where, Kind: kind, Err: fmt.Errorf(format, args...)}
}

// wholeFile is the place of what is wrong with the packed file itself.
const wholeFile = "the packed file"

// read walks a packed file whose bytes are proven to be what their index says. put takes each file of the payload, by
// its name below data/, before its digest is known; whoever keeps the files must drop them when read returns an error.
func read(file *io.SectionReader, limits Limits, put func(name string, content io.Reader) error) error {
	x, err := readIndex(file, file.Size())
	if err != nil {
		return problem(store.Broken, wholeFile, "%w", err)
	}
	bad, err := x.damage(file)
	if err != nil {
		return problem(store.Unreadable, wholeFile, "%w", err)
	}
	if len(bad) > 0 {
		return problem(store.Changed, wholeFile, "%w", errors.Join(bad...))
	}
	packed := x.packedBytes()
	zip, err := zstd.NewReader(io.NewSectionReader(file, 0, packed), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(windowBytes), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer zip.Close()
	counted := &countingReader{r: zip}
	r := &reader{limits: limits, tar: tar.NewReader(counted), counted: counted, packed: packed, names: newNames(), tags: map[string]string{}}
	if err := r.readTags(); err != nil {
		return err
	}
	return r.readPayload(put)
}

// next returns the next member, which must be a plain file with an innocent name of the bag, and its name in the bag.
func (r *reader) next() (name string, err error) {
	header, err := r.tar.Next()
	if err != nil {
		if err == io.EOF {
			return "", io.EOF
		}
		return "", problem(store.Broken, "after "+r.last, "%w", err)
	}
	where := header.Name
	if header.Typeflag != tar.TypeReg {
		return "", problem(store.Refused, where, "it is %s; only plain files are taken", typeNames[header.Typeflag])
	}
	for key := range header.PAXRecords {
		if key != "path" {
			return "", problem(store.Refused, where, "it carries the attribute %q", key)
		}
	}
	if header.Format == tar.FormatGNU {
		return "", problem(store.Refused, where, "its header is GNU's own, which platter does not write")
	}
	if err := r.limits.checkName(where); err != nil {
		return "", problem(store.Refused, where, "%w", err)
	}
	base, name, ok := strings.Cut(where, "/")
	if r.bag == "" {
		r.bag = base
	}
	if !ok || base != r.bag {
		return "", problem(store.Refused, where, "it lies outside of the bag %q", r.bag)
	}
	if err := r.names.add(name); err != nil {
		return "", problem(store.Refused, where, "%w", err)
	}
	r.files++
	if err := r.limits.checkTotals(r.files, r.counted.n+header.Size, r.packed); err != nil {
		return "", problem(store.Refused, where, "%w", err)
	}
	r.last = where
	return name, nil
}

// typeNames say what a member is that is refused; an unknown type is "".
var typeNames = map[byte]string{
	tar.TypeLink: "a hard link", tar.TypeSymlink: "a symbolic link", tar.TypeChar: "a character device", tar.TypeBlock: "a block device",
	tar.TypeDir: "a directory", tar.TypeFifo: "a fifo", tar.TypeGNUSparse: "a sparse file", tar.TypeCont: "of a reserved type",
}

// readTags reads the files before the payload and what they say of it.
func (r *reader) readTags() error {
	texts := map[string][]byte{}
	for _, want := range []string{bagitFile, infoFile, readmeFile, manifestFile, tagManifestFile} {
		name, err := r.next()
		if err == io.EOF || err == nil && name != want {
			return problem(store.Broken, r.last, "want %s here: not a bag as platter packs it", want)
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(r.tar, r.limits.ManifestBytes+1))
		if err != nil {
			return problem(store.Broken, r.last, "%w", err)
		}
		if int64(len(text)) > r.limits.ManifestBytes {
			return problem(store.TooLarge, r.last, "more than %d bytes", r.limits.ManifestBytes)
		}
		texts[name] = text
		digest := sha256.Sum256(text)
		r.tags[name] = hex.EncodeToString(digest[:])
	}
	if string(texts[bagitFile]) != bagitText {
		return problem(store.Foreign, r.bag+"/"+bagitFile, "not BagIt 1.0 in UTF-8")
	}
	delete(r.tags, tagManifestFile)
	said, err := parseManifest(texts[tagManifestFile])
	if err != nil {
		return problem(store.Broken, r.bag+"/"+tagManifestFile, "%w", err)
	}
	for name, digest := range r.tags {
		if said[name] != digest {
			return problem(store.Changed, r.bag+"/"+name, "its digest is not the one in %s", tagManifestFile)
		}
	}
	if r.manifest, err = parseManifest(texts[manifestFile]); err != nil {
		return problem(store.Broken, r.bag+"/"+manifestFile, "%w", err)
	}
	return nil
}

// parseManifest reads lines of a digest, two blanks and a name.
func parseManifest(text []byte) (map[string]string, error) {
	digests := map[string]string{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		digest, name, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "  ")
		if _, err := hex.DecodeString(digest); !ok || err != nil || len(digest) != sha256.Size*2 || name == "" {
			return nil, fmt.Errorf("line %d is not a digest and a name", number)
		}
		if digests[name] != "" {
			return nil, fmt.Errorf("line %d: %q is there twice", number, name)
		}
		digests[name] = digest
	}
	return digests, nil
}

// readPayload hands out the files of the payload and holds each against the manifest.
func (r *reader) readPayload(put func(name string, content io.Reader) error) error {
	for {
		name, err := r.next()
		if err == io.EOF {
			return r.readEnd()
		}
		if err != nil {
			return err
		}
		want, listed := r.manifest[name]
		below, inside := strings.CutPrefix(name, payload)
		if !listed || !inside {
			return problem(store.Refused, r.last, "the manifest does not name it")
		}
		delete(r.manifest, name)
		hash := sha256.New()
		content := io.TeeReader(r.tar, hash)
		if err := put(below, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil { // what put left
			return problem(store.Broken, r.last, "%w", err)
		}
		if got := hex.EncodeToString(hash.Sum(nil)); got != want {
			return problem(store.Changed, r.last, "sha256 is %s, the manifest says %s", got, want)
		}
	}
}

// tailBytes is how much may follow the end of a tar: the padding of its last record.
const tailBytes = 64 << 10

// readEnd wants every file of the manifest to have come, and nothing but zeros behind the end.
func (r *reader) readEnd() error {
	if len(r.manifest) > 0 {
		missing := slices.Sorted(maps.Keys(r.manifest))
		return problem(store.Missing, path.Join(r.bag, missing[0]), "the manifest names it, and %d in all that are not there", len(missing))
	}
	tail, err := io.ReadAll(io.LimitReader(r.counted, tailBytes+1))
	if err != nil {
		return problem(store.Broken, "the end", "%w", err)
	}
	if len(tail) > tailBytes || len(bytes.Trim(tail, "\x00")) > 0 {
		return problem(store.Refused, "the end", "data follows the end of the archive")
	}
	return nil
}

// countingReader counts what it reads.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
