package cache

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platter/images"
)

func TestVerifyFindsOneBit(t *testing.T) {
	c := open(t, t.TempDir(), &fake{})
	image, err := c.Ensure(t.Context(), recipe, options, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Verify(image); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(image.Root())
	if err != nil {
		t.Fatal(err)
	}
	data[3] ^= 1
	if err := os.WriteFile(image.Root(), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Verify(image); err == nil || !strings.Contains(err.Error(), images.RootFile) {
		t.Errorf("a flipped bit: %v", err)
	}
	image.Manifest.Recipe.Suite = "sid"
	if err := c.Verify(image); err == nil || !strings.Contains(err.Error(), "its recipe has the digest") {
		t.Errorf("another recipe: %v", err)
	}
}

// TestDamageIsBuiltAgain cuts a file, as a full disk would.
func TestDamageIsBuiltAgain(t *testing.T) {
	b := &fake{}
	c := open(t, t.TempDir(), b)
	image, err := c.Ensure(t.Context(), recipe, options, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image.Root(), 3); err != nil {
		t.Fatal(err)
	}
	if list, err := c.List(); len(list) != 0 || err == nil {
		t.Errorf("List of a damaged image: %v, %v", list, err)
	}
	if _, err := c.Ensure(t.Context(), recipe, options, quiet); err != nil || b.builds != 2 {
		t.Errorf("%d builds, error %v", b.builds, err)
	}
	if err := c.Verify(image); err != nil {
		t.Error(err)
	}
}

func TestListAndPrune(t *testing.T) {
	release := make(chan struct{})
	b := &fake{}
	c := open(t, t.TempDir(), b)
	var built []images.Image
	for _, name := range []string{"root", "mariadb-11.8", "old"} {
		r := recipe
		r.Name = name
		image, err := c.Ensure(t.Context(), r, options, quiet)
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, image)
	}
	if err := os.Mkdir(filepath.Join(c.Dir(), "damaged-0123456789abcdef"), 0o755); err != nil {
		t.Fatal(err)
	}
	// An image in the making must survive.
	started := make(chan struct{})
	b.during = func(context.Context, string, string) error { close(started); <-release; return nil }
	done := make(chan error)
	go func() {
		_, err := c.Ensure(context.Background(), recipe, options, quiet)
		done <- err
	}()
	<-started

	removed, err := c.Prune(built[0].Digest, built[1].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if len(removed) != 2 {
		t.Errorf("removed %q, want the old and the damaged one", removed)
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the build during prune: %v", err)
	}
	list, err := c.List()
	if err != nil || len(list) != 3 {
		t.Errorf("List: %d images, %v", len(list), err)
	}
	for _, image := range list {
		if image.Name == "old" {
			t.Error("the old image is still there")
		}
	}
}

func TestForeignScratchIsRefused(t *testing.T) {
	c := open(t, t.TempDir(), &fake{})
	e := entry{filepath.Join(c.Dir(), entryName(recipe.Name, recipe.Digest(options)))}
	precious := t.TempDir()
	if err := os.Symlink(precious, e.scratch()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ensure(t.Context(), recipe, options, quiet); err == nil || !strings.Contains(err.Error(), precious) {
		t.Errorf("a scratch link to a foreign directory: %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
