package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// System reads the kernel's view of the machine below Root, which is "/" outside of tests.
type System struct{ Root string }

// BlockDevice is a whole block device as sysfs describes it.
type BlockDevice struct {
	Name               string // kernel name: a label for the record, never a way to choose
	Node               string // device node
	MajorMinor         string
	Serial             string
	SizeBytes          int64
	LogicalBlockBytes  int64
	PhysicalBlockBytes int64
	Rotational         bool
	ReadOnly           bool
	WriteCache         string // write back, write through
	Bus                string // virtio, scsi, sata, nvme, or "" when unknown
	Model              string
	Holders            []string // kernel names of devices built on it
	Partitions         []string
}

// BlockDevices lists the real disks: devices of the kernel's own making (loop, dm, md, ram) are left out.
func (s System) BlockDevices() ([]BlockDevice, error) {
	entries, err := os.ReadDir(s.path("/sys/block"))
	if err != nil {
		return nil, fmt.Errorf("list disks: %w", err)
	}
	var devices []BlockDevice
	for _, e := range entries {
		link, err := filepath.EvalSymlinks(s.path("/sys/block/" + e.Name()))
		if err != nil || strings.Contains(link, "/devices/virtual/") {
			continue
		}
		devices = append(devices, s.BlockDevice(e.Name()))
	}
	slices.SortFunc(devices, func(a, b BlockDevice) int { return strings.Compare(a.Name, b.Name) })
	return devices, nil
}

// BlockDevice reads one device by its kernel name; what cannot be read stays zero.
func (s System) BlockDevice(name string) BlockDevice {
	dir := "/sys/block/" + name
	d := BlockDevice{
		Name: name, Node: "/dev/" + strings.ReplaceAll(name, "!", "/"),
		MajorMinor: s.text(dir + "/dev"),
		Serial:     s.serial(dir),
		// The size attribute counts 512 bytes whatever the logical block is.
		SizeBytes:          s.number(dir+"/size") * 512,
		LogicalBlockBytes:  s.number(dir + "/queue/logical_block_size"),
		PhysicalBlockBytes: s.number(dir + "/queue/physical_block_size"),
		Rotational:         s.number(dir+"/queue/rotational") == 1,
		ReadOnly:           s.number(dir+"/ro") == 1,
		WriteCache:         s.text(dir + "/queue/write_cache"),
		Model:              s.text(dir + "/device/model"),
		Holders:            s.names(dir + "/holders"),
	}
	d.Bus = s.bus(name, dir)
	for _, child := range s.names(dir) {
		if _, err := os.Stat(s.path(dir + "/" + child + "/partition")); err == nil {
			d.Partitions = append(d.Partitions, child)
			d.Holders = append(d.Holders, s.names(dir+"/"+child+"/holders")...)
		}
	}
	return d
}

// serial reads the kernel's serial: virtio has it on the disk, nvme on the controller, scsi and sata in
// the vital product data page 0x80.
func (s System) serial(dir string) string {
	for _, attribute := range []string{"/serial", "/device/serial"} {
		if v := s.text(dir + attribute); v != "" {
			return v
		}
	}
	page, err := os.ReadFile(s.path(dir + "/device/vpd_pg80"))
	if err != nil || len(page) < 4 || page[1] != 0x80 {
		return ""
	}
	length := min(int(page[2])<<8|int(page[3]), len(page)-4)
	return strings.Trim(string(page[4:4+length]), " \x00\n")
}

func (s System) bus(name, dir string) string {
	link, err := filepath.EvalSymlinks(s.path(dir))
	switch {
	case strings.HasPrefix(name, "nvme"):
		return "nvme"
	case err != nil:
		return ""
	case strings.Contains(link, "/ata"):
		return "sata"
	case strings.Contains(link, "/usb"):
		return "usb"
	case strings.Contains(link, "/host") && strings.Contains(link, "/target"):
		return "scsi"
	case strings.HasPrefix(name, "vd"):
		return "virtio"
	}
	return ""
}

// String is the line about a device in messages about devices that are there.
func (d BlockDevice) String() string {
	return fmt.Sprintf("%s serial=%q size=%d bus=%s", d.Name, d.Serial, d.SizeBytes, d.Bus)
}

func (s System) path(p string) string { return filepath.Join(s.Root, p) }

func (s System) text(p string) string {
	b, err := os.ReadFile(s.path(p))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (s System) number(p string) int64 {
	n, err := strconv.ParseInt(s.text(p), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s System) names(p string) []string {
	entries, err := os.ReadDir(s.path(p))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
