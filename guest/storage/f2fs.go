package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf16"

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
			facts := parseF2FS(string(out))
			facts["Volume name"], err = readF2FSLabel(t.Device())
			return facts, err
		},
		Effective: func(facts map[string]string) map[string]string {
			return pickFacts(facts, map[string]string{
				"segments_per_section": "Segments per section", "sections_per_zone": "Sections per zone", "label": "Volume name",
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

// Places in the first superblock (include/linux/f2fs_fs.h of the kernel).
const (
	f2fsSuper      = 1024
	f2fsMagic      = 0xf2f52010
	f2fsVolumeName = 124
	f2fsNameUnits  = 512
)

// readF2FSLabel reads the superblock: dump.f2fs prints a label only as one long line of debugging output.
func readF2FSLabel(device string) (string, error) {
	f, err := os.Open(device)
	if err != nil {
		return "", fmt.Errorf("read the superblock: %w", err)
	}
	defer f.Close()
	block := make([]byte, f2fsVolumeName+2*f2fsNameUnits)
	if _, err := f.ReadAt(block, f2fsSuper); err != nil {
		return "", fmt.Errorf("read the superblock: %w", err)
	}
	return parseF2FSLabel(block)
}

// parseF2FSLabel decodes the label, UTF-16 that ends with a zero.
func parseF2FSLabel(block []byte) (string, error) {
	if binary.LittleEndian.Uint32(block) != f2fsMagic {
		return "", fmt.Errorf("read the superblock: it is none of f2fs")
	}
	var units []uint16
	for at := f2fsVolumeName; at < len(block); at += 2 {
		unit := binary.LittleEndian.Uint16(block[at:])
		if unit == 0 {
			break
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units)), nil
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
