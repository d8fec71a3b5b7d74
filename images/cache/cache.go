// Package cache keeps built images, one directory a recipe digest, and builds
// what is missing exactly once, however many processes ask. It does not know
// how an image is built; cmd/platter and lab/runner hand it images/build's
// Builder and call Ensure.
//
// On disk, below the cache directory:
//
//	root-0123456789abcdef/           a finished image, never changed
//	root-0123456789abcdef.lock       held while the image is built or removed
//	root-0123456789abcdef.new/       what a build writes; renamed when complete
//	root-0123456789abcdef.scratch    a link to the temporary directory of that build
//
// Whatever a killed build left is removed by the next holder of the lock.
package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"

	"platter/images"
)

// Builder makes the files of an image.
type Builder interface {
	// Build fills the empty directory dir; temporary files go below scratch.
	Build(ctx context.Context, r images.Recipe, o images.Options, dir, scratch string, progress func(string)) error
	// Clean removes a scratch directory, also one whose files belong to the
	// subordinate users of a user namespace.
	Clean(scratch string) error
}

// Cache is safe for concurrent use, also by several processes.
type Cache struct {
	dir     string
	builder Builder
}

// lockPoll is how often a waiting process looks whether the lock is free.
const lockPoll = 200 * time.Millisecond

// DefaultDir returns the cache directory of this user: platter/images in
// $XDG_CACHE_HOME.
func DefaultDir() string { return filepath.Join(xdg.CacheHome, "platter", "images") }

// Open opens the cache in dir, which is made when it is not there; "" means
// DefaultDir.
func Open(dir string, builder Builder) (*Cache, error) {
	if dir == "" {
		dir = DefaultDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the image cache: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open the image cache: %w; choose another directory with XDG_CACHE_HOME", err)
	}
	return &Cache{dir: dir, builder: builder}, nil
}

// Dir returns the absolute path of the cache directory.
func (c *Cache) Dir() string { return c.dir }

// Lookup returns the image of r and o when the cache has it. It builds nothing and waits for nobody.
func (c *Cache) Lookup(r images.Recipe, o images.Options) (images.Image, bool) {
	digest := r.Digest(o)
	image, err := entry{filepath.Join(c.dir, entryName(r.Name, digest))}.load()
	return image, err == nil && image.Digest == digest
}

// Ensure returns the image of r and o. When the cache has it, that costs
// reading one manifest and no network. Otherwise it builds the image, or waits
// for another process that does; progress is told about both. When ctx ends,
// nothing half-built stays and the error wraps ctx.Err().
func (c *Cache) Ensure(ctx context.Context, r images.Recipe, o images.Options, progress func(string)) (images.Image, error) {
	digest := r.Digest(o)
	e := entry{filepath.Join(c.dir, entryName(r.Name, digest))}
	if image, ok := c.Lookup(r, o); ok {
		return image, nil
	}
	unlock, err := c.lock(ctx, e, r.Name, progress)
	if err != nil {
		return images.Image{}, err
	}
	defer unlock()
	// Whoever held the lock before may have built it.
	if image, ok := c.Lookup(r, o); ok {
		return image, nil
	}
	if err := c.build(ctx, e, r, o, progress); err != nil {
		return images.Image{}, err
	}
	return e.load()
}

func (c *Cache) lock(ctx context.Context, e entry, name string, progress func(string)) (unlock func(), err error) {
	lock := flock.New(e.lock(), flock.SetPermissions(0o644))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		progress("waiting for another process that is building image " + name)
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("lock image %s: %w", name, err)
	}
	return func() { _ = lock.Unlock() }, nil // closing the file frees the lock in any case
}

// build runs the builder in fresh directories and moves the result into
// place. The caller holds the lock.
func (c *Cache) build(ctx context.Context, e entry, r images.Recipe, o images.Options, progress func(string)) error {
	if err := c.discard(e); err != nil {
		return fmt.Errorf("remove what an interrupted build of image %s left: %w", r.Name, err)
	}
	scratch, err := os.MkdirTemp(scratchParent(), scratchPrefix)
	if err != nil {
		return fmt.Errorf("build image %s: %w", r.Name, err)
	}
	err = os.Symlink(scratch, e.scratch())
	if err == nil {
		// The users of a user namespace must be able to pass through.
		err = os.Chmod(scratch, 0o711)
	}
	if err == nil {
		err = os.Mkdir(e.unfinished(), 0o755)
	}
	if err == nil {
		err = c.builder.Build(ctx, r, o, e.unfinished(), scratch, progress)
	}
	if err == nil {
		err = e.finish()
	}
	if cleanErr := c.discard(e); err == nil {
		err = cleanErr
	}
	return err
}

// discard removes the unfinished directory and the scratch directory.
func (c *Cache) discard(e entry) error {
	if scratch, err := os.Readlink(e.scratch()); err == nil {
		if !strings.HasPrefix(filepath.Base(scratch), scratchPrefix) {
			return fmt.Errorf("%s points to %s, which is not ours; remove it by hand", e.scratch(), scratch)
		}
		if err := c.builder.Clean(scratch); err != nil {
			return err
		}
		if err := os.Remove(e.scratch()); err != nil {
			return err
		}
	}
	return os.RemoveAll(e.unfinished())
}

const scratchPrefix = "platter-build-"

// scratchParent is $TMPDIR or /var/tmp: a root takes half a gigabyte, and /tmp
// is often memory.
func scratchParent() string {
	if dir := os.Getenv("TMPDIR"); dir != "" {
		return dir
	}
	return "/var/tmp"
}
