package storage

import (
	"context"
	"regexp"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "reiserfs", Type: "reiserfs", Module: "reiserfs",
		Tools:    []string{"mkfs.reiserfs", "debugreiserfs"},
		Packages: []string{"reiserfsprogs"},
		Options: []Option{
			{"hash", "hash of names in directories", oneOf("rupasov", "tea", "r5")},
			{"format", "disk format", oneOf("3.5", "3.6")},
			{"journal-size", "journal in blocks", number(513, 32749)},
			{"transaction-max-size", "largest transaction in blocks", number(1, 1024)},
		},
		LabelMax: 16,
		MinBytes: 33636352,
		MaxFile:  1 << 43, // 8 TiB, format 3.6
		CannotDo: []string{
			"it cannot preallocate (fallocate): files grow by writing",
			"it cannot be had in kernels since 6.13",
		},
		Check: noFaults,
		Mkfs:  func(s guest.Storage, t Target) [][]string { return [][]string{mkfsReiser(s, t)} },
		Mount: mountDevice("reiserfs"), Unmount: unmountDir,
		ReadBack: func(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			out, err := ex.Run(ctx, "debugreiserfs", t.Device())
			if err != nil {
				return nil, err
			}
			return parseReiser(string(out)), nil
		},
		Effective: func(facts map[string]string) map[string]string {
			return pickFacts(facts, map[string]string{
				"label": "LABEL", "hash": "hash", "format": "format", "journal-size": "journal blocks",
				"transaction-max-size": "Max transaction length",
			})
		},
		Busy: neverBusy, DropCaches: noCaches,
	})
}

// mkfsReiser passes -q: without it the program asks for a confirmation, and nobody answers.
func mkfsReiser(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.reiserfs", "-q"}
	for _, name := range []string{"format", "hash", "journal-size", "transaction-max-size"} {
		if v := s.Options[name]; v != "" {
			argv = append(argv, "--"+name, v)
		}
	}
	if s.Label != "" {
		argv = append(argv, "--label", s.Label)
	}
	return append(argv, t.Device())
}

var (
	reiserFormat  = regexp.MustCompile(`of format ([0-9.]+) with`)
	reiserHash    = regexp.MustCompile(`Hash function used to sort names: "([^"]*)"`)
	reiserJournal = regexp.MustCompile(`(?m)^\s+Size ([0-9]+) blocks`)
	reiserMax     = regexp.MustCompile(`Max transaction length ([0-9]+) blocks`)
)

func parseReiser(text string) map[string]string {
	facts := colonFacts(text)
	for name, re := range map[string]*regexp.Regexp{
		"format": reiserFormat, "hash": reiserHash, "journal blocks": reiserJournal, "Max transaction length": reiserMax,
	} {
		if m := re.FindStringSubmatch(text); m != nil {
			facts[name] = m[1]
		}
	}
	return facts
}
