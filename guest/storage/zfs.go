package storage

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"platter/guest"
)

// Names of the pool and the dataset of the filesystem under test.
const (
	ZFSPool    = "platter"
	ZFSDataset = ZFSPool + "/data"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "zfs", Type: "zfs", Module: "zfs",
		Tools:    []string{"zpool", "zfs", "zdb", "sgdisk", "blockdev", "partx", "wipefs"},
		Packages: []string{"zfsutils-linux", "zfs-dkms", "gdisk", "util-linux"},
		Options:  zfsOptions,
		LabelMax: 0,
		MinBytes: 64 << 20,
		CannotDo: []string{
			"it cannot overwrite in place: each write is a copy of a whole record",
			"it cannot give up its whole cache while it is in use: a thirty-second of the memory stays after drop_caches",
		},
		Spans: "zfs",
		Check: noFaults,
		Mkfs:  mkfsZFS,
		Mount: mountZFS,
		Unmount: func(_ guest.Storage, _ Target, p Place) [][]string {
			return [][]string{{"umount", p.Dir}, {"zpool", "export", ZFSPool}}
		},
		ReadBack:   readBackZFS,
		Effective:  effectiveZFS,
		Busy:       busyZFS,
		DropCaches: dropZFS,
	})
	registerLayout(Layout{
		Name: "zfs",
		Options: []Option{
			{"level", "kind of the virtual device", oneOf("single", "stripe", "mirror", "raidz1", "raidz2", "raidz3")},
			{"ashift", "sector as a power of two", number(9, 16)},
			{"autotrim", "discards freed space", oneOf("on", "off")},
			{"autoexpand", "grows with its devices", oneOf("on", "off")},
		},
		MinOf: 1, MaxOf: 24,
		Check:    checkZFSLayout,
		Build:    buildZFSLayout,
		Teardown: nothingToUndo,
		Describe: describe("zfs"),
		ReadBack: readBackZFSLayout,
		Busy:     layoutNeverBusy,
	})
}

// zfsOptions are properties of the dataset; those of the pool belong to the layout.
var zfsOptions = []Option{
	{"recordsize", "largest block of a file", powerOfTwo(512, 16<<20)},
	{"compression", "compression of blocks", matching(`on|off|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-fast)?(-[0-9]{1,4})?`, "a compression such as off, lz4 or zstd-3")},
	{"atime", "access times", oneOf("on", "off")},
	{"relatime", "access times at most once a day", oneOf("on", "off")},
	{"logbias", "what the intent log is tuned for", oneOf("latency", "throughput")},
	{"sync", "what an fsync waits for", oneOf("standard", "always", "disabled")},
	{"primarycache", "what is cached in memory", oneOf("all", "metadata", "none")},
	{"secondarycache", "what is cached on a cache device", oneOf("all", "metadata", "none")},
	{"checksum", "checksum of blocks", oneOf("on", "off", "fletcher2", "fletcher4", "sha256", "sha512", "skein", "edonr", "blake3")},
	{"copies", "copies of each block", number(1, 3)},
	{"redundant_metadata", "how much metadata has a second copy", oneOf("all", "most", "some", "none")},
	{"xattr", "where extended attributes lie", oneOf("on", "off", "sa", "dir")},
	{"dnodesize", "size of a dnode", oneOf("legacy", "auto", "1k", "2k", "4k", "8k", "16k")},
	{"direct", "what O_DIRECT does (2.3 and later)", oneOf("standard", "always", "disabled")},
}

// mkfsZFS makes a pool without a mounted root, and the dataset with a legacy mount point, so that it is
// mounted by mount like any other filesystem and nowhere else.
func mkfsZFS(s guest.Storage, t Target) [][]string {
	pool := []string{"zpool", "create", "-o", "cachefile=none"}
	if t.Node.Kind == "zfs" {
		for _, name := range []string{"ashift", "autotrim", "autoexpand"} {
			if v := t.Node.Options[name]; v != "" {
				pool = append(pool, "-o", name+"="+v)
			}
		}
	}
	pool = append(pool, "-O", "mountpoint=none", ZFSPool)
	if level := t.Node.Options["level"]; t.Node.Kind == "zfs" && level != "" && level != "single" && level != "stripe" {
		pool = append(pool, level)
	}
	dataset := []string{"zfs", "create", "-o", "mountpoint=legacy"}
	for _, name := range sortedKeys(s.Options) {
		dataset = append(dataset, "-o", name+"="+s.Options[name])
	}
	commands, devices := zfsDevices(t)
	return append(commands, append(pool, devices...), append(dataset, ZFSDataset))
}

func mountZFS(s guest.Storage, _ Target, p Place) [][]string {
	return mountDevice("zfs")(s, Target{Devices: []string{ZFSDataset}}, p)
}

// zfsDevices cuts one partition on each whole disk, as zpool would do itself: but after that zpool waits
// for udev to tell it of the partition, and no udev runs in the guest.
func zfsDevices(t Target) (commands [][]string, devices []string) {
	for i, d := range t.Devices {
		if !wholeDisk(t.Node, i) {
			devices = append(devices, d)
			continue
		}
		part := partitionNode(d, 1)
		commands = append(commands,
			[]string{"sgdisk", "--clear", "--new=1:1M:-8M", "--typecode=1:bf01", d},
			[]string{"blockdev", "--rereadpt", d},
			[]string{"partx", "--update", d},
			[]string{"wipefs", "--all", part})
		devices = append(devices, part)
	}
	return commands, devices
}

