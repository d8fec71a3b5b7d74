package storage

import (
	"flag"

	"platter/guest"
)

var (
	vm     = flag.Bool("vm", false, "also run the real mkfs programs of this machine")
	update = flag.Bool("update", false, "rewrite the golden files")
)

// fullOptions has, for each filesystem, a valid value of every option it declares. They are those the
// read-back fixtures were made with (testdata/readback, Debian 13), where one command can take them all.
var fullOptions = map[string]map[string]string{
	"ext2": {"blocksize": "4k", "inode_size": "256", "inode_ratio": "16384", "reserved_ratio": "2", "features": "^resize_inode",
		"stride": "16", "stripe_width": "48", "lazy_itable_init": "1", "discard": "0", "usage_type": "largefile"},
	"ext3": {"blocksize": "4k", "inode_size": "256", "inode_ratio": "16384", "reserved_ratio": "2.5", "features": "dir_index",
		"stride": "16", "stripe_width": "48", "lazy_itable_init": "0", "discard": "1", "usage_type": "largefile",
		"journal_size": "32", "lazy_journal_init": "1"},
	"ext4": {"blocksize": "4096", "inode_size": "512", "inode_ratio": "16k", "reserved_ratio": "2", "features": "^dir_index",
		"stride": "16", "stripe_width": "48", "lazy_itable_init": "0", "discard": "0", "usage_type": "news",
		"journal_size": "32", "lazy_journal_init": "0"},
	"xfs": {"block.size": "4096", "sector.size": "4096", "data.agcount": "8", "data.agsize": "64m", "data.su": "64k", "data.sw": "3",
		"inode.size": "1024", "inode.maxpct": "10", "inode.sparse": "1", "inode.nrext64": "1", "log.size": "64m", "log.su": "64k",
		"log.lazy-count": "1", "log.version": "2", "naming.size": "8192", "naming.version": "2", "naming.ftype": "1",
		"metadata.crc": "1", "metadata.finobt": "1", "metadata.rmapbt": "1", "metadata.reflink": "0", "metadata.bigtime": "1",
		"metadata.inobtcount": "1"},
	"btrfs":    {"nodesize": "32k", "sectorsize": "4096", "checksum": "xxhash", "features": "^no-holes", "discard": "0"},
	"f2fs":     {"overprovision_ratio_percentage": "10", "segments_per_section": "2", "sections_per_zone": "3", "features": "extra_attr", "discard": "0"},
	"jfs":      {"journal_size": "8", "case_insensitive": "1"},
	"nilfs2":   {"block-size": "2048", "blocks-per-segment": "1024", "reserved-segments-percentage": "7", "features": "block_count", "discard": "0"},
	"reiserfs": {"hash": "tea", "format": "3.6", "journal-size": "1024", "transaction-max-size": "256"},
	"vfat":     {"fat_size": "32", "sectors_per_cluster": "8", "sector_size": "512", "fats": "1", "reserved_sectors": "64"},
	"exfat":    {"cluster-size": "64k", "boundary-align": "4m", "pack-bitmap": "1"},
	"gfs2":     {"journals": "3", "journal_size": "16", "block_size": "2048", "resource_group_size": "64", "discard": "0"},
	"zfs": {"recordsize": "16k", "compression": "off", "atime": "on", "relatime": "off", "logbias": "latency", "sync": "standard",
		"primarycache": "all", "secondarycache": "none", "checksum": "on", "copies": "1", "redundant_metadata": "all",
		"xattr": "sa", "dnodesize": "auto", "direct": "standard"},
}

// exclusive names options that a command cannot have together with the others of fullOptions.
var exclusive = map[string][]string{"xfs": {"data.agsize"}}

// full is a storage with every option and the longest label there may be.
func full(fs Filesystem) guest.Storage {
	s := guest.Storage{Filesystem: fs.Name, Options: map[string]string{}, Layout: guest.Layout{Kind: "disk", Disk: "a"}}
	for k, v := range fullOptions[fs.Name] {
		s.Options[k] = v
	}
	for _, k := range exclusive[fs.Name] {
		delete(s.Options, k)
	}
	for range min(fs.LabelMax, 16) {
		s.Label += "L"
	}
	return s
}

// disks are a to f, each of the size.
func disks(size int64) []guest.Disk {
	var ds []guest.Disk
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		ds = append(ds, guest.Disk{Name: n, Serial: "serial-" + n, SizeBytes: size})
	}
	return ds
}

// on is a layout node of disks.
func on(kind string, options map[string]string, names ...string) guest.Layout {
	l := guest.Layout{Kind: kind, Options: options}
	for _, n := range names {
		l.Of = append(l.Of, guest.Layout{Kind: "disk", Disk: n})
	}
	return l
}
