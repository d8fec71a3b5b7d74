package server

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// root is where a server's programs live: a mounted server image, or this machine.
type root struct {
	dir     string // "" for this machine
	account account
	binds   []string // mount points made, in order
}

// account is the user the server runs as, from the root's own /etc/passwd. drop is false when platter itself is an
// ordinary user (unit tests): then the server runs as that user.
type account struct {
	name     string
	uid, gid uint32
	drop     bool
}

// Directories of a server image that platter binds the trial's directories to.
const (
	imageData = "/platter/data"
	imageRun  = "/platter/run"
)

func openRoot(dir string) (*root, error) {
	if dir == "/" {
		dir = ""
	}
	r := &root{dir: dir}
	if os.Getuid() != 0 {
		if dir != "" {
			return nil, fmt.Errorf("enter server image %s: this needs root", dir)
		}
		r.account = account{name: strconv.Itoa(os.Getuid()), uid: uint32(os.Getuid()), gid: uint32(os.Getgid())}
		return r, nil
	}
	a, err := lookUpAccount(filepath.Join(dir, "/etc/passwd"), "mysql")
	if err != nil {
		return nil, err
	}
	r.account = a
	return r, nil
}

func lookUpAccount(passwd, name string) (account, error) {
	f, err := os.Open(passwd)
	if err != nil {
		return account{}, fmt.Errorf("look up user %s: %w", name, err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 4 || fields[0] != name {
			continue
		}
		uid, errUID := strconv.ParseUint(fields[2], 10, 32)
		gid, errGID := strconv.ParseUint(fields[3], 10, 32)
		if errUID != nil || errGID != nil {
			return account{}, fmt.Errorf("look up user %s: line %q of %s has no numbers", name, lines.Text(), passwd)
		}
		return account{name: name, uid: uint32(uid), gid: uint32(gid), drop: true}, nil
	}
	return account{}, fmt.Errorf("look up user %s: %s has no such user; the server image must have one", name, passwd)
}

// attributes make a child enter the root and become the account, in a process group of its own so that a signal meant for
// platter does not reach it. The child dies with the thread that started it.
func (r *root) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Chroot: r.dir, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if r.account.drop {
		attr.Credential = &syscall.Credential{Uid: r.account.uid, Gid: r.account.gid}
	}
	return attr
}

// outside is the path platter sees for one a server sees.
func (r *root) outside(path string) string { return filepath.Join(r.dir, path) }

// executable finds the first of the paths that is an executable file inside the root; symbolic links are read inside it.
func (r *root) executable(paths ...string) (string, bool) {
	for _, p := range paths {
		resolved := p
		for range 10 {
			target, err := os.Readlink(r.outside(resolved))
			if err != nil {
				break
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(resolved), target)
			}
			resolved = target
		}
		if info, err := os.Stat(r.outside(resolved)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, true
		}
	}
	return "", false
}

// bind puts the trial's directories and the kernel's into a server image. Nothing is needed on this machine itself.
func (r *root) bind(data, run string) error {
	if r.dir == "" {
		return nil
	}
	for _, b := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{data, imageData, "", syscall.MS_BIND}, {run, imageRun, "", syscall.MS_BIND},
		{"/proc", "/proc", "", syscall.MS_BIND}, {"/dev", "/dev", "", syscall.MS_BIND},
		{"/sys", "/sys", "", syscall.MS_BIND}, {"tmpfs", "/tmp", "tmpfs", 0},
	} {
		target := r.outside(b.target)
		if err := syscall.Mount(b.source, target, b.kind, b.flags, ""); err != nil {
			r.unbind()
			return fmt.Errorf("mount %s on %s: %w (a server image has the directories %s, %s, /proc, /dev, /sys and /tmp)",
				b.source, target, err, imageData, imageRun)
		}
		r.binds = append(r.binds, target)
	}
	return nil
}

// unbind takes the mounts away in reverse; what is busy is detached and goes when its last user goes.
func (r *root) unbind() error {
	var first error
	for i := len(r.binds) - 1; i >= 0; i-- {
		err := syscall.Unmount(r.binds[i], 0)
		if err == syscall.EBUSY {
			err = syscall.Unmount(r.binds[i], syscall.MNT_DETACH)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("unmount %s: %w", r.binds[i], err)
		}
	}
	r.binds = nil
	return first
}
