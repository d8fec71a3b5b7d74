package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"platter/guest"
	"platter/guest/sampler"
	"platter/guest/storage"
	"platter/results"

	"golang.org/x/sys/unix"
)

// Limits of the storage phases. mkfs may write a lot on a slow disk.
const (
	findLimit  = 30 * time.Second
	nodeLimit  = 30 * time.Second
	mkfsLimit  = 60 * time.Minute
	mountLimit = 5 * time.Minute
)

func (t *trial) findDisks(ctx context.Context) error {
	found, err := t.sys.FindDisks(ctx, t.job.Disks, findLimit, t.driverLoader())
	if err != nil {
		return err
	}
	t.disks = found
	var facts []results.DiskFacts
	kernel := map[string]string{}
	for _, w := range t.job.Disks {
		d := found[w.Name]
		kernel[d.Name] = w.Name
		facts = append(facts, results.DiskFacts{
			Name: w.Name, Serial: d.Serial, SizeBytes: d.SizeBytes, Bus: d.Bus, KernelName: d.Name, Model: d.Model,
			LogicalBlockBytes: &d.LogicalBlockBytes, PhysicalBlockBytes: &d.PhysicalBlockBytes, Rotational: &d.Rotational,
		})
	}
	if t.source, err = sampler.NewSource(t.sys.Root, kernel); err != nil {
		return err
	}
	return t.measure(guest.Measurement{Disks: facts})
}

// measuredDisks fills in what the job leaves open from what is there, so that the guest's own check of
// block sizes sees the real ones.
func (t *trial) measuredDisks() []guest.Disk {
	var disks []guest.Disk
	for _, w := range t.job.Disks {
		w.LogicalBlockBytes = t.disks[w.Name].LogicalBlockBytes
		disks = append(disks, w)
	}
	return disks
}

func (t *trial) guard(ctx context.Context) error {
	if errs := storage.Check(t.job.Storage, t.measuredDisks()); len(errs) > 0 {
		return errors.Join(errs...)
	}
	return t.sys.Guard(ctx, t.ex, t.job.Disks, t.disks)
}

// layout builds the device the filesystem lies on, waiting for each node.
func (t *trial) layout(ctx context.Context) error {
	a, errs := storage.Assemble(t.job.Storage.Layout, t.measuredDisks(), func(disk string) string { return t.disks[disk].Node })
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	t.assembly = a
	t.facts = results.StorageFacts{Filesystem: t.fs.Name, Layout: a.Text, Facts: map[string]string{}, CannotDo: t.fs.CannotDo}
	t.onExit("layout teardown", func(ctx context.Context) error { return t.runEach(ctx, nodeLimit, a.Teardown()) })
	return t.recorded(func() error {
		for _, part := range a.Parts {
			for _, step := range part.Steps {
				if err := t.build(ctx, step); err != nil {
					return fmt.Errorf("layout %s: %w", part.Layout.Name, err)
				}
			}
		}
		return nil
	})
}

