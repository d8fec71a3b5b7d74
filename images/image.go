package images

import (
	"fmt"
	"os"
	"path/filepath"
)

// The names of the files of an image directory.
const (
	RootFile      = "root.squashfs" // read-only filesystem, all kinds
	KernelFile    = "kernel"        // root images only
	InitramfsFile = "initramfs"     // root images only
	ManifestFile  = "manifest.json"
	// OptionsFile is what the server of a server image printed for --verbose --help while the image was built. It
	// describes the image and is no part of it: machines never see it, and digests leave it out.
	OptionsFile = "options.txt"
)

// Image is a built image on this host. Its files never change.
type Image struct {
	Name string
	// Digest is the recipe digest, the key of the cache.
	Digest string
	// Dir is the absolute path of the directory that holds the files.
	Dir      string
	Manifest Manifest
}

// Root returns the path of the read-only root filesystem, a squashfs.
func (i Image) Root() string { return filepath.Join(i.Dir, RootFile) }

// Kernel returns the path of the kernel of a root image, and "" for others.
func (i Image) Kernel() string { return i.output(KernelFile) }

// Initramfs returns the path of the initramfs of a root image, "" for others.
func (i Image) Initramfs() string { return i.output(InitramfsFile) }

// Options returns the path of the server's own list of options, and "" where none was kept.
func (i Image) Options() string {
	path := filepath.Join(i.Dir, OptionsFile)
	if _, err := os.Stat(path); i.Dir == "" || err != nil {
		return ""
	}
	return path
}

func (i Image) output(name string) string {
	if _, ok := i.Manifest.Outputs[name]; !ok {
		return ""
	}
	return filepath.Join(i.Dir, name)
}

// CheckStack tells whether addon can be stacked over root: kernel modules of
// another kernel would not load.
func CheckStack(root, addon Image) error {
	if root.Manifest.Recipe.Kind != KindRoot || addon.Manifest.Recipe.Kind != KindAddon {
		return fmt.Errorf("stack %s over %s: want an add-on over a root image", addon.Name, root.Name)
	}
	if v := addon.Manifest.KernelVersion; v != "" && v != root.Manifest.KernelVersion {
		return fmt.Errorf("stack %s over %s: built for kernel %s, the root image has %s; build both again",
			addon.Name, root.Name, v, root.Manifest.KernelVersion)
	}
	return nil
}
