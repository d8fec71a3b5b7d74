package agent

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"platter/guest"
	"platter/guest/storage"
	"platter/results"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// prove shows that the mount point is a mount of the asked type from the asked device, and sets
// MountOptions and DataOnDevice. It is repeated after the workload.
func (t *trial) prove() error {
	no := false
	t.facts.DataOnDevice = &no
	m, err := t.mountAt(t.place.Dir)
	if err != nil {
		return &LostError{err}
	}
	if m.FSType != t.fs.Type {
		return &LostError{fmt.Errorf("%s is mounted as %s, not %s", m.Mountpoint, m.FSType, t.fs.Type)}
	}
	if err := t.proveSource(m); err != nil {
		return &LostError{err}
	}
	var st, data unix.Stat_t
	if err := unix.Stat(t.place.Dir, &st); err != nil {
		return fmt.Errorf("stat the mount point: %w", err)
	}
	dir := filepath.Join(t.place.Dir, "mysql")
	if err := unix.Stat(dir, &data); err == nil && data.Dev != st.Dev {
		return &LostError{fmt.Errorf("the data directory %s lies on another device than its mount point", dir)}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("stat the data directory: %w", err)
	}
	yes := true
	t.facts.DataOnDevice = &yes
	t.facts.MountOptions = strings.Join(mountedOptions(m), ",")
	return nil
}

// proveSource compares device numbers where the filesystem has one device; a filesystem that spans
// devices (btrfs, zfs) has an anonymous number, so its source is compared by name.
func (t *trial) proveSource(m *mountinfo.Info) error {
	devices := t.assembly.Target.Devices
	var dev unix.Stat_t
	if err := unix.Stat(t.assembly.Target.Device(), &dev); err == nil && dev.Rdev != 0 {
		if uint32(m.Major) == unix.Major(dev.Rdev) && uint32(m.Minor) == unix.Minor(dev.Rdev) {
			return nil
		}
	}
	if source, err := filepath.EvalSymlinks(m.Source); err == nil {
		for _, d := range devices {
			if real, err := filepath.EvalSymlinks(d); err == nil && real == source {
				return nil
			}
		}
	}
	if slices.Contains(devices, m.Source) || t.fs.Spans == "zfs" && m.Source == storage.ZFSDataset {
		return nil
	}
	return fmt.Errorf("%s is mounted from %s (%d:%d), not from %s", m.Mountpoint, m.Source, m.Major, m.Minor, strings.Join(devices, ", "))
}

// mountAt returns the topmost mount on exactly this directory.
func (t *trial) mountAt(dir string) (*mountinfo.Info, error) {
	mounts, err := t.sys.mounts()
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(mounts) {
		if m.Mountpoint == dir {
			return m, nil
		}
	}
	return nil, fmt.Errorf("nothing is mounted on %s", dir)
}

// mountedOptions are the options in force: those of the mount, then those of the superblock.
func mountedOptions(m *mountinfo.Info) []string {
	options := strings.Split(m.Options, ",")
	for _, o := range strings.Split(m.VFSOptions, ",") {
		if o != "" && !slices.Contains(options, o) {
			options = append(options, o)
		}
	}
	return options
}

// mountSettings says for each mount option asked whether mountinfo shows it. An option that is a default
// may not be shown, so an absent one is nil, never "no".
func (t *trial) mountSettings() []results.Setting {
	shown := strings.Split(t.facts.MountOptions, ",")
	var settings []results.Setting
	for _, o := range t.job.Storage.Mount {
		name, value, _ := strings.Cut(o, "=")
		s := results.Setting{Subject: "mount", Name: name, Asked: &value}
		for _, have := range shown {
			haveName, haveValue, _ := strings.Cut(have, "=")
			if haveName == name {
				s.Effective = &haveValue
			}
		}
		settings = append(settings, s)
	}
	return settings
}

// askedOptions are the mkfs options and the label.
func askedOptions(s guest.Storage) map[string]string {
	asked := map[string]string{}
	for k, v := range s.Options {
		asked[k] = v
	}
	if s.Label != "" {
		asked["label"] = s.Label
	}
	return asked
}

// ofOneMaking are facts that tell one making of a device from the next. They stay facts; as settings they would differ
// between any two trials, however alike.
var ofOneMaking = []string{"Creation Time", "Update Time", "Events", "UUID", "Partition unique GUID"}

// lasting leaves out what no two makings of the same layout share.
func lasting(made map[string]string) map[string]string {
	out := maps.Clone(made)
	for _, name := range ofOneMaking {
		delete(out, name)
	}
	return out
}

// compare returns a setting for each option asked, and for each other that could be read back.
func compare(subject string, asked, effective map[string]string) []results.Setting {
	names := map[string]bool{}
	for k := range asked {
		names[k] = true
	}
	for k := range effective {
		names[k] = true
	}
	var settings []results.Setting
	for name := range names {
		s := results.Setting{Subject: subject, Name: name}
		if v, ok := asked[name]; ok {
			s.Asked = &v
		}
		if v, ok := effective[name]; ok {
			s.Effective = &v
		}
		settings = append(settings, s)
	}
	slices.SortFunc(settings, func(a, b results.Setting) int { return strings.Compare(a.Name, b.Name) })
	return settings
}

// differences flags every setting that was read back as something else than asked.
func differences(settings []results.Setting) []results.Flag {
	var flags []results.Flag
	for _, s := range settings {
		if s.Asked != nil && s.Effective != nil && !matches(s) {
			flags = append(flags, results.Flag{Name: "asked_not_effective",
				Detail: fmt.Sprintf("%s %s: asked %s, got %s", s.Subject, s.Name, *s.Asked, *s.Effective)})
		}
	}
	return flags
}

// matches compares a setting; asked features are a list of which each must be in force, or, with ^, not.
func matches(s results.Setting) bool {
	if s.Name != "features" {
		return storage.Same(*s.Asked, *s.Effective)
	}
	have := strings.Fields(strings.ReplaceAll(*s.Effective, ",", " "))
	for _, f := range strings.Split(*s.Asked, ",") {
		name, cleared := strings.CutPrefix(f, "^")
		if slices.Contains(have, name) == cleared {
			return false
		}
	}
	return true
}
