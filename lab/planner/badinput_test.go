package planner_test

import (
	"strings"
	"testing"
)

// TestBadStorage is what a storage that cannot be made gets before anything is made: each has its reason, at its place in
// the study.
func TestBadStorage(t *testing.T) {
	const four = "a: {size: 4GiB}, b: {size: 4GiB}, c: {size: 4GiB, logical_block: 4KiB, physical_block: 4KiB}"
	for name, c := range map[string]struct{ disks, storage, want string }{
		"disk under the minimum":       {"a: {size: 128MiB}", "{filesystem: nilfs2}", "134217728 bytes are under its minimum"},
		"partition under the minimum":  {"a: {size: 600MiB}", "{filesystem: xfs, on: {partition: 1, of: 2, disk: a}}", "under its minimum of 314572800 (300.0 MiB)"},
		"label too long":               {four, "{filesystem: vfat, on: a, label: TWELVE-BYTES}", "12 bytes, at most 11"},
		"no label at all":              {four, "{filesystem: zfs, on: a, label: x}", "it has no label"},
		"unknown option":               {four, "{filesystem: xfs, on: a, options: {data.agcuont: 4}}", `did you mean "data.agcount"?`},
		"impossible value":             {four, "{filesystem: zfs, on: a, options: {recordsize: 3000}}", "3000 is not a power of two"},
		"too few disks for RAID5":      {four, "{filesystem: xfs, on: {md: 5, of: [a, b]}}", "level 5 takes at least 3 devices, not 2"},
		"too few disks for a mirror":   {four, "{filesystem: zfs, on: {zfs: mirror, of: [a]}}", "level mirror takes at least 2"},
		"too few disks for raidz1":     {four, "{filesystem: zfs, on: {zfs: raidz1, of: [a]}}", "level raidz1 takes at least 2"},
		"xfs sectors on 4Kn":           {four, "{filesystem: xfs, on: c, options: {sector.size: 512}}", "sector.size 512 is under the disk's logical block of 4096"},
		"ext4 blocks on 4Kn":           {four, "{filesystem: ext4, on: c, options: {blocksize: 1024}}", "blocksize 1024 is under the disk's logical block of 4096"},
		"vfat sectors on 4Kn":          {four, "{filesystem: vfat, on: c, options: {sector_size: 512}}", "sector_size 512 is under"},
		"gfs2 blocks on 4Kn":           {four, "{filesystem: gfs2, on: c, options: {block_size: 1024}}", "block_size 1024 is under"},
		"ashift on 4Kn":                {four, "{filesystem: zfs, on: {zfs: single, of: [c], ashift: 9}}", "ashift 9 is under"},
		"sectors of a volume on 4Kn":   {four, "{filesystem: xfs, on: {crypt: luks2, of: c, sector_size: 512}}", "sector_size 512 is under"},
		"4Kn on one side of an array":  {four, "{filesystem: xfs, on: {md: 1, of: [a, c]}, options: {sector.size: 512}}", "sector.size 512 is under"},
		"a filesystem on ZFS's layout": {four, "{filesystem: xfs, on: {zfs: mirror, of: [a, b]}}", "layout zfs holds a zfs only"},
	} {
		t.Run(name, func(t *testing.T) {
			got := refuse(t, head+"disks: {"+c.disks+"}\nfactors:\n  server: [mariadb-11.8]\n  workload: {w: {workload: mysqlslap, auto_generate_sql: true}}\n  storage: {s: "+c.storage+"}\n")
			if !strings.Contains(got, "factors.storage.s") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q at factors.storage.s", got, c.want)
			}
		})
	}
}
