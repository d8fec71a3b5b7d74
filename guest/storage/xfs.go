package storage

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"platter/guest"
)

func init() {
	registerFilesystem(Filesystem{
		Name: "xfs", Type: "xfs", Module: "xfs",
		Tools:    []string{"mkfs.xfs", "xfs_info", "xfs_admin"},
		Packages: []string{"xfsprogs"},
		Options:  xfsOptions,
		LabelMax: 12,
		MinBytes: 300 << 20,
		Check:    checkXFS,
		Mkfs:     func(s guest.Storage, t Target) [][]string { return [][]string{mkfsXFS(s, t)} },
		Mount:    mountDevice("xfs"), Unmount: unmountDir,
		ReadBack:  readBackXFS,
		Effective: effectiveXFS,
		Busy:      neverBusy, DropCaches: noCaches,
	})
}

// xfsOptions are named section.key, with the sections and keys of mkfs.xfs's own configuration files.
var xfsOptions = []Option{
	{"block.size", "block size in bytes", powerOfTwo(512, 65536)},
	{"sector.size", "sector size in bytes", powerOfTwo(512, 32768)},
	{"data.agcount", "number of allocation groups", number(1, 1<<20)},
	{"data.agsize", "size of an allocation group", size(16<<20, 1<<40)},
	{"data.su", "RAID chunk", size(512, 1<<30)},
	{"data.sw", "RAID data disks", number(1, 1024)},
	{"inode.size", "inode size in bytes", powerOfTwo(256, 2048)},
	{"inode.maxpct", "most percent of the space inodes may take", number(0, 100)},
	{"inode.sparse", "sparse inode allocation", bit},
	{"inode.nrext64", "large extent counters", bit},
	{"log.size", "size of the log", size(1<<20, 2<<30-10<<20)},
	{"log.su", "log stripe unit", size(512, 256<<10)},
	{"log.lazy-count", "lazy superblock counters", bit},
	{"log.version", "log format", oneOf("1", "2")},
	{"naming.size", "directory block size", powerOfTwo(512, 65536)},
	{"naming.version", "ci folds the case of ASCII names", oneOf("2", "ci")},
	{"naming.ftype", "file type in directory entries", bit},
	{"metadata.crc", "checksums on metadata", bit},
	{"metadata.finobt", "free inode tree", bit},
	{"metadata.rmapbt", "reverse mapping tree", bit},
	{"metadata.reflink", "shared extents", bit},
	{"metadata.bigtime", "time stamps past 2038", bit},
	{"metadata.inobtcount", "inode tree counters", bit},
}

// xfsFlags are the sections in the order of the manual page.
var xfsFlags = []struct{ section, flag string }{
	{"block", "-b"}, {"metadata", "-m"}, {"data", "-d"}, {"inode", "-i"}, {"log", "-l"}, {"naming", "-n"}, {"sector", "-s"},
}

func mkfsXFS(s guest.Storage, t Target) []string {
	argv := []string{"mkfs.xfs"}
	for _, f := range xfsFlags {
		var values []string
		for _, name := range sortedKeys(s.Options) {
			if key, ok := strings.CutPrefix(name, f.section+"."); ok {
				values = append(values, key+"="+s.Options[name])
			}
		}
		if len(values) > 0 {
			argv = append(argv, f.flag, strings.Join(values, ","))
		}
	}
	if s.Label != "" {
		argv = append(argv, "-L", s.Label)
	}
	return append(argv, t.Device())
}

func checkXFS(s guest.Storage, t Target) []error {
	var errs []error
	for _, name := range []string{"sector.size", "block.size"} {
		v := s.Options[name]
		if n, err := ParseSize(v); v != "" && err == nil && n < t.LogicalBlockBytes {
			errs = append(errs, fmt.Errorf("filesystem xfs: %s %s is under the disk's logical block of %d bytes", name, v, t.LogicalBlockBytes))
		}
	}
	if s.Options["data.agcount"] != "" && s.Options["data.agsize"] != "" {
		errs = append(errs, fmt.Errorf("filesystem xfs: data.agcount and data.agsize exclude each other"))
	}
	return errs
}

func readBackXFS(ctx context.Context, ex Exec, _ guest.Storage, t Target, p Place) (map[string]string, error) {
	out, err := ex.Run(ctx, "xfs_info", p.Dir)
	if err != nil {
		return nil, err
	}
	facts := parseXFSInfo(string(out))
	// The label of a mounted filesystem is asked of the device: xfs_admin only reads with -l.
	if label, err := ex.Run(ctx, "xfs_admin", "-l", t.Device()); err == nil {
		facts["label"] = strings.Trim(strings.TrimPrefix(strings.TrimSpace(string(label)), "label = "), `"`)
	}
	return facts, nil
}

var (
	xfsSection = regexp.MustCompile(`^([a-z-]+)\s*=`)
	xfsPair    = regexp.MustCompile(`([a-z0-9-]+)=\s*([^\s,]+)`)
)

// parseXFSInfo names facts section.key as xfs_info prints them: data.bsize, meta-data.agcount …
func parseXFSInfo(text string) map[string]string {
	facts := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		if m := xfsSection.FindStringSubmatch(line); m != nil {
			section, line = m[1], line[len(m[0]):]
		}
		for _, m := range xfsPair.FindAllStringSubmatch(line, -1) {
			facts[section+"."+m[1]] = m[2]
		}
	}
	return facts
}

func effectiveXFS(facts map[string]string) map[string]string {
	e := map[string]string{}
	for option, fact := range map[string]string{
		"block.size": "data.bsize", "sector.size": "meta-data.sectsz", "data.agcount": "meta-data.agcount",
		"inode.size": "meta-data.isize", "inode.maxpct": "data.imaxpct", "inode.sparse": "meta-data.sparse",
		"inode.nrext64": "meta-data.nrext64", "log.lazy-count": "log.lazy-count", "naming.size": "naming.bsize",
		"naming.ftype": "naming.ftype", "metadata.crc": "meta-data.crc", "metadata.finobt": "meta-data.finobt",
		"metadata.rmapbt": "meta-data.rmapbt", "metadata.reflink": "meta-data.reflink",
		"metadata.bigtime": "meta-data.bigtime", "metadata.inobtcount": "meta-data.inobtcount", "label": "label",
	} {
		if v, ok := facts[fact]; ok {
			e[option] = v
		}
	}
	block := factNumber(facts, "data.bsize")
	for option, fact := range map[string]string{
		"log.size": "log.blocks", "data.agsize": "meta-data.agsize", "data.su": "data.sunit", "log.su": "log.sunit",
	} {
		if n := factNumber(facts, fact); n > 0 && block > 0 {
			e[option] = fmt.Sprintf("%.0f", n*block)
		}
	}
	if unit := factNumber(facts, "data.sunit"); unit > 0 {
		e["data.sw"] = fmt.Sprintf("%.0f", factNumber(facts, "data.swidth")/unit)
	}
	return e
}
