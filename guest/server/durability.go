package server

import (
	"fmt"
	"slices"
	"strings"
)

// The durability classes: the worst event that a statement acknowledged to a client survives.
const (
	DurableFull         = "full"          // a power cut
	DurableOSCrash      = "os-crash"      // a crash of the operating system, not a power cut
	DurableProcessCrash = "process-crash" // a crash of the server, not one of the operating system
	DurableNone         = "none"          // not even a crash of the server
)

// durabilityOrder lists the classes from best to worst.
var durabilityOrder = []string{DurableFull, DurableOSCrash, DurableProcessCrash, DurableNone}

// DurabilityFacts is what a durability class is computed from. Empty fields are unknown and lower nothing, but are named
// among the reasons.
type DurabilityFacts struct {
	Flavour      string
	Engine       string            // storage engine of the tables; "" is the server's default engine
	Variables    map[string]string // SHOW GLOBAL VARIABLES
	BinlogOn     bool
	Filesystem   string
	MountOptions string // comma-separated, from mountinfo
	SyncOption   string // zfs: the data set's sync property
	DiskCache    string // libvirt's cache mode in force
	DeviceCache  string // "write back" or "write through" from sysfs, "ignores flushes" when the probe found that
}

// cap lowers the class to at most one, for a reason.
type durabilityCap struct {
	class, reason string
}

// Durability returns the class of a trial and the reasons it is not better. It is pure: every rule is a row below.
func Durability(f DurabilityFacts) (class string, reasons []string) {
	caps := slices.Concat(engineCaps(f), binlogCaps(f), filesystemCaps(f), diskCaps(f))
	worst := 0
	for _, c := range caps {
		worst = max(worst, slices.Index(durabilityOrder, c.class))
		reasons = append(reasons, c.class+": "+c.reason)
	}
	return durabilityOrder[worst], reasons
}

// Worse returns the worse of two classes; "" is no class yet.
func Worse(a, b string) string {
	if slices.Index(durabilityOrder, a) < slices.Index(durabilityOrder, b) {
		return b
	}
	return a
}

func engineCaps(f DurabilityFacts) []durabilityCap {
	engine := strings.ToLower(f.Engine)
	if engine == "" {
		engine = strings.ToLower(f.Variables["default_storage_engine"])
	}
	switch engine {
	case "innodb", "":
		return innodbCaps(f)
	case "rocksdb":
		return flushCaps("rocksdb_flush_log_at_trx_commit", f.Variables["rocksdb_flush_log_at_trx_commit"])
	case "aria":
		return nil // its log is flushed at the end of every statement of a TRANSACTIONAL=1 table, the default
	case "myisam":
		return []durabilityCap{{DurableNone, "MyISAM has no log and never flushes: a crash may leave tables to be repaired"}}
	case "memory", "heap", "blackhole":
		return []durabilityCap{{DurableNone, engine + " keeps nothing on disk"}}
	}
	return []durabilityCap{{DurableNone, engine + " is not known to be crash-safe"}}
}

func innodbCaps(f DurabilityFacts) []durabilityCap {
	v := f.Variables
	caps := flushCaps("innodb_flush_log_at_trx_commit", v["innodb_flush_log_at_trx_commit"])
	if plainValue(v["innodb_doublewrite"]) == "0" && !copyOnWrite(f) {
		caps = append(caps, durabilityCap{DurableProcessCrash, "innodb_doublewrite is off and " + unknownIfEmpty(f.Filesystem, "the filesystem") + " may tear a page"})
	}
	switch strings.ToLower(v["innodb_flush_method"]) {
	case "nosync", "littlesync":
		caps = append(caps, durabilityCap{DurableProcessCrash, "innodb_flush_method=" + v["innodb_flush_method"] + " does not flush"})
	case "o_direct_no_fsync":
		if f.DeviceCache != "write through" {
			caps = append(caps, durabilityCap{DurableOSCrash, "innodb_flush_method=O_DIRECT_NO_FSYNC leaves data in the device's cache"})
		}
	}
	return caps
}

// copyOnWrite tells whether the filesystem never overwrites a block of a file in place.
func copyOnWrite(f DurabilityFacts) bool {
	switch f.Filesystem {
	case "zfs", "nilfs2":
		return true
	case "btrfs":
		return !mounted(f, "nodatacow")
	}
	return false
}

// flushCaps rates the two engines that say by one variable when their log is written and flushed.
func flushCaps(name, value string) []durabilityCap {
	switch plainValue(value) {
	case "1", "3", "":
		return nil
	case "2":
		return []durabilityCap{{DurableProcessCrash, name + "=2 flushes the log once a second, not at commit"}}
	}
	return []durabilityCap{{DurableNone, name + "=" + value + " writes the log once a second, not at commit"}}
}

func binlogCaps(f DurabilityFacts) []durabilityCap {
	if v := f.Variables["sync_binlog"]; f.BinlogOn && v != "" && v != "1" {
		return []durabilityCap{{DurableProcessCrash, "the binary log is on and sync_binlog=" + v}}
	}
	return nil
}

func filesystemCaps(f DurabilityFacts) []durabilityCap {
	var caps []durabilityCap
	switch f.Filesystem {
	case "ext2", "vfat", "exfat":
		caps = append(caps, durabilityCap{DurableProcessCrash, f.Filesystem + " has no journal: files may be lost in a crash"})
	case "tmpfs", "ramfs":
		caps = append(caps, durabilityCap{DurableProcessCrash, f.Filesystem + " is memory"})
	case "zfs":
		if f.SyncOption == "disabled" {
			caps = append(caps, durabilityCap{DurableProcessCrash, "zfs sync=disabled ignores flushes"})
		}
	}
	for _, option := range []string{"nobarrier", "barrier=0", "fsync_mode=nobarrier"} {
		if mounted(f, option) {
			caps = append(caps, durabilityCap{DurableOSCrash, fmt.Sprintf("mounted %s: the device's cache is not flushed", option)})
		}
	}
	return caps
}

func mounted(f DurabilityFacts, option string) bool {
	return slices.Contains(strings.Split(f.MountOptions, ","), option)
}

func diskCaps(f DurabilityFacts) []durabilityCap {
	var caps []durabilityCap
	if f.DiskCache == "unsafe" {
		caps = append(caps, durabilityCap{DurableOSCrash, "the virtual disk ignores flushes (cache=unsafe)"})
	}
	if f.DeviceCache == "ignores flushes" {
		caps = append(caps, durabilityCap{DurableOSCrash, "the device was seen to ignore flushes"})
	}
	return caps
}

func unknownIfEmpty(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
