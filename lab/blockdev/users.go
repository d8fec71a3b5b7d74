package blockdev

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// holders refuses disks that other block devices are built on, in that device's own words.
func (s *survey) holders() {
	for _, d := range s.devices {
		for _, name := range d.holders {
			h := s.devices[name]
			if h == nil {
				s.refuse(d.name, Stacked, "is held by "+name)
				continue
			}
			code, text := s.membership(h)
			s.refuse(d.name, code, text)
		}
	}
}

// membership says what it means to be held by a device.
func (s *survey) membership(h *device) (code, text string) {
	uuid, name := s.text(h.dir+"/dm/uuid"), s.text(h.dir+"/dm/name")
	switch {
	case strings.HasPrefix(uuid, "LVM-"):
		return LVM, "is a physical volume of LVM, and " + name + " is active on it"
	case strings.HasPrefix(uuid, "CRYPT-"):
		return Crypt, "is encrypted, and opened as " + name
	case strings.HasPrefix(uuid, "mpath-"):
		return Multipath, "is a path of the multipath device " + name
	case strings.HasPrefix(h.name, "dm-"):
		return DM, "is a target of the device-mapper device " + first(name, h.name)
	case strings.HasPrefix(h.name, "md"):
		return MD, "is a member of " + h.name
	case strings.HasPrefix(h.name, "bcache"):
		return Bcache, "belongs to " + h.name
	}
	return Stacked, "is held by " + h.name
}

// loopHolders makes a loop device over a block device a holder of it, which the kernel does not say.
func (s *survey) loopHolders() {
	for _, l := range s.devices {
		file := s.text(l.dir + "/loop/backing_file")
		if below := s.byNode(file); below != nil && below != l {
			below.holders = append(below.holders, l.name)
		}
	}
}

// byNode finds the device behind a path in /dev, through whatever links.
func (s *survey) byNode(node string) *device {
	if !strings.HasPrefix(node, "/dev/") {
		return nil
	}
	if info, err := fs.Stat(s.FS, strings.TrimPrefix(node, "/")); err == nil {
		if number, ok := deviceNumber(info); ok {
			return s.byNumber[number]
		}
	}
	return s.devices[strings.ReplaceAll(strings.TrimPrefix(node, "/dev/"), "/", "!")]
}

// deviceNumber is major:minor of a block device node.
func deviceNumber(info fs.FileInfo) (string, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st == nil || info.Mode()&(fs.ModeDevice|fs.ModeCharDevice) != fs.ModeDevice {
		return "", false
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)), true
}

// fileIdentity is device and inode of a file.
func fileIdentity(info fs.FileInfo) (Backing, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st == nil {
		return Backing{}, false
	}
	return Backing{Device: uint64(st.Dev), Inode: st.Ino}, true
}

// links are the stable names of a disk.
func (s *survey) links(d *device) []string {
	var out []string
	for _, dir := range []string{"dev/disk/by-id", "dev/disk/by-path"} {
		for _, name := range s.names(dir) {
			if path.Base(s.link(dir+"/"+name)) == path.Base(nodeOf(d.name)) {
				out = append(out, "/"+dir+"/"+name)
			}
		}
	}
	return out
}

// system are the mount points a host runs from.
var system = []string{"/", "/boot", "/boot/efi", "/usr", "/var"}

// mounts looks into every mount namespace: a filesystem may be mounted in none that we see from here.
func (s *survey) mounts() {
	seen := map[string]bool{}
	for _, pid := range slices.Concat([]string{"self", "1"}, s.processes()) {
		namespace := s.link("proc/" + pid + "/ns/mnt")
		if namespace != "" && seen[namespace] {
			continue
		}
		seen[namespace] = true
		data, err := fs.ReadFile(s.FS, "proc/"+pid+"/mountinfo")
		if err != nil {
			continue // the process has ended, or is another user's: the exclusive open will tell
		}
		list, err := mountinfo.GetMountsFromReader(bytes.NewReader(data), nil)
		if err != nil {
			continue
		}
		for _, m := range list {
			s.mount(m)
		}
	}
	s.btrfs()
}

func (s *survey) mount(m *mountinfo.Info) {
	d := s.byNumber[fmt.Sprintf("%d:%d", m.Major, m.Minor)]
	if d == nil {
		d = s.byNode(m.Source) // btrfs and others show a number of their own
	}
	if d == nil {
		return
	}
	if slices.Contains(system, m.Mountpoint) {
		what := map[bool]string{true: "the root filesystem", false: m.Mountpoint}[m.Mountpoint == "/"]
		s.refuse(d.name, RootDisk, "holds "+what)
		return
	}
	s.refuse(d.name, Mounted, "is mounted on "+m.Mountpoint)
}

// btrfs refuses every member of a mounted btrfs: mounts name only one of them.
func (s *survey) btrfs() {
	for _, id := range s.names("sys/fs/btrfs") {
		for _, member := range s.names("sys/fs/btrfs/" + id + "/devices") {
			s.refuse(member, Mounted, "is a member of the mounted btrfs "+id)
		}
	}
}

// swaps refuses swap space and the device that a suspended host resumes from.
func (s *survey) swaps() {
	for i, line := range strings.Split(s.text("proc/swaps"), "\n") {
		fields := strings.Fields(line)
		if i == 0 || len(fields) == 0 {
			continue
		}
		if d := s.byNode(strings.ReplaceAll(fields[0], `\040`, " ")); d != nil {
			s.refuse(d.name, Swap, "is swap space in use")
		}
	}
	if d := s.byNumber[s.text("sys/power/resume")]; d != nil {
		s.refuse(d.name, Swap, "is where the host resumes from after hibernation")
	}
	for _, word := range strings.Fields(s.text("proc/cmdline")) {
		if node, ok := strings.CutPrefix(word, "resume="); ok {
			if d := s.byNode(node); d != nil {
				s.refuse(d.name, Swap, "is where the host resumes from after hibernation")
			}
		}
	}
}

func (s *survey) processes() []string {
	return slices.DeleteFunc(s.names("proc"), func(name string) bool {
		_, err := strconv.Atoi(name)
		return err != nil
	})
}

// openFiles refuses disks that a process has open, which nothing else shows.
func (s *survey) openFiles() {
	for _, pid := range s.processes() {
		if pid == strconv.Itoa(s.host.PID) {
			continue
		}
		dir := "proc/" + pid + "/fd/"
		for _, fd := range s.names(dir[:len(dir)-1]) {
			// What is no file at all need not be looked at: there are thousands of them.
			target := s.link(dir + fd)
			if target == "" || target[0] != '/' {
				continue
			}
			d := s.byNode(target)
			if info, err := fs.Stat(s.FS, dir+fd); err == nil { // the link may show a name of another namespace
				number, _ := deviceNumber(info)
				d = s.byNumber[number]
			}
			if d != nil {
				s.refuse(d.name, Open, "is open in "+s.process(pid))
			}
		}
	}
}

// process describes a process; of a QEMU of libvirt's it says which domain.
func (s *survey) process(pid string) string {
	words := strings.Split(s.text("proc/"+pid+"/cmdline"), "\x00")
	name := s.text("proc/" + pid + "/comm")
	if words[0] != "" {
		name = path.Base(words[0])
	}
	if name == "" {
		return "process " + pid
	}
	for _, word := range words {
		if guest, ok := strings.CutPrefix(word, "guest="); ok {
			guest, _, _ = strings.Cut(guest, ",")
			return "the machine " + guest + " (" + name + ", process " + pid + ")"
		}
	}
	return name + " (process " + pid + ")"
}
