package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"platter/images"
	"platter/lab"
	"platter/results"
)

// stagedImage is an image whose files lie where the hypervisor can read them.
type stagedImage struct {
	image     images.Image
	root      string // paths as the hypervisor's host names them
	kernel    string
	initramfs string
}

// stageImages builds what is missing and puts every image of the plan where the hypervisor can read it. A study whose
// images cannot be had ends here, before any machine is made.
func (r *run) stageImages(ctx context.Context) error {
	for _, name := range r.Plan.Images {
		say := func(line string) {
			r.emit(lab.RunEvent{Kind: lab.ImagePhase, Phase: name, Message: line})
		}
		image, err := r.Images.Ensure(ctx, name, say)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return errors.Join(cause, err)
			}
			return &lab.InfraError{What: "build the image " + name, Err: err}
		}
		staged := stagedImage{image: image}
		if staged.root, err = r.stageFile(ctx, image, image.Root()); err != nil {
			return err
		}
		if image.Kernel() != "" {
			if staged.kernel, err = r.stageFile(ctx, image, image.Kernel()); err != nil {
				return err
			}
			if staged.initramfs, err = r.stageFile(ctx, image, image.Initramfs()); err != nil {
				return err
			}
		}
		r.staged[name] = staged
		document := map[string]any{"name": name, "digest": image.Digest, "manifest": image.Manifest}
		if err := r.Store.WriteEnv(r.manifestName(image), document); err != nil {
			return &lab.InfraError{What: "keep the manifest of " + name, Err: err}
		}
	}
	return r.checkStacks()
}

// checkStacks refuses add-on images whose kernel modules the root image's kernel would not load.
func (r *run) checkStacks() error {
	for _, addon := range r.staged {
		for _, root := range r.staged {
			if root.image.Manifest.Recipe.Kind != images.KindRoot || addon.image.Manifest.Recipe.Kind != images.KindAddon {
				continue
			}
			if err := images.CheckStack(root.image, addon.image); err != nil {
				return &lab.InfraError{What: "stack images", Err: err}
			}
		}
	}
	return nil
}

// manifestName is the name under which the run folder keeps an image's manifest. A resumed run must not replace what
// earlier trials used, which may have been another build.
func (r *run) manifestName(image images.Image) string {
	if len(r.earlier) == 0 {
		return "image-" + image.Name
	}
	return fmt.Sprintf("image-%s-%.12s", image.Name, strings.TrimPrefix(image.Manifest.Digest(), "sha256:"))
}

func (r *run) stageFile(ctx context.Context, image images.Image, path string) (string, error) {
	file := filepath.Base(path)
	output, ok := image.Manifest.Outputs[file]
	if !ok {
		return "", &lab.InfraError{What: "stage the image " + image.Name, Err: fmt.Errorf("its manifest does not list %s; run `platter images verify`", file)}
	}
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	staged, err := r.Host.Stage(ctx, image.Name+"-"+file, strings.TrimPrefix(output.SHA256, "sha256:"), open)
	if err != nil {
		return "", &lab.InfraError{What: "stage the image " + image.Name, Err: err}
	}
	return staged, nil
}

// imageRefs names the exact images of a trial for its result.
func (r *run) imageRefs(t lab.Trial) []results.ImageRef {
	var refs []results.ImageRef
	for _, name := range append(append([]string{t.Root}, t.Addons...), t.Server) {
		if staged, ok := r.staged[name]; ok {
			refs = append(refs, results.ImageRef{Name: name, Digest: staged.image.Digest, ManifestDigest: staged.image.Manifest.Digest()})
		}
	}
	return refs
}
