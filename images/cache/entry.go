package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"platter/images"
)

// entry is the path of one image directory; the other names derive from it.
type entry struct{ dir string }

// entryName names an image for people and, by 64 bits of the digest, for us.
// load checks the whole digest.
func entryName(name, digest string) string {
	return name + "-" + strings.TrimPrefix(digest, "sha256:")[:16]
}

func (e entry) lock() string       { return e.dir + ".lock" }
func (e entry) unfinished() string { return e.dir + ".new" }
func (e entry) scratch() string    { return e.dir + ".scratch" }

// load reads the manifest and checks that every file is there in its size.
func (e entry) load() (images.Image, error) {
	data, err := os.ReadFile(filepath.Join(e.dir, images.ManifestFile))
	if err != nil {
		return images.Image{}, fmt.Errorf("read image: %w", err)
	}
	m, err := images.DecodeManifest(data)
	if err != nil {
		return images.Image{}, fmt.Errorf("read image %s: %w", e.dir, err)
	}
	for name, output := range m.Outputs {
		info, err := os.Stat(filepath.Join(e.dir, name))
		if err != nil {
			return images.Image{}, fmt.Errorf("read image: %w", err)
		}
		if info.Size() != output.SizeBytes {
			return images.Image{}, fmt.Errorf("read image: %s has %d bytes, its manifest says %d",
				filepath.Join(e.dir, name), info.Size(), output.SizeBytes)
		}
	}
	return images.Image{Name: m.Recipe.Name, Digest: m.RecipeDigest, Dir: e.dir, Manifest: m}, nil
}

// finish makes the unfinished directory durable and moves it into place,
// over a damaged one if need be.
func (e entry) finish() error {
	files, err := os.ReadDir(e.unfinished())
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := syncFile(filepath.Join(e.unfinished(), file.Name())); err != nil {
			return err
		}
	}
	if err := syncFile(e.unfinished()); err != nil {
		return err
	}
	if err := os.RemoveAll(e.dir); err != nil {
		return err
	}
	if err := os.Rename(e.unfinished(), e.dir); err != nil {
		return err
	}
	return syncFile(filepath.Dir(e.dir))
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
