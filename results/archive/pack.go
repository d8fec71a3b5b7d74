package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"platter/results/store"
)

// Suffix ends the name of a packed file.
const Suffix = ".tar.zst"

// Name is the usual file name for packed runs: that of the first, and how many more.
func Name(runs []*store.Run) string { return bagName(runs) + Suffix }

func bagName(runs []*store.Run) string {
	if len(runs) == 1 {
		return runs[0].ID()
	}
	return fmt.Sprintf("%s-and-%d-more", runs[0].ID(), len(runs)-1)
}

// Pack writes run folders into one packed file, whole or not at all; a file of that name is never replaced. The same
// folders give the same bytes. A folder that changes meanwhile is an error, and so is anything but plain files in it.
func Pack(path string, runs []*store.Run, limits Limits) error {
	b, err := collect(runs, limits)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("pack: %s is there already; choose another name with --output", path)
	}
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	if err := b.write(pending, limits); err != nil {
		return errors.Join(fmt.Errorf("pack: write %s: %w", path, err), pending.Cleanup())
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return errors.Join(fmt.Errorf("pack: write %s: %w", path, err), pending.Cleanup())
	}
	return nil
}

// collect lists and digests the files of the runs.
func collect(runs []*store.Run, limits Limits) (bag, error) {
	b := bag{name: bagName(runs)}
	total := int64(0)
	for _, run := range slices.SortedFunc(slices.Values(runs), func(x, y *store.Run) int { return strings.Compare(x.ID(), y.ID()) }) {
		b.runs = append(b.runs, run.ID())
		b.date = latest(b.date, run.Meta())
		err := run.Files(func(name string, entry fs.DirEntry) error {
			it := item{name: payload + run.ID() + "/" + name, path: filepath.Join(run.Path(), filepath.FromSlash(name))}
			if !entry.Type().IsRegular() {
				return fmt.Errorf("%s is not a plain file", it.path)
			}
			if err := limits.checkName(b.name + "/" + it.name); err != nil {
				return fmt.Errorf("%s: %w", it.path, err)
			}
			var err error
			it.sha256, it.bytes, err = digestFile(it.path)
			b.items = append(b.items, it)
			total += it.bytes
			return errors.Join(err, limits.checkTotals(len(b.items), total, 0))
		})
		if err != nil {
			return b, err
		}
	}
	slices.SortFunc(b.items, func(x, y item) int { return strings.Compare(x.name, y.name) })
	seen := newNames()
	for _, it := range b.items {
		if err := seen.add(it.name); err != nil {
			return b, fmt.Errorf("%s: %w", it.path, err)
		}
	}
	return b, nil
}

// latest is the later of a time and a run's end, or its start when it has none.
func latest(t time.Time, meta store.Meta) time.Time {
	end := meta.StartedAt
	if meta.EndedAt != nil {
		end = *meta.EndedAt
	}
	if end.After(t) {
		return end
	}
	return t
}

// write writes the archive: tag files first, so that a reader can judge each file of the payload when it comes.
func (b bag) write(out io.Writer, limits Limits) error {
	frames, err := newFrameWriter(out)
	if err != nil {
		return err
	}
	w := tar.NewWriter(frames)
	header := func(name string, size int64) error {
		name = b.name + "/" + name
		if err := errors.Join(w.Flush(), frames.begin(name)); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: b.date.Truncate(time.Second)})
	}
	total := int64(0)
	for _, f := range b.tagFiles() {
		if err := header(f.name, int64(len(f.text))); err != nil {
			return err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
		total += int64(len(f.text))
	}
	for _, it := range b.items {
		if err := header(it.name, it.bytes); err != nil {
			return err
		}
		if err := copyItem(w, it); err != nil {
			return err
		}
		total += it.bytes
	}
	if err := errors.Join(w.Close(), frames.close()); err != nil {
		return err
	}
	return limits.checkTotals(len(b.items), total, frames.index.packedBytes())
}

// copyItem copies a file, which must be what it was when it was digested.
func copyItem(w io.Writer, it item) error {
	file, err := openPlain(it.path)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(file, it.bytes))
	if err != nil {
		return err
	}
	if n != it.bytes || hex.EncodeToString(hash.Sum(nil)) != it.sha256 {
		return fmt.Errorf("%s changed while it was packed", it.path)
	}
	return nil
}
