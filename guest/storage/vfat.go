package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "vfat", Type: "vfat", Module: "vfat",
		Tools:    []string{"mkfs.vfat"},
		Packages: []string{"dosfstools"},
		Options: []Option{
			{"fat_size", "bits of an entry in the file allocation table (-F)", oneOf("12", "16", "32")},
			{"sectors_per_cluster", "sectors in a cluster (-s)", powerOfTwo(1, 128)},
			{"sector_size", "logical sector in bytes (-S)", powerOfTwo(512, 32768)},
			{"fats", "number of file allocation tables (-f)", number(1, 4)},
			{"reserved_sectors", "sectors before the first table (-R)", number(1, 65535)},
		},
		LabelMax: 11,
		MinBytes: 1 << 20,
		MaxFile:  4<<30 - 1,
		CannotDo: fatCannotDo,
		Check:    checkVFAT,
		Mkfs:     func(s guest.Storage, t Target) [][]string { return [][]string{mkfsVFAT(s, t)} },
		Mount:    mountOwned("vfat"), Unmount: unmountDir,
		ReadBack: func(_ context.Context, _ Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			return readFAT(t.Device())
		},
		Effective: func(facts map[string]string) map[string]string {
			return pickFacts(facts, map[string]string{
				"fat_size": "fat_size", "sectors_per_cluster": "sectors_per_cluster", "sector_size": "sector_size",
				"fats": "fats", "reserved_sectors": "reserved_sectors", "label": "label",
			})
		},
		Busy: neverBusy, DropCaches: noCaches,
	})
}

var fatCannotDo = []string{
	"it cannot keep owners and permissions: every file belongs to the server's user",
	"it cannot tell names apart by case: tables T1 and t1 collide",
	"it cannot hold files of 4 GiB and more",
	"it cannot hold links or sockets, nor sparse files",
	"it has no journal: after a crash it needs fsck and may lose files",
}

// mountOwned mounts a filesystem without owners so that its files are the server's, and only the server's.
func mountOwned(fstype string) func(guest.Storage, Target, Place) [][]string {
	return func(s guest.Storage, t Target, p Place) [][]string {
		return mountDevice(fstype, "uid="+p.UID, "gid="+p.GID, "umask=0027")(s, t, p)
	}
}

// mkfsVFAT passes -I, which only lets it take a whole disk; the agent has proven the disk before.
func mkfsVFAT(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.vfat", "-I"}
	for _, o := range []struct{ name, flag string }{
		{"fat_size", "-F"}, {"sectors_per_cluster", "-s"}, {"sector_size", "-S"}, {"fats", "-f"}, {"reserved_sectors", "-R"},
	} {
		if v := s.Options[o.name]; v != "" {
			argv = append(argv, o.flag, plainBytes(v))
		}
	}
	if s.Label != "" {
		argv = append(argv, "-n", s.Label)
	}
	return append(argv, t.Device())
}

func checkVFAT(s guest.Storage, t Target) []error {
	var errs []error
	if v := s.Options["sector_size"]; v != "" {
		if n, _ := ParseSize(v); n < t.LogicalBlockBytes {
			errs = append(errs, fmt.Errorf("filesystem vfat: sector_size %s is under the disk's logical block of %d bytes", v, t.LogicalBlockBytes))
		}
	}
	if t.SizeBytes > 2<<40 {
		errs = append(errs, fmt.Errorf("filesystem vfat: %d bytes are over its maximum of 2 TiB", t.SizeBytes))
	}
	return errs
}

// readFAT reads the boot sector, as no tool of dosfstools reports on a mounted filesystem.
func readFAT(device string) (map[string]string, error) {
	f, err := os.Open(device)
	if err != nil {
		return nil, fmt.Errorf("read the boot sector: %w", err)
	}
	defer f.Close()
	sector := make([]byte, 512)
	if _, err := f.ReadAt(sector, 0); err != nil {
		return nil, fmt.Errorf("read the boot sector: %w", err)
	}
	return parseFAT(sector)
}

// parseFAT decodes a boot sector (Microsoft's FAT specification of 2000, figures 1 to 3).
func parseFAT(b []byte) (map[string]string, error) {
	if len(b) < 512 || b[510] != 0x55 || b[511] != 0xaa {
		return nil, fmt.Errorf("read the boot sector: it has no signature")
	}
	word := func(at int) int64 { return int64(binary.LittleEndian.Uint16(b[at:])) }
	long := func(at int) int64 { return int64(binary.LittleEndian.Uint32(b[at:])) }
	sector, cluster, reserved, fats, roots := word(11), int64(b[13]), word(14), int64(b[16]), word(17)
	if sector == 0 || cluster == 0 {
		return nil, fmt.Errorf("read the boot sector: it is damaged")
	}
	total, tables, label := word(19), word(22), 43
	if total == 0 {
		total = long(32)
	}
	if tables == 0 {
		tables, label = long(36), 71
	}
	clusters := (total - reserved - fats*tables - (roots*32+sector-1)/sector) / cluster
	bits := int64(32)
	if word(22) != 0 {
		bits = 16
		if clusters < 4085 {
			bits = 12
		}
	}
	facts := map[string]string{"label": strings.TrimRight(string(b[label:label+11]), " ")}
	for name, n := range map[string]int64{
		"fat_size": bits, "sector_size": sector, "sectors_per_cluster": cluster, "reserved_sectors": reserved,
		"fats": fats, "root_entries": roots, "sectors": total, "sectors_per_fat": tables, "clusters": clusters,
	} {
		facts[name] = strconv.FormatInt(n, 10)
	}
	return facts, nil
}
