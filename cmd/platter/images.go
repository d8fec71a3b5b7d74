package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
)

// imageFlags say how images are built; `images build` and `run` share them.
func imageFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "mirror", EnvVars: []string{"PLATTER_MIRROR"}, Usage: "Debian mirror: a `URI`, or lines of a sources.list; default: mmdebstrap's"},
		&cli.StringSliceFlag{Name: "apt-option", Usage: "apt.conf `LINE` for image builds, e.g. 'Acquire::http::Proxy \"http://cache:3142\"'; may be repeated"},
		&cli.StringFlag{Name: "arch", Value: runtime.GOARCH, Usage: "architecture of the guest, as Debian names it: amd64 or arm64"},
		&cli.StringFlag{Name: "image-dir", EnvVars: []string{"PLATTER_IMAGES"}, Usage: "`DIRECTORY` of the image cache; default: platter/images in the user's cache directory"},
	}
}

func imagesCommand() *cli.Command {
	return &cli.Command{
		Name:   "images",
		Usage:  "the images machines boot from and servers run from",
		Action: noSubcommand,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the catalogue and what the cache holds of it", Flags: imageFlags(), Action: listImages},
			{Name: "build", Usage: "build what is missing", ArgsUsage: "NAME...", Flags: imageFlags(), Action: buildImages, BashComplete: completeImages},
			{Name: "verify", Usage: "compare every byte of cached images with their manifests", ArgsUsage: "[NAME...]", Flags: imageFlags(), Action: verifyImages, BashComplete: completeImages},
			{Name: "prune", Usage: "remove cached images that platter would no longer make, and what broken builds left", Flags: imageFlags(), Action: pruneImages},
		},
	}
}

// imageStore gives images from the cache, building what is missing: those of the catalogue, and those made of a plan's
// tarballs.
type imageStore struct {
	cache   *cache.Cache
	options images.Options
	plan    lab.Plan
}

// openImages opens the cache with the options of the flags.
func openImages(c *cli.Context) (imageStore, error) {
	arch := c.String("arch")
	if !slices.Contains([]string{"amd64", "arm64"}, arch) {
		return imageStore{}, &usageError{fmt.Errorf("--arch %q: images are built for amd64 and arm64", arch)}
	}
	store, err := cache.Open(c.String("image-dir"), build.Builder{})
	if err != nil {
		return imageStore{}, &lab.InputError{Err: err}
	}
	return imageStore{cache: store, options: images.Options{Mirror: c.String("mirror"), AptOptions: c.StringSlice("apt-option"), Arch: arch}}, nil
}

// Ensure returns an image; say receives a line for people about each step of a build. A tarball that cannot become an
// image is an InputError.
func (s imageStore) Ensure(ctx context.Context, name string, say func(string)) (images.Image, error) {
	recipe, err := s.recipe(name)
	if err != nil {
		return images.Image{}, err
	}
	image, err := s.cache.Ensure(ctx, recipe, s.options, say)
	switch {
	case as[*images.TarballError](err):
		return images.Image{}, &lab.InputError{Err: err}
	case err != nil:
		return images.Image{}, &lab.InfraError{What: "image " + name, Err: err}
	}
	return image, s.checkOptions(image)
}

func (s imageStore) recipe(name string) (images.Recipe, error) {
	for _, t := range s.plan.Tarballs {
		if t.Image() == name {
			return t.Recipe(), nil
		}
	}
	return findImage(name)
}

