package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"platter/guest"
)

func init() {
	registerLayout(Layout{
		Name:     "md",
		Tools:    []string{"mdadm"},
		Modules:  []string{"md-mod"},
		Packages: []string{"mdadm"},
		Options: []Option{
			{"level", "RAID level", oneOf("0", "1", "5", "6", "10")},
			{"chunk", "bytes on one disk before the next", powerOfTwo(4<<10, 64<<20)},
			{"layout", "places of parity or copies", matching(`[a-z][a-z0-9-]*`, "a layout of mdadm such as left-symmetric or n2")},
			{"bitmap", "write-intent bitmap (default none)", oneOf("none", "internal")},
			{"write_zeroes", "1 fills the disks with zeros, which leaves nothing to synchronise (default 0)", bit},
		},
		MinOf: 2, MaxOf: 24,
		Check: checkMD,
		Build: buildMD,
		Teardown: func(_ guest.Layout, _ []Target, id int) [][]string {
			return [][]string{{"mdadm", "--stop", mdNode(id)}}
		},
		Describe: describeMD,
		ReadBack: readBackMD,
		Busy:     busyMD,
	})
}

func mdNode(id int) string { return fmt.Sprintf("/dev/md%d", id) }

// mdLevels gives the fewest disks and how many of n hold data.
var mdLevels = map[string]struct {
	fewest int
	data   func(n int64) int64
}{
	"0":  {2, func(n int64) int64 { return n }},
	"1":  {2, func(int64) int64 { return 1 }},
	"5":  {3, func(n int64) int64 { return n - 1 }},
	"6":  {4, func(n int64) int64 { return n - 2 }},
	"10": {2, func(n int64) int64 { return n / 2 }},
}

func checkMD(node guest.Layout, of []Target) []error {
	var errs []error
	level, ok := mdLevels[node.Options["level"]]
	if !ok {
		return []error{fmt.Errorf("layout md: level is missing; there are 0, 1, 5, 6, 10")}
	}
	if len(of) < level.fewest {
		errs = append(errs, tooFew("md", "level "+node.Options["level"], level.fewest, len(of)))
	}
	if node.Options["level"] == "1" && node.Options["chunk"] != "" {
		errs = append(errs, fmt.Errorf("layout md: level 1 has no chunk"))
	}
	if node.Options["level"] == "0" && node.Options["write_zeroes"] == "1" {
		errs = append(errs, fmt.Errorf("layout md: level 0 has nothing to synchronise, so leave write_zeroes out"))
	}
	return errs
}

func buildMD(node guest.Layout, of []Target, id int) (Target, []Step) {
	argv := []string{
		"mdadm", "--create", mdNode(id), "--run", "--metadata=1.2", "--level=" + node.Options["level"],
		"--raid-devices=" + strconv.Itoa(len(of)), "--bitmap=" + orDefault(node.Options["bitmap"], "none"),
	}
	if v := node.Options["chunk"]; v != "" {
		n, _ := ParseSize(v)
		argv = append(argv, fmt.Sprintf("--chunk=%dK", n>>10))
	}
	if v := node.Options["layout"]; v != "" {
		argv = append(argv, "--layout="+v)
	}
	// Note: --assume-clean alone would call an array synchronised whose disks hold whatever they held before; here the
	// disks are zeroed first, and the parity and the copies of zeros are zeros.
	if node.Options["write_zeroes"] == "1" {
		argv = append(argv, "--write-zeroes")
	}
	argv = append(argv, firstDevices(of)...)
	logical, sizes := gather(of)
	smallest := sizes[0]
	for _, s := range sizes {
		smallest = min(smallest, s)
	}
	// The superblock and the room before the data: about a thousandth and at least a MiB (mdadm's super1.c).
	usable := max(0, smallest-smallest/1000-2<<20)
	t := Target{
		Devices: []string{mdNode(id)}, LogicalBlockBytes: logical, Estimated: true,
		SizeBytes: usable * mdLevels[node.Options["level"]].data(int64(len(of))),
	}
	return t, []Step{
		{Argv: argv, Await: []Node{{Path: mdNode(id)}}},
		// The same disks may have held an array with a filesystem before; its signature shows again.
		{Argv: []string{"wipefs", "--all", mdNode(id)}},
	}
}

// describeMD writes md5(a,b,c; chunk=64k).
func describeMD(node guest.Layout, of []string) string {
	rest := guest.Layout{Options: map[string]string{}}
	for k, v := range node.Options {
		if k != "level" {
			rest.Options[k] = v
		}
	}
	return describe("md"+node.Options["level"])(rest, of)
}

func readBackMD(ctx context.Context, ex Exec, _ guest.Layout, t Target) (map[string]string, error) {
	out, err := ex.Run(ctx, "mdadm", "--detail", t.Device())
	if err != nil {
		return nil, err
	}
	return parseMD(string(out)), nil
}

// parseMD reads mdadm's "Name : value" lines and answers level, chunk and layout in our words.
func parseMD(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " : "); ok {
			facts[name] = strings.TrimSpace(value)
		}
	}
	if v, ok := facts["Raid Level"]; ok {
		facts["level"] = strings.TrimPrefix(v, "raid")
	}
	if v, ok := facts["Chunk Size"]; ok {
		facts["chunk"] = v
	}
	if v, ok := facts["Layout"]; ok {
		// RAID 10 is asked as n2 and answered as near=2.
		facts["layout"] = mdLayouts.Replace(v)
	}
	return facts
}

var mdLayouts = strings.NewReplacer("near=", "n", "far=", "f", "offset=", "o")

// busyMD asks for the array's state: a new one resyncs, and a RAID 5 rebuilds its last disk.
func busyMD(ctx context.Context, ex Exec, _ guest.Layout, t Target) (string, error) {
	out, err := ex.Run(ctx, "mdadm", "--detail", t.Device())
	if err != nil {
		return "", err
	}
	facts := parseMD(string(out))
	for _, name := range []string{"Resync Status", "Rebuild Status", "Check Status", "Reshape Status"} {
		if v, ok := facts[name]; ok {
			return "md " + strings.ToLower(name) + " " + v, nil
		}
	}
	if state := facts["State"]; strings.Contains(state, "resyncing") || strings.Contains(state, "recovering") {
		return "md " + state, nil
	}
	return "", nil
}
