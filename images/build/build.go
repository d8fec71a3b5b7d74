package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"platter/images"
)

// Builder builds images on this host with Debian's tools. Its zero value is
// ready, and it is safe for concurrent use.
type Builder struct{}

// Build builds recipe r into dir, which must exist and be empty: the root
// filesystem, for a root image also kernel and initramfs, and last the
// manifest. Temporary files go below scratch, which must exist and be
// searchable by everyone; Clean removes it. progress is told each step in a few words, one call at a time but from another
// goroutine.
//
// It needs network access to a Debian mirror. When ctx ends, all processes are
// stopped and the error wraps ctx.Err(). After an error dir holds rubbish.
func (Builder) Build(ctx context.Context, r images.Recipe, o images.Options, dir, scratch string, progress func(string)) error {
	start := time.Now()
	if err := checkHost(r, dir, scratch); err != nil {
		return err
	}
	f, installed := newFilter(r.Customize), r
	if r.Distribution != nil {
		d, err := takeTarball(ctx, r, o, scratch, progress)
		if err != nil {
			return err
		}
		installed, f.distribution, f.libraries = d.over(r), d, newLibraries(d.needs)
	}
	keyring, err := findKeyring(ctx, "/", installed, scratch, progress)
	if err != nil {
		return err
	}
	out, err := makeRoot(ctx, installed, o, f, keyring, dir, scratch, progress)
	if err != nil {
		return fmt.Errorf("build image %s: %w", r.Name, err)
	}
	if r.Boot != nil {
		if err := makeBoot(ctx, r, out, dir, progress); err != nil {
			return fmt.Errorf("build image %s: %w", r.Name, err)
		}
	}
	m := images.Manifest{
		Schema:          images.ManifestSchema,
		Format:          images.Format,
		Recipe:          r,
		RecipeDigest:    r.Digest(o),
		Packages:        out.packages,
		KernelVersion:   out.kernelVersion,
		Mirror:          o.Mirror,
		AptOptions:      append([]string{}, o.AptOptions...),
		Arch:            o.Arch,
		SourceDateEpoch: images.SourceDateEpoch,
		BuiltAt:         start.UTC().Truncate(time.Second),
	}
	if d := f.distribution; d != nil {
		if err := f.libraries.check(d.base); err != nil {
			return &images.TarballError{Source: d.Tarball.Source, Err: err}
		}
		m.Tarball = d.facts()
	}
	if m.Outputs, err = describe(dir); err != nil {
		return fmt.Errorf("build image %s: %w", r.Name, err)
	}
	if out.options != nil {
		if err := os.WriteFile(filepath.Join(dir, images.OptionsFile), out.options, 0o644); err != nil {
			return err
		}
	}
	m.BuildSeconds = time.Since(start).Seconds()
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, images.ManifestFile), data, 0o644)
}

// makeBoot writes kernel and initramfs of a root image.
func makeBoot(ctx context.Context, r images.Recipe, out *rootOutput, dir string, progress func(string)) error {
	if out.kernel == nil {
		return fmt.Errorf("no package put a kernel into /boot")
	}
	progress("writing kernel and initramfs")
	if err := os.WriteFile(filepath.Join(dir, images.KernelFile), uncompressKernel(out.kernel), 0o644); err != nil {
		return err
	}
	source := squashfs{ctx: ctx, file: filepath.Join(dir, images.RootFile)}
	file, err := os.Create(filepath.Join(dir, images.InitramfsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := writeInitramfs(file, *r.Boot, source.read, "/usr/lib/modules/"+out.kernelVersion); err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	return file.Close()
}

// describe returns size and digest of every file in dir.
func describe(dir string) (map[string]images.Output, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	outputs := map[string]images.Output{}
	for _, entry := range entries {
		file, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		hash := sha256.New()
		n, err := io.Copy(hash, file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", entry.Name(), err)
		}
		outputs[entry.Name()] = images.Output{SHA256: hex.EncodeToString(hash.Sum(nil)), SizeBytes: n}
	}
	return outputs, nil
}