// ensureTarballs makes the images of the plan's tarballs before anything of a run exists: what is wrong with one is a
// fault of the study.
func (s imageStore) ensureTarballs(c *cli.Context) error {
	var faults []error
	for _, t := range s.plan.Tarballs {
		_, err := s.Ensure(c.Context, t.Image(), func(step string) { fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", t.Image(), step) })
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func findImage(name string) (images.Recipe, error) {
	recipe, err := images.Lookup(name)
	if err == nil {
		return recipe, nil
	}
	if near := lab.Nearest(name, imageNames()); near != "" {
		err = fmt.Errorf("unknown image %q, did you mean %q?", name, near)
	}
	return recipe, &lab.InputError{Err: err}
}

func imageNames() (names []string) {
	for _, r := range images.Catalogue() {
		names = append(names, r.Name)
	}
	return names
}

func completeImages(c *cli.Context) { fmt.Fprintln(c.App.Writer, strings.Join(imageNames(), "\n")) }

func listImages(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no arguments"); err != nil {
		return err
	}
	s, err := openImages(c)
	if err != nil {
		return err
	}
	cached, damaged := s.cache.List()
	byDigest, byName := map[string]images.Image{}, map[string]bool{}
	for _, i := range cached {
		byDigest[i.Digest], byName[i.Name] = i, true
	}
	t := plainTable(c.App.Writer)
	t.AppendHeader(table.Row{"IMAGE", "KIND", "SUITE", "CACHED", "SIZE", "DIGEST", "ABOUT"})
	for _, r := range images.Catalogue() {
		row := table.Row{r.Name, r.Kind, r.Suite, "no", "", short(r.Digest(s.options)), r.About}
		if i, ok := byDigest[r.Digest(s.options)]; ok {
			row[3], row[4] = i.Manifest.BuiltAt.Format(time.DateOnly), sizeOf(i)
		} else if byName[r.Name] {
			row[3] = "other recipe or options"
		}
		t.AppendRow(row)
	}
	for _, i := range cached {
		if d := i.Manifest.Recipe.Distribution; d != nil && i.Manifest.Tarball != nil {
			facts := i.Manifest.Tarball
			t.AppendRow(table.Row{i.Name, images.KindServer, facts.Suite, i.Manifest.BuiltAt.Format(time.DateOnly), sizeOf(i), short(i.Digest), "tarball " + facts.Source})
		}
	}
	t.Render()
	fmt.Fprintf(c.App.Writer, "\ncache: %s, %s\n", s.cache.Dir(), count(len(cached), "image"))
	if damaged != nil {
		return fmt.Errorf("%w: %w", errIntegrity, damaged)
	}
	return nil
}

func sizeOf(i images.Image) string {
	var total int64
	for _, o := range i.Manifest.Outputs {
		total += o.SizeBytes
	}
	return fmt.Sprintf("%dMiB", total>>20)
}

func buildImages(c *cli.Context) error {
	if err := arguments(c, 1, -1, "the name of an image, e.g. root"); err != nil {
		return err
	}
	s, err := openImages(c)
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range c.Args().Slice() {
		if _, err := findImage(name); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	return s.buildAll(c, c.Args().Slice())
}

// buildAll builds images side by side, one a processor: dpkg, which is most of a build, works on one package at a time.
// The first that fails stops the others.
func (s imageStore) buildAll(c *cli.Context, names []string) error {
	group, ctx := errgroup.WithContext(c.Context)
	group.SetLimit(runtime.NumCPU())
	var printing sync.Mutex
	print := func(w io.Writer, format string, args ...any) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Fprintf(w, format, args...)
	}
	for _, name := range names {
		group.Go(func() error {
			start := time.Now()
			image, err := s.Ensure(ctx, name, func(step string) { print(c.App.ErrWriter, "%s: %s\n", name, step) })
			if err != nil {
				return err
			}
			print(c.App.Writer, "%s  %s  %s  %s  (%s)\n", name, short(image.Digest), sizeOf(image), image.Dir, time.Since(start).Round(time.Millisecond))
			return nil
		})
	}
	return group.Wait()
}

func verifyImages(c *cli.Context) error {
	s, err := openImages(c)
	if err != nil {
		return err
	}
	for _, name := range c.Args().Slice() {
		if _, err := findImage(name); err != nil {
			return err
		}
	}
	cached, damaged := s.cache.List()
	errs := []error{damaged}
	checked := 0
	for _, i := range cached {
		if c.NArg() > 0 && !slices.Contains(c.Args().Slice(), i.Name) {
			continue
		}
		checked++
		if err := s.cache.Verify(i); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(c.App.Writer, "%s  %s  ok\n", i.Name, short(i.Digest))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", errIntegrity, err)
	}
	if checked == 0 {
		fmt.Fprintln(c.App.Writer, "the cache holds none of these images")
	}
	return nil
}

func pruneImages(c *cli.Context) error {
	if err := arguments(c, 0, 0, "no arguments"); err != nil {
		return err
	}
	s, err := openImages(c)
	if err != nil {
		return err
	}
	var keep []string
	for _, r := range images.Catalogue() {
		keep = append(keep, r.Digest(s.options))
	}
	cached, _ := s.cache.List() // what is damaged is removed
	for _, i := range cached {
		if d := i.Manifest.Recipe.Distribution; d != nil {
			keep = append(keep, images.Tarball{SHA256: d.SHA256}.Recipe().Digest(s.options))
		}
	}
	removed, err := s.cache.Prune(keep...)
	for _, dir := range removed {
		fmt.Fprintf(c.App.Writer, "removed %s\n", dir)
	}
	return err
}
