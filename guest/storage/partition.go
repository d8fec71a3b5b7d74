package storage

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"platter/guest"
)

// partitionAlign is where partitions begin, and the room kept at the end for the second table.
const partitionAlign = 1 << 20

func init() {
	registerLayout(Layout{
		Name:     "partition",
		Tools:    []string{"sgdisk", "blockdev", "partx", "wipefs"},
		Packages: []string{"gdisk", "util-linux"},
		Options: []Option{
			{"number", "which partition, from 1", number(1, 128)},
			{"of", "how many equal partitions the disk is cut into", number(1, 128)},
			{"sizes", "their sizes instead, e.g. 30g,30g,30g", checkSizes},
		},
		MinOf: 1, MaxOf: 1,
		Check:    checkPartition,
		Build:    buildPartition,
		Teardown: nothingToUndo,
		Describe: describe("partition"),
		ReadBack: readBackPartition,
		Busy:     layoutNeverBusy,
	})
}

func checkSizes(v string) error {
	for _, s := range strings.Split(v, ",") {
		if err := size(partitionAlign, 1<<60)(strings.TrimSpace(s)); err != nil {
			return err
		}
	}
	return nil
}

// partitionSizes are the sizes of all partitions in MiB. All are always made, in the same places, so that
// filesystems of one study lie on the same sectors whichever is measured.
func partitionSizes(node guest.Layout, disk int64) []int64 {
	var sizes []int64
	if v := node.Options["sizes"]; v != "" {
		for _, s := range strings.Split(v, ",") {
			n, _ := ParseSize(strings.TrimSpace(s))
			sizes = append(sizes, n>>20)
		}
		return sizes
	}
	count, _ := strconv.ParseInt(orDefault(node.Options["of"], "1"), 10, 64)
	each := (disk - 2*partitionAlign) / count >> 20
	for range count {
		sizes = append(sizes, each)
	}
	return sizes
}

func partitionNumber(node guest.Layout) int {
	n, _ := strconv.Atoi(orDefault(node.Options["number"], "1"))
	return n
}

func checkPartition(node guest.Layout, of []Target) []error {
	var errs []error
	if node.Options["sizes"] != "" && node.Options["of"] != "" {
		errs = append(errs, fmt.Errorf("layout partition: of and sizes exclude each other"))
	}
	sizes := partitionSizes(node, of[0].SizeBytes)
	if n := partitionNumber(node); n > len(sizes) {
		errs = append(errs, fmt.Errorf("layout partition: number %d of %d partitions", n, len(sizes)))
	}
	if need := sum(sizes)<<20 + 2*partitionAlign; of[0].SizeBytes > 0 && (need > of[0].SizeBytes || sizes[0] < 1) {
		errs = append(errs, fmt.Errorf("layout partition: %d partitions take %d bytes, the disk has %d", len(sizes), max(need, int64(len(sizes)+2)<<20), of[0].SizeBytes))
	}
	return errs
}

func buildPartition(node guest.Layout, of []Target, _ int) (Target, []Step) {
	disk := of[0].Device()
	argv := []string{"sgdisk", "--clear"}
	at := int64(1)
	var nodes []Node
	for i, mib := range partitionSizes(node, of[0].SizeBytes) {
		argv = append(argv, fmt.Sprintf("--new=%d:%dM:+%dM", i+1, at, mib))
		nodes = append(nodes, Node{Path: partitionNode(disk, i+1), SizeBytes: mib << 20})
		at += mib
	}
	mine := nodes[partitionNumber(node)-1]
	steps := []Step{
		{Argv: append(argv, disk)},
		// sgdisk asks the kernel to read the table again and goes on when that is refused, as it is while
		// anything looks at the disk; here it is insisted on. partx adds what a kernel without GPT left out.
		{Argv: []string{"blockdev", "--rereadpt", disk}, Retry: true},
		{Argv: []string{"partx", "--update", disk}, Retry: true, Await: nodes},
		// An earlier filesystem may have begun at the very same sector.
		{Argv: []string{"wipefs", "--all", mine.Path}},
	}
	return Target{Devices: []string{mine.Path}, SizeBytes: mine.SizeBytes, LogicalBlockBytes: of[0].LogicalBlockBytes}, steps
}

// partitionNode is the kernel's name: vdb1, but nvme0n1p1 after a digit.
func partitionNode(disk string, number int) string {
	if last := disk[len(disk)-1]; last >= '0' && last <= '9' {
		return fmt.Sprintf("%sp%d", disk, number)
	}
	return fmt.Sprintf("%s%d", disk, number)
}

var partitionName = regexp.MustCompile(`^(.*?[0-9])p([0-9]+)$|^(.*?)([0-9]+)$`)

func readBackPartition(ctx context.Context, ex Exec, node guest.Layout, t Target) (map[string]string, error) {
	m := partitionName.FindStringSubmatch(t.Device())
	if m == nil {
		return nil, fmt.Errorf("%s is not named as a partition", t.Device())
	}
	disk, number := m[1]+m[3], m[2]+m[4]
	out, err := ex.Run(ctx, "sgdisk", "--info="+number, disk)
	if err != nil {
		return nil, err
	}
	facts := colonFacts(string(out))
	facts["number"] = number
	if out, err = ex.Run(ctx, "sgdisk", "--print", disk); err != nil {
		return nil, err
	}
	sizes, err := parsePartitions(string(out))
	if err != nil {
		return nil, err
	}
	if asked := node.Options["sizes"]; asked != "" {
		facts["sizes"] = sizesAs(asked, sizes)
	} else {
		facts["of"] = strconv.Itoa(len(sizes))
	}
	return facts, nil
}

var (
	sgdiskSector = regexp.MustCompile(`(?m)^Sector size \(logical[^)]*\): ([0-9]+)`)
	sgdiskRow    = regexp.MustCompile(`(?m)^ +[0-9]+ +([0-9]+) +([0-9]+) +[0-9]`)
)

// parsePartitions returns the sizes in bytes of all partitions sgdisk prints, in the table's order.
func parsePartitions(text string) ([]int64, error) {
	m := sgdiskSector.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("read the partition table: sgdisk tells no sector size")
	}
	sector, _ := strconv.ParseInt(m[1], 10, 64)
	var sizes []int64
	for _, row := range sgdiskRow.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.ParseInt(row[1], 10, 64)
		last, _ := strconv.ParseInt(row[2], 10, 64)
		sizes = append(sizes, (last-first+1)*sector)
	}
	return sizes, nil
}

// sizesAs writes sizes as they were asked where they are equal, and in bytes where they are not.
func sizesAs(asked string, sizes []int64) string {
	words := strings.Split(asked, ",")
	var out []string
	for i, size := range sizes {
		text := strconv.FormatInt(size, 10)
		if i < len(words) {
			if n, err := ParseSize(strings.TrimSpace(words[i])); err == nil && n == size {
				text = words[i]
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, ",")
}
