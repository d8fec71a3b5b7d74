package blockdev

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tree reads single values below an fs.FS that holds sys, proc and dev.
type tree struct{ fs.FS }

// text is a file's content without white space around it, "" when it cannot be read.
func (t tree) text(name string) string {
	data, err := fs.ReadFile(t.FS, name)
	if err != nil {
		return ""
	}
	return strings.Trim(string(data), " \t\n\x00")
}

func (t tree) number(name string) int64 {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// names lists a directory, nil when it is not there.
func (t tree) names(dir string) []string {
	entries, err := fs.ReadDir(t.FS, dir)
	if err != nil {
		return nil
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out
}

func (t tree) exists(name string) bool {
	_, err := fs.Stat(t.FS, name)
	return err == nil
}

func (t tree) link(name string) string {
	target, err := fs.ReadLink(t.FS, name)
	if err != nil {
		return ""
	}
	return target
}

// device is one block device of the kernel: a disk, a partition, or something built on others.
type device struct {
	name       string // kernel name
	number     string // major:minor
	dir        string // its directory below the tree
	disk       string // the disk a partition belongs to
	partition  int
	partitions []string
	holders    []string
}

// devices reads every block device, partitions included, by kernel name.
func (t tree) devices() (map[string]*device, error) {
	entries, err := fs.ReadDir(t.FS, "sys/block")
	if err != nil {
		return nil, fmt.Errorf("list block devices: %w", err)
	}
	out := map[string]*device{}
	for _, e := range entries {
		d := t.device("sys/block/"+e.Name(), e.Name())
		for _, child := range t.names(d.dir) {
			if !t.exists(d.dir + "/" + child + "/partition") {
				continue
			}
			p := t.device(d.dir+"/"+child, child)
			p.disk, p.partition = d.name, int(t.number(p.dir+"/partition"))
			d.partitions = append(d.partitions, child)
			out[child] = p
		}
		out[d.name] = d
	}
	return out, nil
}

func (t tree) device(dir, name string) *device {
	return &device{name: name, dir: dir, number: t.text(dir + "/dev"), holders: t.names(dir + "/holders")}
}

// nodeOf is the device node of a kernel name; sysfs writes / as !.
func nodeOf(name string) string { return "/dev/" + strings.ReplaceAll(name, "!", "/") }

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// passport reads what a disk says of itself.
func (t tree) passport(d *device) Passport {
	queue := d.dir + "/queue/"
	p := Passport{
		Serial: t.serial(d.dir), WWN: first(t.text(d.dir+"/wwid"), t.text(d.dir+"/device/wwid"), t.text(d.dir+"/nguid")),
		Model: t.text(d.dir + "/device/model"), Firmware: first(t.text(d.dir+"/device/firmware_rev"), t.text(d.dir+"/device/rev")),
		SizeBytes:          t.number(d.dir+"/size") * 512, // whatever the logical block is
		LogicalBlockBytes:  t.number(queue + "logical_block_size"),
		PhysicalBlockBytes: t.number(queue + "physical_block_size"),
	}
	if text := t.text(queue + "rotational"); text != "" {
		yes := text == "1"
		p.Rotational = &yes
	}
	t.place(d, &p)
	if p.Transport == "nvme" {
		p.Namespace = int(t.number(d.dir + "/nsid"))
	}
	return p
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// serial reads the kernel's serial: virtio has it on the disk, nvme on the controller, scsi and sata in the vital product
// data page 0x80.
func (t tree) serial(dir string) string {
	if s := first(t.text(dir+"/serial"), t.text(dir+"/device/serial")); s != "" {
		return s
	}
	page, err := fs.ReadFile(t.FS, dir+"/device/vpd_pg80")
	if err != nil || len(page) < 4 || page[1] != 0x80 {
		return ""
	}
	length := min(int(page[2])<<8|int(page[3]), len(page)-4)
	return strings.Trim(string(page[4:4+length]), " \x00\n")
}

// place fills in where a disk hangs: its sysfs path names every bus on the way to it.
func (t tree) place(d *device, p *Passport) {
	way := strings.Split(t.link(d.dir), "/")
	p.Transport = transport(d.name, way)
	for _, part := range way {
		if pciAddress.MatchString(part) {
			p.PCIAddress = part // the last is the nearest
		}
	}
	if p.PCIAddress == "" {
		return
	}
	dir := "sys/bus/pci/devices/" + p.PCIAddress
	if node, err := strconv.Atoi(t.text(dir + "/numa_node")); err == nil && node >= 0 {
		p.NUMANode = &node
	}
	if group, err := strconv.Atoi(path.Base(t.link(dir + "/iommu_group"))); err == nil {
		p.IOMMUGroup = &group
	}
}

// transport tells the bus from the names of the directories that lead to a disk.
func transport(name string, way []string) string {
	has := func(prefix string) bool {
		return slices.ContainsFunc(way, func(part string) bool { return strings.HasPrefix(part, prefix) })
	}
	switch {
	case strings.HasPrefix(name, "loop"):
		return "loop"
	case strings.HasPrefix(name, "nvme"):
		return "nvme"
	case has("usb"):
		return "usb"
	case has("ata"):
		return "sata"
	case has("end_device-"), has("expander-"):
		return "sas"
	case has("target"):
		return "scsi"
	case strings.HasPrefix(name, "vd"):
		return "virtio"
	}
	return ""
}

// built are the kernel names of what is no disk: devices made of others or of memory, optical drives, floppies.
var built = []string{"ram", "zram", "dm-", "md", "sr", "fd", "bcache", "nbd", "zd", "drbd"}

// isDisk tells a disk that has a size from everything else.
func (t tree) isDisk(d *device) bool {
	return d.partition == 0 && t.number(d.dir+"/size") > 0 &&
		!slices.ContainsFunc(built, func(prefix string) bool { return strings.HasPrefix(d.name, prefix) })
}
