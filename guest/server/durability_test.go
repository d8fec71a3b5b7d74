package server

import (
	"strings"
	"testing"
)

func TestDurability(t *testing.T) {
	safe := func(more ...string) map[string]string {
		v := map[string]string{"default_storage_engine": "InnoDB", "innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON", "innodb_flush_method": "O_DIRECT", "sync_binlog": "0"}
		for i := 0; i < len(more); i += 2 {
			v[more[i]] = more[i+1]
		}
		return v
	}
	for _, c := range []struct {
		name   string
		facts  DurabilityFacts
		class  string
		reason string
	}{
		{"all safe", DurabilityFacts{Variables: safe(), Filesystem: "ext4", DiskCache: "none"}, DurableFull, ""},
		{"binlog off does not matter", DurabilityFacts{Variables: safe("sync_binlog", "0"), Filesystem: "xfs"}, DurableFull, ""},
		{"binlog not synced", DurabilityFacts{Variables: safe(), BinlogOn: true, Filesystem: "xfs"}, DurableProcessCrash, "sync_binlog=0"},
		{"log flushed each second", DurabilityFacts{Variables: safe("innodb_flush_log_at_trx_commit", "2"), Filesystem: "xfs"}, DurableProcessCrash, "=2"},
		{"log written each second", DurabilityFacts{Variables: safe("innodb_flush_log_at_trx_commit", "0"), Filesystem: "xfs"}, DurableNone, "=0"},
		{"torn pages on ext4", DurabilityFacts{Variables: safe("innodb_doublewrite", "OFF"), Filesystem: "ext4"}, DurableProcessCrash, "tear"},
		{"no torn pages on zfs", DurabilityFacts{Variables: safe("innodb_doublewrite", "OFF"), Filesystem: "zfs"}, DurableFull, ""},
		{"torn pages on btrfs without cow", DurabilityFacts{Variables: safe("innodb_doublewrite", "0"), Filesystem: "btrfs", MountOptions: "rw,nodatacow"}, DurableProcessCrash, "tear"},
		{"zfs without sync", DurabilityFacts{Variables: safe(), Filesystem: "zfs", SyncOption: "disabled"}, DurableProcessCrash, "sync=disabled"},
		{"no barriers", DurabilityFacts{Variables: safe(), Filesystem: "ext4", MountOptions: "rw,nobarrier"}, DurableOSCrash, "nobarrier"},
		{"unsafe disk", DurabilityFacts{Variables: safe(), Filesystem: "ext4", DiskCache: "unsafe"}, DurableOSCrash, "cache=unsafe"},
		{"lying device", DurabilityFacts{Variables: safe(), Filesystem: "ext4", DeviceCache: "ignores flushes"}, DurableOSCrash, "ignore"},
		{"ext2", DurabilityFacts{Variables: safe(), Filesystem: "ext2"}, DurableProcessCrash, "no journal"},
		{"myisam on vfat", DurabilityFacts{Variables: safe(), Engine: "MyISAM", Filesystem: "vfat"}, DurableNone, "MyISAM"},
		{"aria on ext3", DurabilityFacts{Variables: safe(), Engine: "Aria", Filesystem: "ext3"}, DurableFull, ""},
		{"rocksdb", DurabilityFacts{Variables: safe("rocksdb_flush_log_at_trx_commit", "2"), Engine: "rocksdb", Filesystem: "xfs"}, DurableProcessCrash, "rocksdb_flush"},
		{"memory", DurabilityFacts{Variables: safe(), Engine: "MEMORY", Filesystem: "xfs"}, DurableNone, "memory"},
		{"worst rule wins", DurabilityFacts{Variables: safe("innodb_flush_log_at_trx_commit", "0"), Filesystem: "ext2", DiskCache: "unsafe"}, DurableNone, "no journal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			class, reasons := Durability(c.facts)
			if class != c.class {
				t.Errorf("%s %v, want %s", class, reasons, c.class)
			}
			if text := strings.Join(reasons, "\n"); c.reason == "" && text != "" || !strings.Contains(text, c.reason) {
				t.Errorf("reasons %q, want %q among them", text, c.reason)
			}
		})
	}
}
