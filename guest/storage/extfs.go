package storage

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"platter/guest"
)

// extfs is the shape ext2, ext3 and ext4 share: one set of tools and one kernel driver.
func extfs(name string, journal bool, minBytes int64, maxFile int64, cannot ...string) Filesystem {
	return Filesystem{
		Name: name, Type: name, Module: "ext4",
		Tools:    []string{"mke2fs", "dumpe2fs"},
		Packages: []string{"e2fsprogs"},
		Options:  extOptions(journal),
		LabelMax: 16, MinBytes: minBytes, MaxFile: maxFile,
		CannotDo: cannot,
		Check:    checkExt,
		Mkfs: func(s guest.Storage, t Target) [][]string {
			return [][]string{mke2fs(name, journal, s, t)}
		},
		Mount: mountDevice(name), Unmount: unmountDir,
		ReadBack: func(ctx context.Context, ex Exec, _ guest.Storage, t Target, _ Place) (map[string]string, error) {
			out, err := ex.Run(ctx, "dumpe2fs", "-h", t.Device())
			if err != nil {
				return nil, err
			}
			return colonFacts(string(out)), nil
		},
		Effective: effectiveExt, Busy: neverBusy, DropCaches: noCaches,
	}
}

// extOptions are named as in mke2fs.conf(5) and in mke2fs -E.
func extOptions(journal bool) []Option {
	o := []Option{
		{"blocksize", "block size in bytes (-b)", powerOfTwo(1024, 65536)},
		{"inode_size", "inode size in bytes (-I)", powerOfTwo(128, 4096)},
		{"inode_ratio", "bytes of disk for each inode (-i)", size(1024, 64<<20)},
		{"reserved_ratio", "percentage reserved for root (-m)", matching(`[0-9]{1,2}(\.[0-9]+)?`, "a percentage from 0 to 50")},
		{"features", "features to set or, with ^, to clear (-O)", matching(`\^?[a-z0-9_]+(,\^?[a-z0-9_]+)*`, "a list of features such as ^has_journal,dir_index")},
		{"stride", "RAID chunk in blocks (-E)", number(1, 1<<20)},
		{"stripe_width", "RAID stripe in blocks (-E)", number(1, 1<<24)},
		{"lazy_itable_init", "0 writes inode tables at once (-E, our default 0)", bit},
		{"discard", "1 discards the device first (-E)", bit},
		{"usage_type", "profile of mke2fs.conf (-T)", matching(`[a-z0-9]+(,[a-z0-9]+)*`, "a list of usage types")},
	}
	if journal {
		o = append(o,
			Option{"journal_size", "journal in MiB (-J size)", number(1, 40000)},
			Option{"lazy_journal_init", "0 zeroes the journal at once (-E, our default 0)", bit})
	}
	return o
}

func mke2fs(fstype string, journal bool, s guest.Storage, t Target) []string {
	argv := []string{"mke2fs", "-t", fstype}
	for _, o := range []struct{ name, flag string }{
		{"usage_type", "-T"}, {"blocksize", "-b"}, {"inode_size", "-I"}, {"inode_ratio", "-i"},
		{"reserved_ratio", "-m"}, {"features", "-O"},
	} {
		if v := s.Options[o.name]; v != "" {
			argv = append(argv, o.flag, plainBytes(v))
		}
	}
	if v := s.Options["journal_size"]; v != "" {
		argv = append(argv, "-J", "size="+v)
	}
	if s.Label != "" {
		argv = append(argv, "-L", s.Label)
	}
	extended := []string{"lazy_itable_init=" + orDefault(s.Options["lazy_itable_init"], "0")}
	if journal {
		extended = append(extended, "lazy_journal_init="+orDefault(s.Options["lazy_journal_init"], "0"))
	}
	for _, name := range []string{"stride", "stripe_width"} {
		if v := s.Options[name]; v != "" {
			extended = append(extended, name+"="+v)
		}
	}
	switch s.Options["discard"] {
	case "0":
		extended = append(extended, "nodiscard")
	case "1":
		extended = append(extended, "discard")
	}
	return append(argv, "-E", strings.Join(extended, ","), t.Device())
}

// plainBytes writes 4k as 4096 for tools that take plain numbers, and leaves anything else alone.
func plainBytes(v string) string {
	if n, err := ParseSize(v); err == nil {
		return strconv.FormatInt(n, 10)
	}
	return v
}

func orDefault(v, fallback string) string {
	if v == "" {
		return fallback
	}
	return v
}

func checkExt(s guest.Storage, t Target) []error {
	var errs []error
	block := int64(4096)
	if v := s.Options["blocksize"]; v != "" {
		block, _ = ParseSize(v)
		if t.LogicalBlockBytes > block {
			errs = append(errs, fmt.Errorf("filesystem %s: blocksize %s is under the disk's logical block of %d bytes", s.Filesystem, v, t.LogicalBlockBytes))
		}
		if block > 4096 {
			errs = append(errs, fmt.Errorf("filesystem %s: blocksize %s is over the 4096 bytes of a memory page and cannot be mounted", s.Filesystem, v))
		}
	}
	if v := s.Options["inode_size"]; v != "" {
		if n, _ := ParseSize(v); n > block {
			errs = append(errs, fmt.Errorf("filesystem %s: inode_size %s is over the block size", s.Filesystem, v))
		}
	}
	if v := s.Options["reserved_ratio"]; v != "" {
		if f, err := strconv.ParseFloat(v, 64); err != nil || f > 50 {
			errs = append(errs, fmt.Errorf("filesystem %s: reserved_ratio %s is over 50", s.Filesystem, v))
		}
	}
	return errs
}

var colonLine = regexp.MustCompile(`^([A-Za-z#][^:]*):\s+(.*)$`)

// colonFacts reads "Name:   value" lines, the form of dumpe2fs and others.
func colonFacts(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if m := colonLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			facts[m[1]] = strings.TrimSpace(m[2])
		}
	}
	return facts
}

func effectiveExt(facts map[string]string) map[string]string {
	e := map[string]string{}
	for option, fact := range map[string]string{
		"blocksize": "Block size", "inode_size": "Inode size", "features": "Filesystem features",
		"label": "Filesystem volume name", "stride": "RAID stride", "stripe_width": "RAID stripe width",
	} {
		if v, ok := facts[fact]; ok {
			e[option] = v
		}
	}
	if v, ok := facts["Total journal size"]; ok {
		if n, err := ParseSize(v); err == nil {
			e["journal_size"] = strconv.FormatInt(n>>20, 10)
		}
	}
	blocks, reserved := factNumber(facts, "Block count"), factNumber(facts, "Reserved block count")
	if blocks > 0 {
		e["reserved_ratio"] = strconv.FormatFloat(float64(int64(1000*reserved/blocks+0.5))/10, 'g', -1, 64)
	}
	return e
}

func factNumber(facts map[string]string, key string) float64 {
	n, err := strconv.ParseFloat(facts[key], 64)
	if err != nil {
		return 0
	}
	return n
}
