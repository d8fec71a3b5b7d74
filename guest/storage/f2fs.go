package storage

import (
	"context"
	"regexp"
	"strings"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "f2fs", Type: "f2fs", Module: "f2fs",
		Tools:    []string{"mkfs.f2fs", "dump.f2fs"},
		Packages: []string{"f2fs-tools"},
		Options: []Option{
			{"overprovision_ratio_percentage", "space kept for cleaning (-o)", number(1, 50)},
			{"segments_per_section", "segments in a section (-s)", number(1, 1<<16)},
			{"sections_per_zone", "sections in a zone (-z)", number(1, 1<<16)},
			{"features", "features to set (-O)", matching(`[a-z_]+(,[a-z_]+)*`, "a list of features such as extra_attr,inode_checksum")},
			{"discard", "0 does not discard the device first (-t)", bit},
		},
		LabelMax: 255,
		MinBytes: 52 << 20,
		CannotDo: []string{"it cannot keep cleaning out of a long run: segments are cleaned in the background"},
		Check:    noFaults,
		Mkfs:     func(s guest.Storage, t Target) [][]string { return [][]string{mkfsF2FS(s, t)} },
		Mount:    mountDevice("f2fs"), Unmount: unmountDir,
		ReadBack: func(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			out, err := ex.Run(ctx, "dump.f2fs", t.Device())
			if err != nil {
				return nil, err
			}
			return parseF2FS(string(out)), nil
		},
		Effective: func(facts map[string]string) map[string]string {
			return pickFacts(facts, map[string]string{
				"segments_per_section": "Segments per section", "sections_per_zone": "Sections per zone",
			})
		},
		Busy: neverBusy, DropCaches: noCaches,
	})
}

func mkfsF2FS(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.f2fs"}
	for _, o := range []struct{ name, flag string }{
		{"overprovision_ratio_percentage", "-o"}, {"segments_per_section", "-s"}, {"sections_per_zone", "-z"},
		{"features", "-O"}, {"discard", "-t"},
	} {
		if v := s.Options[o.name]; v != "" {
			argv = append(argv, o.flag, v)
		}
	}
	if s.Label != "" {
		argv = append(argv, "-l", s.Label)
	}
	return append(argv, t.Device())
}

var f2fsLine = regexp.MustCompile(`^Info: ([^=]+) = (.*)$`)

// parseF2FS reads "Info: name = value" lines.
func parseF2FS(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if m := f2fsLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			facts[strings.TrimSpace(m[1])] = strings.TrimSpace(m[2])
		}
	}
	return facts
}
