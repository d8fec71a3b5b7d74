package hypervisor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"platter/lab/domain"
)

// AccessError says that QEMU's user cannot reach a file of a machine.
type AccessError struct {
	Path  string // the file
	Block string // the first directory that may not be entered, or the file itself
	User  string // QEMU's user
	UID   int
	Mode  os.FileMode
}

func (e *AccessError) Error() string {
	if e.Block == e.Path {
		return fmt.Sprintf("use %s: QEMU runs as %s (uid %d), which may not read it (%s); make it readable or stage it again", e.Path, e.User, e.UID, e.Mode)
	}
	return fmt.Sprintf("use %s: QEMU runs as %s (uid %d), which may not enter %s (%s); keep images below /var/lib/libvirt/images (--storage-dir), or let that user pass with: setfacl -m u:%d:x %q",
		e.Path, e.User, e.UID, e.Block, e.Mode, e.UID, e.Block)
}

// checkAccess makes sure, before anything is defined, that QEMU's user reaches
// every file of a machine. libvirt gives writable disks to that user itself.
func (h *Host) checkAccess(ctx context.Context, info Info, s domain.Spec) error {
	if h.addr.mode != SystemMode || info.QEMUUID == 0 {
		return nil
	}
	who := qemuUser{uid: info.QEMUUID, gid: info.QEMUGID}
	for _, path := range []string{s.Kernel, s.Initramfs, s.ConsolePath} {
		if path == "" {
			continue
		}
		if err := who.enter(ctx, path); err != nil {
			return err
		}
	}
	for _, d := range s.Disks {
		if err := who.enter(ctx, d.Path); err != nil {
			return err
		}
		if d.ReadOnly && d.Kind == domain.File {
			if err := who.read(ctx, d.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// qemuUser is the user that QEMU runs as.
type qemuUser struct{ uid, gid int }

// enter checks every directory above a file, from the root down.
func (q qemuUser) enter(ctx context.Context, path string) error {
	var dirs []string
	for dir := filepath.Dir(path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		info, err := os.Stat(dirs[i])
		if err != nil {
			return fmt.Errorf("use %s: %w", path, err)
		}
		if !q.allowed(info, 0o1) && !q.accessWorks(ctx, "-x", dirs[i]) {
			return q.deny(path, dirs[i], info)
		}
	}
	return nil
}

func (q qemuUser) read(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("use %s: %w", path, err)
	}
	if !q.allowed(info, 0o4) && !q.accessWorks(ctx, "-r", path) {
		return q.deny(path, path, info)
	}
	return nil
}

func (q qemuUser) deny(path, block string, info os.FileInfo) error {
	name := strconv.Itoa(q.uid)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return &AccessError{Path: path, Block: block, User: name, UID: q.uid, Mode: info.Mode()}
}

// allowed looks at the mode bits; bit is one of 4, 2 and 1.
func (q qemuUser) allowed(info os.FileInfo, bit os.FileMode) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	mode := info.Mode().Perm()
	switch {
	case int(st.Uid) == q.uid:
		return mode&(bit<<6) != 0
	case int(st.Gid) == q.gid:
		return mode&(bit<<3) != 0
	}
	return mode&bit != 0
}

// accessWorks asks the kernel in that user's place, which knows access lists.
// Only root can; for others the mode bits have the last word.
func (q qemuUser) accessWorks(ctx context.Context, how, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/test", how, path)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(q.uid), Gid: uint32(q.gid)}}
	return cmd.Run() == nil
}
