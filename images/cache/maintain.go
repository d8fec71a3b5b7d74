package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"platter/images"
)

// List returns the images of the cache, ordered by directory. Directories that
// are no readable image are reported in the error beside the others.
func (c *Cache) List() ([]images.Image, error) {
	entries, err := c.entries()
	if err != nil {
		return nil, err
	}
	var list []images.Image
	var errs []error
	for _, e := range entries {
		image, err := e.load()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, image)
	}
	return list, errors.Join(errs...)
}

// entries returns the image directories, finished or damaged.
func (c *Cache) entries() ([]entry, error) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	var list []entry
	for _, file := range files {
		if file.IsDir() && !strings.HasSuffix(file.Name(), ".new") {
			list = append(list, entry{filepath.Join(c.dir, file.Name())})
		}
	}
	return list, nil
}

// Verify reads every byte of an image and compares it with its manifest, and
// the recipe in the manifest with the digest. It reports all faults.
func (c *Cache) Verify(image images.Image) error {
	var errs []error
	m := image.Manifest
	options := images.Options{Mirror: m.Mirror, AptOptions: m.AptOptions, Arch: m.Arch}
	if digest := m.Recipe.Digest(options); digest != m.RecipeDigest {
		// A platter of another revision may have built it: not a damage.
		if m.Format == images.Format {
			errs = append(errs, fmt.Errorf("verify image %s: its recipe has the digest %s, its manifest says %s", image.Dir, digest, m.RecipeDigest))
		}
	}
	for name, want := range m.Outputs {
		got, err := sum(filepath.Join(image.Dir, name))
		if err != nil {
			errs = append(errs, fmt.Errorf("verify image %s: %w", image.Dir, err))
		} else if got != want.SHA256 {
			errs = append(errs, fmt.Errorf("verify image %s: %s has the digest sha256:%s, its manifest says sha256:%s; remove the directory and build again",
				image.Dir, name, got, want.SHA256))
		}
	}
	return errors.Join(errs...)
}

func sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Prune removes every image whose recipe digest is not among keep, damaged
// directories, and what interrupted builds left. It returns the directories it
// removed. An image that is being built is left alone; a running machine keeps
// the files it has open.
func (c *Cache) Prune(keep ...string) ([]string, error) {
	kept := map[string]bool{}
	for _, digest := range keep {
		kept[digest] = true
	}
	locks, err := c.everything()
	if err != nil {
		return nil, err
	}
	var removed []string
	var errs []error
	for _, e := range locks {
		if image, err := e.load(); err == nil && kept[image.Digest] {
			continue
		}
		gone, err := c.remove(e)
		if err != nil {
			errs = append(errs, fmt.Errorf("remove image %s: %w", e.dir, err))
		} else if gone {
			removed = append(removed, e.dir)
		}
	}
	return removed, errors.Join(errs...)
}

// everything returns one entry for every name in the cache directory, also
// when only the leftovers of a build exist.
func (c *Cache) everything() ([]entry, error) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	var list []entry
	seen := map[string]bool{}
	for _, file := range files {
		name := file.Name()
		for _, suffix := range []string{".lock", ".new", ".scratch"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, entry{filepath.Join(c.dir, name)})
		}
	}
	return list, nil
}

func (c *Cache) remove(e entry) (gone bool, err error) {
	lock := flock.New(e.lock(), flock.SetPermissions(0o644))
	locked, err := lock.TryLock()
	if err != nil || !locked {
		return false, err
	}
	defer func() { _ = lock.Unlock() }() // closing the file frees the lock in any case
	_, statErr := os.Lstat(e.dir)
	if err := c.discard(e); err != nil {
		return false, err
	}
	if err := os.RemoveAll(e.dir); err != nil {
		return false, err
	}
	// The lock file stays: a process that waits for it would otherwise hold
	// a lock that nobody else sees.
	return statErr == nil, nil
}