// wholeDisk says whether the device with this place in a target is a disk of the study.
func wholeDisk(node guest.Layout, i int) bool {
	if node.Kind == "zfs" && i < len(node.Of) {
		node = node.Of[i]
	}
	return node.Kind == "disk" || node.Kind == "" && node.Disk != ""
}

var zfsLevels = map[string]struct {
	fewest int
	parity int64
}{"": {1, 0}, "single": {1, 0}, "stripe": {2, 0}, "mirror": {2, 0}, "raidz1": {2, 1}, "raidz2": {3, 2}, "raidz3": {4, 3}}

func checkZFSLayout(node guest.Layout, of []Target) []error {
	level := node.Options["level"]
	if need := zfsLevels[level].fewest; len(of) < need {
		return []error{tooFew("zfs", "level "+level, need, len(of))}
	}
	if len(of) > 1 && (level == "" || level == "single") {
		return []error{fmt.Errorf("layout zfs: level single takes exactly 1 device, not %d; say stripe, mirror or raidz1", len(of))}
	}
	var errs []error
	if v := node.Options["ashift"]; v != "" {
		for _, t := range of {
			if shift, _ := strconv.Atoi(v); int64(1)<<shift < t.LogicalBlockBytes {
				errs = append(errs, fmt.Errorf("layout zfs: ashift %s is under the disk's logical block of %d bytes", v, t.LogicalBlockBytes))
				break
			}
		}
	}
	return errs
}

func buildZFSLayout(node guest.Layout, of []Target, _ int) (Target, []Step) {
	logical, sizes := gather(of)
	smallest := sizes[0]
	for _, s := range sizes {
		smallest = min(smallest, s)
	}
	size := sum(sizes)
	switch level := node.Options["level"]; level {
	case "mirror":
		size = smallest
	case "raidz1", "raidz2", "raidz3":
		size = smallest * (int64(len(sizes)) - zfsLevels[level].parity)
	}
	return Target{Devices: firstDevices(of), SizeBytes: size, LogicalBlockBytes: logical}, nil
}

// readBackZFSLayout asks the pool for its properties and for the kind of its devices.
func readBackZFSLayout(ctx context.Context, ex Exec, node guest.Layout, _ Target) (map[string]string, error) {
	out, err := ex.Run(ctx, "zpool", "get", "-H", "-o", "property,value", "ashift,autotrim,autoexpand", ZFSPool)
	if err != nil {
		return nil, err
	}
	facts := tabFacts(string(out), "")
	out, err = ex.Run(ctx, "zpool", "status", "-P", ZFSPool)
	if err != nil {
		return nil, err
	}
	facts["level"] = zpoolLevel(string(out), len(node.Of))
	return facts, nil
}

var zpoolKind = regexp.MustCompile(`(?m)^\s+(mirror|raidz[1-3])-[0-9]+\s`)

// zpoolLevel is the kind of the pool's devices as zpool status shows them; plain devices have none.
func zpoolLevel(status string, devices int) string {
	if m := zpoolKind.FindStringSubmatch(status); m != nil {
		return m[1]
	}
	if devices > 1 {
		return "stripe"
	}
	return "single"
}

// tabFacts reads "name<tab>value" lines.
func tabFacts(text, prefix string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			facts[prefix+name] = strings.TrimSpace(value)
		}
	}
	return facts
}

var zdbShift = regexp.MustCompile(`(?m)^\s*ashift: ([0-9]+)`)
var zdbKind = regexp.MustCompile(`(?m)^\s*type: '([a-z]+)'`)

// readBackZFS names facts pool.<property> and data.<property>, and zdb's view of the pool's devices.
func readBackZFS(ctx context.Context, ex Exec, _ guest.Storage, _ Target, _ Place) (map[string]string, error) {
	facts := map[string]string{}
	for _, q := range []struct {
		prefix string
		argv   []string
	}{
		{"pool.", []string{"zpool", "get", "-H", "-o", "property,value", "all", ZFSPool}},
		{"data.", []string{"zfs", "get", "-H", "-o", "property,value", "all", ZFSDataset}},
	} {
		out, err := ex.Run(ctx, q.argv...)
		if err != nil {
			return nil, err
		}
		maps.Copy(facts, tabFacts(string(out), q.prefix))
	}
	out, err := ex.Run(ctx, "zdb", "-C", "-e", "-p", "/dev", ZFSPool)
	if err != nil {
		out, err = ex.Run(ctx, "zdb", "-C", ZFSPool)
	}
	if err == nil {
		if m := zdbShift.FindSubmatch(out); m != nil {
			facts["zdb.ashift"] = string(m[1])
		}
		var kinds []string
		for _, m := range zdbKind.FindAllSubmatch(out, -1) {
			kinds = append(kinds, string(m[1]))
		}
		facts["zdb.types"] = strings.Join(kinds, " ")
	}
	return facts, nil
}

func effectiveZFS(facts map[string]string) map[string]string {
	e := map[string]string{}
	for _, o := range zfsOptions {
		if v, ok := facts["data."+o.Name]; ok {
			e[o.Name] = v
		}
	}
	return e
}

// busyZFS names a scrub, resilver or trim that is going on.
func busyZFS(ctx context.Context, ex Exec, _ guest.Storage, _ Target, _ Place) (string, error) {
	out, err := ex.Run(ctx, "zpool", "status", ZFSPool)
	if err != nil {
		return "", err
	}
	for _, work := range []string{"scrub in progress", "resilver in progress", "trimming", "initializing"} {
		if strings.Contains(string(out), work) {
			return "zfs " + work, nil
		}
	}
	return "", nil
}
