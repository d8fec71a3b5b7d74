package storage

import (
	"context"
	"regexp"
	"strings"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "btrfs", Type: "btrfs", Module: "btrfs",
		Tools:    []string{"mkfs.btrfs", "btrfs"},
		Packages: []string{"btrfs-progs"},
		Options: []Option{
			{"nodesize", "size of a metadata block", powerOfTwo(4096, 65536)},
			{"sectorsize", "size of a data block", powerOfTwo(4096, 65536)},
			{"checksum", "checksum of data and metadata", oneOf("crc32c", "xxhash", "sha256", "blake2")},
			{"features", "features to set or, with ^, to clear", matching(`\^?[a-z][a-z0-9-]*(,\^?[a-z][a-z0-9-]*)*`, "a list of features such as ^no-holes")},
			{"discard", "0 does not discard the device first", bit},
		},
		LabelMax: 255,
		MinBytes: 114294784,
		CannotDo: []string{"it cannot overwrite in place: each write is a copy, so database files fragment, unless chattr +C"},
		Spans:    "btrfs",
		Check:    noFaults,
		Mkfs:     func(s guest.Storage, t Target) [][]string { return [][]string{mkfsBtrfs(s, t)} },
		Mount:    mountBtrfs, Unmount: unmountDir,
		ReadBack:  readBackBtrfs,
		Effective: effectiveBtrfs,
		Busy:      neverBusy, DropCaches: noCaches,
	})
	registerLayout(Layout{
		Name: "btrfs",
		Options: []Option{
			{"level", "profile of data, and of metadata unless given", oneOf("single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10")},
			{"metadata", "profile of metadata", oneOf("single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10")},
		},
		MinOf: 1, MaxOf: 24,
		Check:    checkBtrfsLayout,
		Build:    buildBtrfsLayout,
		Teardown: nothingToUndo,
		Describe: describe("btrfs"),
		ReadBack: readBackBtrfsLayout,
		Busy:     layoutNeverBusy,
	})
}

func mkfsBtrfs(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.btrfs"}
	if level := t.Node.Options["level"]; t.Node.Kind == "btrfs" && level != "" {
		argv = append(argv, "--data", level, "--metadata", orDefault(t.Node.Options["metadata"], level))
	}
	for _, name := range []string{"nodesize", "sectorsize", "checksum", "features"} {
		if v := s.Options[name]; v != "" {
			argv = append(argv, "--"+name, v)
		}
	}
	if s.Options["discard"] == "0" {
		argv = append(argv, "--nodiscard")
	}
	if s.Label != "" {
		argv = append(argv, "--label", s.Label)
	}
	return append(argv, t.Devices...)
}

// mountBtrfs names every device, as no udev may be there to have scanned them.
func mountBtrfs(s guest.Storage, t Target, p Place) [][]string {
	var devices []string
	if len(t.Devices) > 1 {
		for _, d := range t.Devices {
			devices = append(devices, "device="+d)
		}
	}
	return mountDevice("btrfs", devices...)(s, t, p)
}

var btrfsLine = regexp.MustCompile(`^([a-z_.]+)\s+(.+)$`)

func readBackBtrfs(ctx context.Context, ex Exec, _ guest.Storage, t Target, p Place) (map[string]string, error) {
	out, err := ex.Run(ctx, "btrfs", "inspect-internal", "dump-super", t.Device())
	if err != nil {
		return nil, err
	}
	facts := parseBtrfsSuper(string(out))
	profiles, err := btrfsProfiles(ctx, ex, p.Dir)
	for k, v := range profiles {
		facts["profile."+k] = v
	}
	return facts, err
}

// parseBtrfsSuper reads "name  value" lines; the flags below a line are joined to it.
func parseBtrfsSuper(text string) map[string]string {
	facts := map[string]string{}
	last := ""
	for line := range strings.Lines(text) {
		if m := btrfsLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			last = m[1]
			facts[last] = strings.TrimSpace(m[2])
		} else if flag := strings.Trim(line, " \t\n()|"); last != "" && strings.HasPrefix(line, "\t") && flag != "" {
			facts[last] += " " + flag
		}
	}
	return facts
}

var btrfsProfile = regexp.MustCompile(`(?m)^(Data|System|Metadata), ([A-Za-z0-9]+):`)

// btrfsProfiles asks the mounted filesystem for the profile of each kind of block group.
func btrfsProfiles(ctx context.Context, ex Exec, dir string) (map[string]string, error) {
	out, err := ex.Run(ctx, "btrfs", "filesystem", "df", dir)
	if err != nil {
		return nil, err
	}
	profiles := map[string]string{}
	for _, m := range btrfsProfile.FindAllStringSubmatch(string(out), -1) {
		profiles[strings.ToLower(m[1])] = strings.ToLower(m[2])
	}
	return profiles, nil
}

func effectiveBtrfs(facts map[string]string) map[string]string {
	e := map[string]string{}
	for option, fact := range map[string]string{"nodesize": "nodesize", "sectorsize": "sectorsize", "label": "label"} {
		if v, ok := facts[fact]; ok {
			e[option] = v
		}
	}
	if _, name, ok := strings.Cut(facts["csum_type"], "("); ok {
		e["checksum"] = strings.TrimSuffix(strings.TrimSuffix(name, ")"), "64") // asked xxhash, answered xxhash64
	}
	return e
}

// btrfsDevices is the fewest devices of a profile.
var btrfsDevices = map[string]int{"": 1, "single": 1, "dup": 1, "raid0": 1, "raid1": 2, "raid1c3": 3, "raid1c4": 4, "raid10": 2}

func checkBtrfsLayout(node guest.Layout, of []Target) []error {
	var errs []error
	for _, option := range []string{"level", "metadata"} {
		if n := btrfsDevices[node.Options[option]]; len(of) < n {
			errs = append(errs, tooFew("btrfs", option+" "+node.Options[option], n, len(of)))
		}
	}
	return errs
}

func buildBtrfsLayout(node guest.Layout, of []Target, _ int) (Target, []Step) {
	logical, sizes := gather(of)
	copies := int64(max(1, map[string]int{"dup": 2, "raid1": 2, "raid1c3": 3, "raid1c4": 4, "raid10": 2}[node.Options["level"]]))
	return Target{Devices: firstDevices(of), SizeBytes: sum(sizes) / copies, LogicalBlockBytes: logical}, nil
}

// readBackBtrfsLayout asks the mounted filesystem, which alone knows its profiles.
func readBackBtrfsLayout(ctx context.Context, ex Exec, _ guest.Layout, _ Target) (map[string]string, error) {
	profiles, err := btrfsProfiles(ctx, ex, MountPoint)
	if err != nil {
		return nil, err
	}
	return map[string]string{"level": profiles["data"], "metadata": profiles["metadata"]}, nil
}
