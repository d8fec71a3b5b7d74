package storage

import (
	"context"
	"strconv"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "exfat", Type: "exfat", Module: "exfat",
		Tools:    []string{"mkfs.exfat", "dump.exfat"},
		Packages: []string{"exfatprogs"},
		Options: []Option{
			{"cluster-size", "size of a cluster", powerOfTwo(512, 32<<20)},
			{"boundary-align", "alignment of the tables and the data", powerOfTwo(512, 1<<30)},
			{"pack-bitmap", "1 moves the bitmap to the tables", bit},
		},
		LabelMax: 11,
		MinBytes: 2<<20 + 1024,
		CannotDo: []string{
			"it cannot keep owners and permissions: every file belongs to the server's user",
			"it cannot tell names apart by case: tables T1 and t1 collide",
			"it cannot hold links or sockets, nor sparse files",
			"it has no journal: after a crash it needs fsck and may lose files",
		},
		Check: noFaults,
		Mkfs:  func(s guest.Storage, t Target) [][]string { return [][]string{mkfsExFAT(s, t)} },
		Mount: mountOwned("exfat"), Unmount: unmountDir,
		ReadBack: func(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			out, err := ex.Run(ctx, "dump.exfat", t.Device())
			if err != nil {
				return nil, err
			}
			return colonFacts(string(out)), nil
		},
		Effective: effectiveExFAT,
		Busy:      neverBusy, DropCaches: noCaches,
	})
}

func mkfsExFAT(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.exfat"}
	for _, name := range []string{"cluster-size", "boundary-align"} {
		if v := s.Options[name]; v != "" {
			argv = append(argv, "--"+name+"="+plainBytes(v))
		}
	}
	if s.Options["pack-bitmap"] == "1" {
		argv = append(argv, "--pack-bitmap")
	}
	if s.Label != "" {
		argv = append(argv, "--volume-label="+s.Label)
	}
	return append(argv, t.Device())
}

func effectiveExFAT(facts map[string]string) map[string]string {
	e := pickFacts(facts, map[string]string{"cluster-size": "Cluster size", "label": "Volume label"})
	// The tables begin at the first boundary; mkfs.exfat 1.2.9 prints the sector in bytes, 1.2.0 its power of two.
	sector := factNumber(facts, "Bytes per Sector")
	if bits := factNumber(facts, "Sector Size Bits"); bits > 0 {
		sector = float64(int64(1) << int64(bits))
	}
	if table := factNumber(facts, "FAT Offset(sector offset)"); table > 0 && sector > 0 {
		e["boundary-align"] = strconv.FormatInt(int64(table*sector), 10)
	}
	return e
}
