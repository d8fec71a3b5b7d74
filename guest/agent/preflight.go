package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"platter/guest"
	"platter/guest/storage"
)

// toolsOf the agent itself, whatever the storage is.
var baseTools = []string{"wipefs", "blockdev", "mount", "umount"}

// preflight refuses a job that is wrong, and skips one this machine has no tool or module for, before
// anything is written.
func (t *trial) preflight(ctx context.Context) error {
	if errs := storage.Check(t.job.Storage, t.job.Disks); len(errs) > 0 {
		return errors.Join(errs...)
	}
	if p := t.job.Precondition; !slices.Contains(preconditions, p) {
		return fmt.Errorf("unknown precondition %q; there are none, fill, steady", p)
	}
	if err := t.checkProbes(); err != nil {
		return err
	}
	fs, err := storage.FilesystemByName(t.job.Storage.Filesystem)
	if err != nil {
		return err
	}
	t.fs = fs
	for _, tool := range baseTools {
		if _, err := lookPath(tool); err != nil {
			return &SkipError{fmt.Sprintf("no program %s in this image; it comes with util-linux and mount", tool)}
		}
	}
	tools, modules, packages := []string{}, []string{}, slices.Clone(fs.Packages)
	for _, kind := range kinds(t.job.Storage.Layout) {
		l, err := storage.LayoutByName(kind)
		if err != nil {
			return err
		}
		tools, modules, packages = append(tools, l.Tools...), append(modules, l.Modules...), append(packages, l.Packages...)
	}
	if slices.ContainsFunc(t.job.Disks, func(d guest.Disk) bool { return d.ReadDelaySeconds > 0 || d.WriteDelaySeconds > 0 }) {
		tools, modules = append(tools, "dmsetup"), append(modules, "dm-delay")
	}
	for _, tool := range append(tools, fs.Tools...) {
		if _, err := lookPath(tool); err != nil {
			return &SkipError{fmt.Sprintf("no program %s in this image; it comes with %s", tool, strings.Join(packages, ", "))}
		}
	}
	if err := t.loadFilesystem(ctx, fs); err != nil {
		return err
	}
	for _, m := range modules {
		if err := t.loadModule(ctx, m); err != nil {
			return &SkipError{err.Error()}
		}
	}
	return errors.Join(t.decodeSteps(), t.takeUp())
}

// kinds lists the layouts of a tree, "" meaning disk.
func kinds(l guest.Layout) []string {
	kind := l.Kind
	if kind == "" {
		kind = "disk"
	}
	all := []string{kind}
	for _, child := range l.Of {
		all = append(all, kinds(child)...)
	}
	return all
}

// loadFilesystem makes sure that the kernel can mount the type, so that mkfs is not wasted.
func (t *trial) loadFilesystem(ctx context.Context, fs storage.Filesystem) error {
	if t.kernelHas(fs.Type) {
		return nil
	}
	err := t.loadModule(ctx, fs.Module)
	if t.kernelHas(fs.Type) {
		return nil
	}
	reason := "the module was loaded, but does not offer the type"
	if err != nil {
		reason = err.Error()
	}
	return &SkipError{fmt.Sprintf("the kernel cannot mount %s: %s", fs.Type, reason)}
}

func (t *trial) kernelHas(fstype string) bool {
	for line := range strings.Lines(t.sys.text("/proc/filesystems")) {
		if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == fstype {
			return true
		}
	}
	return false
}

// loadModule loads a module unless it is there or built in.
func (t *trial) loadModule(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if _, err := os.Stat(t.sys.path("/sys/module/" + strings.ReplaceAll(name, "-", "_"))); err == nil {
		return nil
	}
	if _, err := t.ex.Run(ctx, "modprobe", name); err != nil {
		return fmt.Errorf("no kernel module %s: %w", name, err)
	}
	return nil
}
