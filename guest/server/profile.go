package server

import (
	"fmt"
	"strconv"
	"strings"
)

// Profile is a named set of options for one purpose, in names the renames carry to every flavour and version.
type Profile struct {
	Name    string
	Doc     string // one sentence: what it is for
	options func(memoryBytes int64) map[string]string
}

func fixed(options map[string]string) func(int64) map[string]string {
	return func(int64) map[string]string { return options }
}

// Profiles are all named profiles, in the order a list shows them.
var Profiles = []Profile{
	{"default", "The server's own defaults.", fixed(nil)},
	{"cached", "A buffer pool of half the memory, so that the data set stays in it; compares CPU and log rather than reads.",
		func(memoryBytes int64) map[string]string {
			return map[string]string{"innodb-buffer-pool-size": strconv.FormatInt(memoryBytes/2>>20<<20, 10)}
		}},
	{"tiny-pool", "A buffer pool of 16 MiB and a key cache of 1 MiB, so that reads reach the filesystem.",
		fixed(map[string]string{"innodb-buffer-pool-size": "16M", "key-buffer-size": "1M"})},
	{"o-direct", "InnoDB's data files past the page cache, a small pool; compares devices rather than caches.",
		fixed(map[string]string{"innodb-flush-method": "O_DIRECT", "innodb-buffer-pool-size": "64M"})},
	{"buffered", "InnoDB's data files through the page cache, flushed by fsync.",
		fixed(map[string]string{"innodb-flush-method": "fsync"})},
	{"durable", "Every commit survives a power cut: log flushed at commit, binary log synced, doublewrite on.",
		fixed(map[string]string{"innodb-flush-log-at-trx-commit": "1", "sync-binlog": "1", "innodb-doublewrite": "ON"})},
	{"relaxed", "The log is written at commit and flushed once a second: a crash of the system loses up to a second.",
		fixed(map[string]string{"innodb-flush-log-at-trx-commit": "2", "sync-binlog": "0"})},
	{"zfs-tuned", "For copy-on-write filesystems that never tear a page: no doublewrite, no native AIO, page cache of the filesystem.",
		fixed(map[string]string{"innodb-doublewrite": "OFF", "innodb-use-native-aio": "OFF", "innodb-flush-method": "fsync"})},
}

// ProfileOptions returns the options of a profile for a machine of that much memory; "" is the default profile.
func ProfileOptions(name string, memoryBytes int64) (map[string]string, error) {
	if name == "" {
		name = "default"
	}
	var names []string
	for _, p := range Profiles {
		if p.Name == name {
			return p.options(memoryBytes), nil
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("server profile %q is unknown; there are %s", name, strings.Join(names, ", "))
}
