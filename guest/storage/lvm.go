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
		Name:     "lvm",
		Tools:    []string{"lvm"},
		Modules:  []string{"dm-mod"},
		Packages: []string{"lvm2"},
		Options: []Option{
			{"type", "kind of logical volume", oneOf("linear", "striped", "thin")},
			{"stripe_size", "bytes on one disk before the next", powerOfTwo(4<<10, 64<<20)},
			{"chunk", "bytes a thin volume grows by", size(64<<10, 1<<30)},
		},
		MinOf: 1, MaxOf: 24,
		Check: checkLVM,
		Build: buildLVM,
		Teardown: func(_ guest.Layout, _ []Target, id int) [][]string {
			return [][]string{lvm("vgchange", "--activate", "n", vgName(id))}
		},
		Describe: describe("lvm"),
		ReadBack: readBackLVM,
		Busy:     layoutNeverBusy,
	})
}

func vgName(id int) string { return fmt.Sprintf("platter%d", id) }

// lvm is one command of the lvm program, told not to ask udev, which may not run.
func lvm(args ...string) []string {
	return append([]string{"lvm", args[0], "--config", "devices/obtain_device_list_from_udev=0 activation/udev_sync=0 activation/udev_rules=0 activation/monitoring=0"}, args[1:]...)
}

func checkLVM(node guest.Layout, of []Target) []error {
	var errs []error
	kind := orDefault(node.Options["type"], "linear")
	if kind == "striped" && len(of) < 2 {
		errs = append(errs, tooFew("lvm", "type striped", 2, len(of)))
	}
	if kind != "striped" && node.Options["stripe_size"] != "" {
		errs = append(errs, fmt.Errorf("layout lvm: stripe_size is for type striped"))
	}
	if kind != "thin" && node.Options["chunk"] != "" {
		errs = append(errs, fmt.Errorf("layout lvm: chunk is for type thin"))
	}
	return errs
}

func buildLVM(node guest.Layout, of []Target, id int) (Target, []Step) {
	devices, vg := firstDevices(of), vgName(id)
	steps := []Step{
		{Argv: lvm(append([]string{"pvcreate"}, devices...)...)},
		{Argv: lvm(append([]string{"vgcreate", vg}, devices...)...)},
	}
	logical, sizes := gather(of)
	// An extent of 4 MiB on each disk goes to the metadata, and the last one may be cut.
	usable := max(0, sum(sizes)-int64(len(sizes))*(8<<20))
	path := fmt.Sprintf("/dev/mapper/%s-data", vg)
	create := []string{"lvcreate", "--yes", "--wipesignatures", "y", "--name", "data"}
	switch orDefault(node.Options["type"], "linear") {
	case "striped":
		create = append(create, "--extents", "100%FREE", "--stripes", strconv.Itoa(len(of)))
		if v := node.Options["stripe_size"]; v != "" {
			n, _ := ParseSize(v)
			create = append(create, "--stripesize", fmt.Sprintf("%dK", n>>10))
		}
		steps = append(steps, Step{Argv: lvm(append(create, vg)...), Await: []Node{{Path: path}}})
	case "thin":
		// The pool's metadata and their spare take room; what the volume may claim stays below what the pool has.
		usable = usable * 9 / 10 >> 22 << 22
		pool := []string{"lvcreate", "--yes", "--type", "thin-pool", "--extents", "95%FREE", "--name", "pool"}
		if v := node.Options["chunk"]; v != "" {
			n, _ := ParseSize(v)
			pool = append(pool, "--chunksize", fmt.Sprintf("%dK", n>>10))
		}
		steps = append(steps,
			Step{Argv: lvm(append(pool, vg)...)},
			Step{
				Argv:  lvm(append(create, "--thinpool", "pool", "--virtualsize", fmt.Sprintf("%db", usable), vg)...),
				Await: []Node{{Path: path, SizeBytes: usable}},
			})
	default:
		steps = append(steps, Step{Argv: lvm(append(create, "--extents", "100%FREE", vg)...), Await: []Node{{Path: path}}})
	}
	return Target{Devices: []string{path}, SizeBytes: usable, Estimated: node.Options["type"] != "thin", LogicalBlockBytes: logical}, steps
}

var lvmFields = []string{"segtype", "stripes", "stripe_size", "lv_size", "chunk_size", "devices"}

func readBackLVM(ctx context.Context, ex Exec, _ guest.Layout, t Target) (map[string]string, error) {
	vg, _, _ := strings.Cut(strings.TrimPrefix(t.Device(), "/dev/mapper/"), "-")
	out, err := lvs(ctx, ex, vg+"/data", lvmFields...)
	if err != nil {
		return nil, err
	}
	facts := parseLVM(out)
	if facts["type"] == "thin" { // the pool's property, not the volume's
		chunk, err := lvs(ctx, ex, vg+"/pool", "chunk_size")
		if err != nil {
			return nil, err
		}
		facts["chunk"] = strings.TrimSpace(chunk)
	}
	return facts, nil
}

// lvs reports fields of a volume, sizes in bytes.
func lvs(ctx context.Context, ex Exec, volume string, fields ...string) (string, error) {
	out, err := ex.Run(ctx, lvm("lvs", "--noheadings", "--units", "b", "--nosuffix", "--separator", "\t",
		"--options", strings.Join(fields, ","), volume)...)
	return string(out), err
}

func parseLVM(text string) map[string]string {
	facts := map[string]string{}
	for i, v := range strings.Split(strings.Trim(text, " \n"), "\t") {
		if i < len(lvmFields) {
			facts[lvmFields[i]] = v
		}
	}
	facts["type"] = facts["segtype"]
	if facts["segtype"] == "linear" && facts["stripes"] != "1" {
		facts["type"] = "striped"
	}
	return facts
}