// build runs one step, again and again for a while where that is allowed, and waits for its nodes.
func (t *trial) build(ctx context.Context, step storage.Step) error {
	deadline := time.Now().Add(nodeLimit)
	for {
		err := t.runAll(ctx, mkfsLimit, [][]string{step.Argv})
		if err == nil {
			return t.awaitNodes(ctx, step.Await)
		}
		if !step.Retry || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// recorded keeps the command lines fn runs for the result.
func (t *trial) recorded(fn func() error) error {
	commands, err := t.ex.Record(fn)
	t.facts.Commands = append(t.facts.Commands, commands...)
	if err != nil {
		return errors.Join(err, t.measureStorage()) // what was run is part of what failed
	}
	return nil
}

func (t *trial) runAll(ctx context.Context, limit time.Duration, commands [][]string) error {
	for _, argv := range commands {
		bounded, cancel := context.WithTimeout(ctx, limit)
		_, err := t.ex.Run(bounded, argv...)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// runEach runs every command even when one before it fails, as clean-up must: what is below a part that was never made
// has to be undone all the same.
func (t *trial) runEach(ctx context.Context, limit time.Duration, commands [][]string) error {
	var errs error
	for _, argv := range commands {
		errs = errors.Join(errs, t.runAll(ctx, limit, [][]string{argv}))
	}
	return errs
}

// awaitNodes waits for device nodes and proves their sizes: a node of another size is a stale one.
func (t *trial) awaitNodes(ctx context.Context, nodes []storage.Node) error {
	for _, n := range nodes {
		deadline := time.Now().Add(nodeLimit)
		for {
			size, err := deviceSize(n.Path)
			if err == nil && (n.SizeBytes == 0 || size == n.SizeBytes) {
				break
			}
			if time.Now().After(deadline) {
				if err == nil {
					err = fmt.Errorf("it has %d bytes, not %d", size, n.SizeBytes)
				}
				return fmt.Errorf("device node %s did not come within %s: %w", n.Path, nodeLimit, err)
			}
			if err := pause(ctx, pollEvery); err != nil {
				return err
			}
		}
	}
	return nil
}

// deviceSize is the size of a block device in bytes.
func deviceSize(node string) (int64, error) {
	f, err := os.Open(node)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Seek(0, 2)
	if err != nil {
		return 0, fmt.Errorf("size of %s: %w", node, err)
	}
	return size, nil
}

// mkfs proves the disks a last time and makes the filesystem.
func (t *trial) mkfs(ctx context.Context) error {
	for _, w := range t.job.Disks {
		if err := sameDisk(w, t.sys.BlockDevice(t.disks[w.Name].Name)); err != nil {
			return &LostError{err}
		}
	}
	begin := time.Now()
	err := t.recorded(func() error { return t.runAll(ctx, mkfsLimit, t.fs.Mkfs(t.job.Storage, t.assembly.Target)) })
	took := time.Since(begin).Seconds()
	if err != nil {
		return fmt.Errorf("make %s on %s: %w", t.fs.Name, t.assembly.Text, err)
	}
	t.facts.MkfsSeconds = &took
	t.facts.Device = t.assembly.Target.Device()
	return t.measureStorage()
}

func (t *trial) measureStorage() error {
	facts := t.facts
	facts.Facts = maps.Clone(t.facts.Facts)
	return t.measure(guest.Measurement{Storage: &facts})
}

func (t *trial) mount(ctx context.Context) error {
	uid, gid := t.serverOwner()
	t.place = storage.Place{Dir: storage.MountPoint, UID: uid, GID: gid}
	if err := os.MkdirAll(t.place.Dir, 0o755); err != nil {
		return fmt.Errorf("make the mount point: %w", err)
	}
	if err := t.attach(ctx); err != nil {
		return err
	}
	t.onExit("umount", func(ctx context.Context) error {
		return t.runAll(ctx, mountLimit, t.fs.Unmount(t.job.Storage, t.assembly.Target, t.place))
	})
	if err := t.prove(); err != nil {
		return err
	}
	return t.measureStorage()
}

// attach mounts the filesystem at its place.
func (t *trial) attach(ctx context.Context) error {
	begin := time.Now()
	err := t.recorded(func() error { return t.runAll(ctx, mountLimit, t.fs.Mount(t.job.Storage, t.assembly.Target, t.place)) })
	if err != nil {
		return fmt.Errorf("mount %s: %w", t.fs.Name, err)
	}
	took := time.Since(begin).Seconds()
	t.facts.MountSeconds = &took
	return nil
}

// readBack reports what was made and how it differs from what was asked.
func (t *trial) readBack(ctx context.Context) error {
	facts, err := t.fs.ReadBack(ctx, t.ex, t.job.Storage, t.assembly.Target, t.place)
	if err != nil {
		return fmt.Errorf("read %s back: %w", t.fs.Name, err)
	}
	maps.Copy(t.facts.Facts, facts)
	settings := compare("filesystem", askedOptions(t.job.Storage), t.fs.Effective(facts))
	for _, part := range t.assembly.Parts {
		made, err := part.Layout.ReadBack(ctx, t.ex, part.Node, part.Target)
		if err != nil {
			return fmt.Errorf("read layout %s back: %w", part.Layout.Name, err)
		}
		for k, v := range made {
			t.facts.Facts[fmt.Sprintf("%s.%d.%s", part.Layout.Name, part.ID, k)] = v
		}
		settings = append(settings, compare("layout", part.Node.Options, lasting(made))...)
	}
	settings = append(settings, t.mountSettings()...)
	var st unix.Statfs_t
	if err := unix.Statfs(t.place.Dir, &st); err == nil {
		size := int64(st.Blocks) * int64(st.Frsize)
		t.facts.SizeBytes = &size
	}
	if err := t.measureStorage(); err != nil {
		return err
	}
	return t.measure(guest.Measurement{Settings: settings, Flags: differences(settings)})
}
