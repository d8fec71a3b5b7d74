package build

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"platter/images"
)

// rootOutput is what the stream of a new root told besides its files.
type rootOutput struct {
	packages      []images.Package
	kernel        []byte // nil when there is none
	kernelVersion string
	options       []byte // the server's, nil when unknown
}

// steps are the messages of mmdebstrap worth repeating.
var steps = []struct{ line, say string }{
	{"I: running apt-get update", "reading package lists"},
	{"I: downloading packages", "downloading packages"},
	{"I: extracting archives", "unpacking the essential packages"},
	{"I: installing essential packages", "installing the essential packages"},
	{"I: installing remaining packages", "installing the image's packages"},
	{"I: cleaning package lists", "cleaning up"},
	{"I: creating tarball", "writing the root filesystem"},
}

func mode() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "unshare"
}

// makeRoot runs mmdebstrap | filter | mksquashfs.
func makeRoot(ctx context.Context, r images.Recipe, o images.Options, f *filter, keyring, dir, scratch string, progress func(string)) (*rootOutput, error) {
	// When one end of the pipe fails the other must not wait for it for ever.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	installing := &tail{each: func(line string) {
		for _, step := range steps {
			if strings.HasPrefix(line, step.line) {
				progress(step.say)
			}
		}
	}}
	install := command(ctx, mmdebstrap(mode(), r, o, keyring))
	install.Env = environment(scratch)
	install.Stderr = installing
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	isolate(install)
	source, err := install.StdoutPipe()
	if err != nil {
		return nil, err
	}
	squashing := &tail{}
	pack := command(ctx, squash(filepath.Join(dir, images.RootFile)))
	pack.Dir = dir
	becomeRoot(pack)
	pack.Env = environment(scratch)
	pack.Stderr = squashing
	sink, err := pack.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := install.Start(); err != nil {
		return nil, err
	}
	if err := pack.Start(); err != nil {
		cancel(err)
		return nil, errors.Join(err, wait(ctx, install, installing))
	}

	copyErr := f.copy(sink, source)
	if copyErr == nil {
		// Read on to the end: mmdebstrap pads its archive.
		_, copyErr = io.Copy(io.Discard, source)
	}
	sinkErr := sink.Close()
	// With its input closed mksquashfs ends by itself; mmdebstrap may not.
	packErr := wait(ctx, pack, squashing)
	err = errors.Join(packErr, copyErr)
	if err != nil {
		cancel(err)
	}
	// An install that failed by itself explains the other errors.
	if installErr := wait(ctx, install, installing); installErr != nil {
		return nil, installErr
	}
	if err := errors.Join(err, sinkErr); err != nil {
		return nil, err
	}
	return f.output()
}

// output evaluates the captured files.
func (f *filter) output() (*rootOutput, error) {
	out := &rootOutput{options: f.captured[optionsFile]}
	for path, content := range f.captured {
		if version, ok := strings.CutPrefix(path, "/boot/vmlinuz-"); ok {
			if out.kernel != nil {
				return nil, fmt.Errorf("two kernels in /boot: %s and %s", out.kernelVersion, version)
			}
			out.kernel, out.kernelVersion = content, version
		}
	}
	var err error
	out.packages, err = parsePackages(string(f.captured["/var/lib/dpkg/status"]), string(f.captured[packagesFile]))
	return out, err
}

// isCaptured tells which files of the stream output needs.
func isCaptured(header *tar.Header, path string) bool {
	if header.Typeflag != tar.TypeReg {
		return false
	}
	return path == "/var/lib/dpkg/status" || path == packagesFile || path == optionsFile || strings.HasPrefix(path, "/boot/vmlinuz-")
}
