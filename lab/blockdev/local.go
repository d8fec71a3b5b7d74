package blockdev

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// Local is the host this process runs on.
func Local() Host {
	return Host{FS: os.DirFS("/"), Signatures: wipefs, Exclusive: tryExclusive, Backing: loopBacking, PID: os.Getpid()}
}

// wipefs lists signatures without touching them. util-linux knows them all, also several at one place, and is essential
// on every host.
func wipefs(node string) ([]Signature, error) {
	// A node we may not read gives no output rather than an error.
	f, err := os.Open(node)
	if err != nil {
		return nil, err
	}
	f.Close()
	cmd := exec.Command("wipefs", "--no-act", "--json", node)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH=/usr/sbin:/sbin:/usr/bin:/bin")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("wipefs %s: %w: %s", node, err, strings.TrimSpace(stderr.String()))
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, nil
	}
	var said struct {
		Signatures []struct {
			Type, Offset string
			UUID, Label  *string
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("wipefs %s: read its output: %w", node, err)
	}
	var list []Signature
	for _, s := range said.Signatures {
		sig := Signature{Type: s.Type, Offset: s.Offset}
		if s.UUID != nil {
			sig.UUID = *s.UUID
		}
		if s.Label != nil {
			sig.Label = *s.Label
		}
		list = append(list, sig)
	}
	return list, nil
}

// tryExclusive opens a node exclusively and lets it go again.
func tryExclusive(node string) error {
	fd, err := unix.Open(node, unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: node, Err: err}
	}
	return unix.Close(fd)
}

// loopBacking asks the kernel for the file behind a loop device: the path in sysfs may name another file by now.
func loopBacking(node, path string) (Backing, error) {
	f, err := os.Open(node)
	if err != nil {
		return Backing{}, err
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if errors.Is(err, unix.ENXIO) {
		return Backing{}, fmt.Errorf("%s is attached to no file", node)
	}
	if err != nil {
		return Backing{}, fmt.Errorf("ask %s for its file: %w", node, err)
	}
	b := Backing{Device: info.Device, Inode: info.Inode}
	var st unix.Statx_t
	err = unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err == nil && st.Mask&unix.STATX_BTIME != 0 && st.Ino == b.Inode && unix.Mkdev(st.Dev_major, st.Dev_minor) == b.Device {
		b.BornNS = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return b, nil
}
