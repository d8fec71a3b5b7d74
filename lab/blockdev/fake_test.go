package blockdev

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

var vm = flag.Bool("vm", false, "also run the tests on real loop devices and machines; they need root, libvirt and QEMU")

// fake is a made-up host: files of /sys, /proc and /dev and what the probes say of its nodes.
type fake struct {
	files      fstest.MapFS
	busy       map[string]error
	signatures map[string][]Signature
	unreadable map[string]bool
	backing    map[string]Backing
	minor      uint32
	numbers    map[string]uint32 // kernel name → minor
}

func newFake() *fake {
	f := &fake{files: fstest.MapFS{}, busy: map[string]error{}, signatures: map[string][]Signature{}, unreadable: map[string]bool{},
		backing: map[string]Backing{}, numbers: map[string]uint32{}}
	f.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n")
	f.file("proc/cmdline", "quiet")
	f.process("1", "mnt:[1]", "systemd")
	return f
}

func (f *fake) host() Host {
	return Host{
		FS: f.files, PID: 99,
		Signatures: func(node string) ([]Signature, error) {
			if f.unreadable[node] {
				return nil, &fs.PathError{Op: "open", Path: node, Err: fs.ErrPermission}
			}
			return f.signatures[node], nil
		},
		Exclusive: func(node string) error { return f.busy[node] },
		Backing: func(node, _ string) (Backing, error) {
			b, ok := f.backing[node]
			if !ok {
				return Backing{}, errors.New("attached to no file")
			}
			return b, nil
		},
	}
}

func (f *fake) file(name, content string) { f.files[name] = &fstest.MapFile{Data: []byte(content)} }

func (f *fake) symlink(name, target string) {
	f.files[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

const fakeMajor = 259

// device makes a block device with a node; dir is its directory below sys/devices.
func (f *fake) device(name, dir string) {
	f.minor++
	f.numbers[name] = f.minor
	f.file(dir+"/dev", f.number(name)+"\n")
	f.files["dev/"+name] = f.node(name)
}

func (f *fake) number(name string) string { return fmt.Sprintf("%d:%d", fakeMajor, f.numbers[name]) }

func (f *fake) node(name string) *fstest.MapFile {
	return &fstest.MapFile{Mode: fs.ModeDevice | 0o660, Sys: &syscall.Stat_t{Rdev: unix.Mkdev(fakeMajor, f.numbers[name])}}
}

// disk makes a SATA disk of 1 GiB.
func (f *fake) disk(name, serial string) string {
	dir := "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/" + name
	f.device(name, dir)
	f.symlink("sys/block/"+name, "../"+strings.TrimPrefix(dir, "sys/"))
	f.file(dir+"/size", "2097152\n")
	f.file(dir+"/ro", "0\n")
	f.file(dir+"/removable", "0\n")
	f.file(dir+"/queue/logical_block_size", "512\n")
	f.file(dir+"/queue/physical_block_size", "4096\n")
	f.file(dir+"/queue/rotational", "1\n")
	f.file(dir+"/device/model", "WD "+name+"   \n")
	if serial != "" {
		f.file(dir+"/device/vpd_pg80", string([]byte{0, 0x80, 0, byte(len(serial))})+serial)
	}
	return dir
}

func (f *fake) part(disk string, n int) string {
	dir := strings.TrimPrefix(string(f.files["sys/block/"+disk].Data), "../")
	name := fmt.Sprintf("%s%d", disk, n)
	f.device(name, "sys/"+dir+"/"+name)
	f.file("sys/"+dir+"/"+name+"/partition", fmt.Sprint(n))
	return name
}

// dirOf is where a device of the fake lies.
func (f *fake) dirOf(name string) string {
	for path := range f.files {
		if strings.HasSuffix(path, "/"+name+"/dev") && strings.HasPrefix(path, "sys/devices/") {
			return strings.TrimSuffix(path, "/dev")
		}
	}
	return ""
}

// over makes a device on others; uuid is that of device mapper, "" for others.
func (f *fake) over(name, uuid, label string, below ...string) {
	dir := "sys/devices/virtual/block/" + name
	f.device(name, dir)
	f.symlink("sys/block/"+name, "../devices/virtual/block/"+name)
	f.file(dir+"/size", "2097152\n")
	if uuid != "" {
		f.file(dir+"/dm/uuid", uuid+"\n")
		f.file(dir+"/dm/name", label+"\n")
	}
	for _, b := range below {
		f.file(f.dirOf(b)+"/holders/"+name+"/x", "") // a directory is enough
	}
}

// loop makes a loop device over a file that is there.
func (f *fake) loop(name, path string, inode uint64) {
	dir := "sys/devices/virtual/block/" + name
	f.device(name, dir)
	f.symlink("sys/block/"+name, "../devices/virtual/block/"+name)
	f.file(dir+"/size", "2097152\n")
	f.file(dir+"/queue/logical_block_size", "512\n")
	f.file(dir+"/loop/backing_file", path+"\n")
	f.files[strings.TrimPrefix(path, "/")] = &fstest.MapFile{Sys: &syscall.Stat_t{Dev: 7, Ino: inode}}
	f.backing["/dev/"+name] = Backing{Device: 7, Inode: inode}
}

func (f *fake) process(pid, namespace, comm string) {
	f.symlink("proc/"+pid+"/ns/mnt", namespace)
	f.file("proc/"+pid+"/comm", comm)
	f.file("proc/"+pid+"/mountinfo", "21 1 0:20 / /proc rw - proc proc rw\n")
}

func (f *fake) mount(pid, number, point, source string) {
	old := string(f.files["proc/"+pid+"/mountinfo"].Data)
	f.file("proc/"+pid+"/mountinfo", old+fmt.Sprintf("%d 21 %s / %s rw - ext4 %s rw\n", len(old), number, point, source))
}

func (f *fake) open(pid, fd, name string) {
	f.process(pid, "mnt:["+pid+"]", "hog")
	f.files["proc/"+pid+"/fd/"+fd] = &fstest.MapFile{Data: []byte("/dev/" + name), Mode: fs.ModeSymlink | 0o777}
}

func (f *fake) read(t *testing.T) map[string]Disk {
	t.Helper()
	inv, err := Read(f.host())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Disk{}
	for _, d := range inv.Disks {
		out[d.Name] = d
	}
	return out
}

func codes(d Disk) string {
	var out []string
	for _, r := range d.Refusals {
		out = append(out, r.Code)
	}
	return strings.Join(out, " ")
}
