package storage

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "gfs2", Type: "gfs2", Module: "gfs2",
		Tools:    []string{"mkfs.gfs2", "tunegfs2", "gfs2_edit"},
		Packages: []string{"gfs2-utils"},
		Options: []Option{
			{"journals", "number of journals (-j)", number(1, 128)},
			{"journal_size", "size of a journal in MiB (-J)", number(8, 1024)},
			{"block_size", "block size in bytes (-b)", powerOfTwo(512, 4096)},
			{"resource_group_size", "size of a resource group in MiB (-r)", number(32, 2048)},
			{"discard", "0 does not discard the device first (-K)", bit},
		},
		MinBytes: 16 << 20,
		CannotDo: []string{"it is made for one node (lock_nolock): the cost of a cluster's locks is not measured"},
		Check:    checkGFS2,
		Mkfs:     func(s guest.Storage, t Target) [][]string { return [][]string{mkfsGFS2(s, t)} },
		Mount:    mountDevice("gfs2"), Unmount: unmountDir,
		ReadBack:  readBackGFS2,
		Effective: effectiveGFS2,
		Busy:      neverBusy, DropCaches: noCaches,
	})
}

// mkfsGFS2 passes -O: the program always asks for a confirmation, and nobody answers; the agent has
// proven the disk before.
func mkfsGFS2(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.gfs2", "-O", "-p", "lock_nolock", "-j", orDefault(s.Options["journals"], "1")}
	for _, o := range []struct{ name, flag string }{
		{"journal_size", "-J"}, {"block_size", "-b"}, {"resource_group_size", "-r"},
	} {
		if v := s.Options[o.name]; v != "" {
			argv = append(argv, o.flag, plainBytes(v))
		}
	}
	if s.Options["discard"] == "0" {
		argv = append(argv, "-K")
	}
	return append(argv, t.Device())
}

// checkGFS2 counts the journals: each takes at least 8 MiB, and the program leaves them half the device.
func checkGFS2(s guest.Storage, t Target) []error {
	journals, _ := strconv.ParseInt(orDefault(s.Options["journals"], "1"), 10, 64)
	each, _ := strconv.ParseInt(orDefault(s.Options["journal_size"], "8"), 10, 64)
	need := 2 * journals * each << 20
	if t.SizeBytes > 0 && t.SizeBytes < need {
		return []error{fmt.Errorf("filesystem gfs2: %d bytes are under the %d that %d journals of %d MiB take", t.SizeBytes, need, journals, each)}
	}
	var errs []error
	if v := s.Options["block_size"]; v != "" {
		if n, _ := ParseSize(v); n < t.LogicalBlockBytes {
			errs = append(errs, fmt.Errorf("filesystem gfs2: block_size %s is under the disk's logical block of %d bytes", v, t.LogicalBlockBytes))
		}
	}
	return errs
}

var gfs2Journal = regexp.MustCompile(`(?m)^journal([0-9]+): \S+\s+([0-9]+)MB`)

func readBackGFS2(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
	out, err := ex.Run(ctx, "tunegfs2", "-l", t.Device())
	if err != nil {
		return nil, err
	}
	facts := colonFacts(string(out))
	out, err = ex.Run(ctx, "gfs2_edit", "-p", "journals", t.Device())
	if err != nil {
		return nil, err
	}
	found := gfs2Journal.FindAllStringSubmatch(string(out), -1)
	facts["Journals"] = strconv.Itoa(len(found))
	if len(found) > 0 {
		facts["Journal size MiB"] = found[0][2]
	}
	return facts, nil
}

func effectiveGFS2(facts map[string]string) map[string]string {
	e := pickFacts(facts, map[string]string{"journals": "Journals", "journal_size": "Journal size MiB", "block_size": "Block size"})
	e["lock_protocol"] = strings.TrimSpace(facts["Lock protocol"])
	return e
}
