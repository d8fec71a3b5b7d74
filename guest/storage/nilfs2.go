package storage

import (
	"context"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "nilfs2", Type: "nilfs2", Module: "nilfs2",
		Tools:    []string{"mkfs.nilfs2", "nilfs-tune"},
		Packages: []string{"nilfs-tools"},
		Options: []Option{
			{"block-size", "block size in bytes (-b)", powerOfTwo(1024, 4096)},
			{"blocks-per-segment", "blocks in a segment (-B)", powerOfTwo(16, 1<<20)},
			{"reserved-segments-percentage", "space kept for cleaning (-m)", number(1, 99)},
			{"features", "features to set (-O)", matching(`\^?[a-z_]+(,\^?[a-z_]+)*`, "a list of features such as block_count")},
			{"discard", "0 does not discard the device first (-K)", bit},
		},
		LabelMax: 80,
		MinBytes: 134221824,
		CannotDo: []string{
			"it cannot overwrite in place: it appends to a log that a cleaner daemon reclaims in the background",
			"it cannot do direct writes: O_DIRECT falls back to the page cache",
		},
		Check: noFaults,
		Mkfs:  func(s guest.Storage, t Target) [][]string { return [][]string{mkfsNILFS(s, t)} },
		Mount: mountDevice("nilfs2"), Unmount: unmountDir,
		ReadBack: func(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			out, err := ex.Run(ctx, "nilfs-tune", "-l", t.Device())
			if err != nil {
				return nil, err
			}
			return colonFacts(string(out)), nil
		},
		Effective: func(facts map[string]string) map[string]string {
			return pickFacts(facts, map[string]string{
				"label": "Filesystem volume name", "block-size": "Block size", "blocks-per-segment": "# of blocks per segment",
				"reserved-segments-percentage": "Reserved segments %", "features": "Filesystem features",
			})
		},
		Busy: neverBusy, DropCaches: noCaches,
	})
}

func mkfsNILFS(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.nilfs2"}
	for _, o := range []struct{ name, flag string }{
		{"block-size", "-b"}, {"blocks-per-segment", "-B"}, {"reserved-segments-percentage", "-m"}, {"features", "-O"},
	} {
		if v := s.Options[o.name]; v != "" {
			argv = append(argv, o.flag, plainBytes(v))
		}
	}
	if s.Options["discard"] == "0" {
		argv = append(argv, "-K")
	}
	if s.Label != "" {
		argv = append(argv, "-L", s.Label)
	}
	return append(argv, t.Device())
}
