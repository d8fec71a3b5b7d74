package storage

import (
	"context"
	"strings"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "jfs", Type: "jfs", Module: "jfs",
		Tools:    []string{"mkfs.jfs", "jfs_tune"},
		Packages: []string{"jfsutils"},
		Options: []Option{
			{"journal_size", "journal in MiB (-s)", number(1, 2048)},
			{"case_insensitive", "1 folds the case of names (-O)", bit},
		},
		LabelMax: 16,
		MinBytes: 16 << 20,
		CannotDo: []string{"it cannot preallocate (fallocate): files grow by writing"},
		Check:    noFaults,
		Mkfs:     func(s guest.Storage, t Target) [][]string { return [][]string{mkfsJFS(s, t)} },
		Mount:    mountDevice("jfs"), Unmount: unmountDir,
		ReadBack: func(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			out, err := ex.Run(ctx, "jfs_tune", "-l", t.Device())
			if err != nil {
				return nil, err
			}
			facts := colonFacts(string(out))
			facts["Volume label"] = strings.Trim(facts["Volume label"], "'")
			return facts, nil
		},
		Effective: func(facts map[string]string) map[string]string {
			e := pickFacts(facts, map[string]string{"label": "Volume label"})
			if flags, ok := facts["JFS flags"]; ok {
				e["case_insensitive"] = "0"
				if strings.Contains(flags, "OS2") || strings.Contains(flags, "DIR_INDEX") {
					e["case_insensitive"] = "1"
				}
			}
			return e
		},
		Busy: neverBusy, DropCaches: noCaches,
	})
}

// mkfsJFS passes -q: without it the program asks for a confirmation, and nobody answers.
func mkfsJFS(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.jfs", "-q"}
	if v := s.Options["journal_size"]; v != "" {
		argv = append(argv, "-s", v)
	}
	if s.Options["case_insensitive"] == "1" {
		argv = append(argv, "-O")
	}
	if s.Label != "" {
		argv = append(argv, "-L", s.Label)
	}
	return append(argv, t.Device())
}
