package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"platter/guest"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// InUse returns why a disk must not be written: it, a partition of it or something built on it carries
// the running system, is mounted, is swap, or is held by another device. Nil means that none was found.
func (s System) InUse(d BlockDevice) error {
	nodes := s.family(d.Name)
	mounts, err := s.mounts()
	if err != nil {
		return err
	}
	system := systemDevices(mounts)
	for _, m := range mounts {
		id := fmt.Sprintf("%d:%d", m.Major, m.Minor)
		if !slices.Contains(nodes.ids, id) && !slices.Contains(nodes.paths, m.Source) {
			continue
		}
		if slices.Contains(system, id) {
			return fmt.Errorf("%s carries the running system (%s on %s)", d.Name, m.FSType, m.Mountpoint)
		}
		return fmt.Errorf("%s is mounted on %s as %s", d.Name, m.Mountpoint, m.FSType)
	}
	for line := range strings.Lines(s.text("/proc/swaps")) {
		if f := strings.Fields(line); len(f) > 0 && slices.Contains(nodes.paths, f[0]) {
			return fmt.Errorf("%s is swap", f[0])
		}
	}
	if len(d.Holders) > 0 {
		return fmt.Errorf("%s is held by %s", d.Name, strings.Join(d.Holders, ", "))
	}
	if d.ReadOnly {
		return fmt.Errorf("%s is read-only", d.Name)
	}
	return nil
}

// family is a disk, its partitions, and every device built on them.
type family struct{ ids, paths []string }

func (s System) family(name string) family {
	var f family
	var visit func(dir, name string, depth int)
	visit = func(dir, name string, depth int) {
		if depth > 8 {
			return
		}
		f.ids = append(f.ids, s.text(dir+"/dev"))
		f.paths = append(f.paths, "/dev/"+name)
		if dm := s.text(dir + "/dm/name"); dm != "" {
			f.paths = append(f.paths, "/dev/mapper/"+dm)
		}
		for _, h := range s.names(dir + "/holders") {
			visit("/sys/block/"+h, h, depth+1)
		}
		for _, child := range s.names(dir) {
			if s.text(dir+"/"+child+"/partition") != "" {
				visit(dir+"/"+child, child, depth+1)
			}
		}
	}
	visit("/sys/block/"+name, name, 0)
	return f
}

func (s System) mounts() ([]*mountinfo.Info, error) {
	f, err := os.Open(s.path("/proc/self/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	defer f.Close()
	mounts, err := mountinfo.GetMountsFromReader(f, nil)
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	return mounts, nil
}

// systemDevices are the major:minor behind / and /boot, through the lower directories of an overlay.
func systemDevices(mounts []*mountinfo.Info) []string {
	var ids []string
	for _, m := range mounts {
		switch {
		case m.Mountpoint == "/" && m.FSType == "overlay":
			for _, o := range strings.Split(m.VFSOptions, ",") {
				lower, ok := strings.CutPrefix(o, "lowerdir=")
				if !ok {
					continue
				}
				for _, dir := range strings.Split(lower, ":") {
					if below := holding(dir, mounts); below != nil {
						ids = append(ids, fmt.Sprintf("%d:%d", below.Major, below.Minor))
					}
				}
			}
		case m.Mountpoint == "/" || m.Mountpoint == "/boot" || strings.HasPrefix(m.Mountpoint, "/boot/") || m.Mountpoint == "/usr":
			ids = append(ids, fmt.Sprintf("%d:%d", m.Major, m.Minor))
		}
	}
	return ids
}

// holding is the mount a directory lies on.
func holding(dir string, mounts []*mountinfo.Info) *mountinfo.Info {
	var best *mountinfo.Info
	for _, m := range mounts {
		inside := dir == m.Mountpoint || strings.HasPrefix(dir, strings.TrimSuffix(m.Mountpoint, "/")+"/")
		if inside && m.Mountpoint != "/" && (best == nil || len(m.Mountpoint) >= len(best.Mountpoint)) {
			best = m
		}
	}
	return best
}

// claim opens a device exclusively and closes it again. The kernel refuses that while any mount, in any
// namespace, or any other device holds it, which no list in /proc shows completely.
func claim(node string) error {
	fd, err := unix.Open(node, unix.O_RDWR|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%s is in use: the kernel refuses exclusive access", node)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", node, err)
	}
	return unix.Close(fd)
}

// signatures lists what blkid's library recognises on a device, one line each.
func signatures(ctx context.Context, ex *Exec, node string) ([]string, error) {
	out, err := ex.Run(ctx, "wipefs", "--no-act", "--noheadings", "--output", "TYPE,LABEL,OFFSET", node)
	if err != nil {
		return nil, fmt.Errorf("look for signatures on %s: %w", node, err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			found = append(found, printable(line))
		}
	}
	return found, nil
}

// wipe destroys the signatures of a disk and, where it had partitions, makes the kernel forget them.
func wipe(ctx context.Context, ex *Exec, d BlockDevice) error {
	if _, err := ex.Run(ctx, "wipefs", "--all", d.Node); err != nil {
		return err
	}
	if len(d.Partitions) == 0 {
		return nil
	}
	_, err := ex.Run(ctx, "blockdev", "--rereadpt", d.Node)
	return err
}

// Guard proves right before a write that every disk is the one the job means and that nothing uses it,
// and refuses signatures that the job did not declare ours to destroy.
func (s System) Guard(ctx context.Context, ex *Exec, want []guest.Disk, found map[string]BlockDevice) error {
	for _, w := range want {
		d := s.BlockDevice(found[w.Name].Name)
		if err := sameDisk(w, d); err != nil {
			return &LostError{err}
		}
		if err := s.InUse(d); err != nil {
			return &LostError{fmt.Errorf("disk %s: refused: %w", w.Name, err)}
		}
		if err := claim(s.path(d.Node)); err != nil {
			return &LostError{fmt.Errorf("disk %s: refused: %w", w.Name, err)}
		}
		marks, err := signatures(ctx, ex, d.Node)
		if err != nil {
			return err
		}
		if len(marks) > 0 && !w.Wipe {
			return &LostError{fmt.Errorf("disk %s: refused: %s carries a signature that is not ours (%s); set wipe to destroy it",
				w.Name, d.Name, strings.Join(marks, "; "))}
		}
		if len(marks) > 0 {
			if err := wipe(ctx, ex, d); err != nil {
				return fmt.Errorf("disk %s: %w", w.Name, err)
			}
		}
	}
	return nil
}
