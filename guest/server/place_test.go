package server

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An error number is told with its likely cause and keeps its identity.
func TestExplainIO(t *testing.T) {
	for number, want := range map[syscall.Errno]string{
		syscall.EINVAL: "no direct I/O", syscall.EOPNOTSUPP: "does not support it", syscall.ENOSPC: "the disk is full",
		syscall.EROFS: "read-only", syscall.EACCES: "owner or the mode", syscall.EAGAIN: "fs.aio-max-nr", syscall.EIO: "input/output error",
	} {
		err := explainIO(&fs.PathError{Op: "open", Path: "/data/x", Err: number})
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/data/x") {
			t.Errorf("%d: %v, want %q", number, err, want)
		}
	}
}

// A loaded profile of the server is flagged by path or by name, also inside an image; others are not.
func TestProfileFlags(t *testing.T) {
	names := []string{"/usr/sbin/mariadbd", "mariadbd", "/run/image/usr/sbin/mariadbd"}
	for _, c := range []struct{ loaded, want string }{
		{"/usr/bin/man (enforce)\n/usr/sbin/mariadbd (complain)\n", "loaded for /usr/sbin/mariadbd, mode complain"},
		{"mariadbd (unconfined)\n", "mode unconfined"},
		{"/run/image/usr/sbin/mariadbd (enforce)\n", "mode enforce"},
		{"/usr/sbin/mysqld (enforce)\nmariadbd-safe (enforce)\n", ""},
		{"", ""},
	} {
		flags := profileFlags(c.loaded, names...)
		if (c.want == "") != (len(flags) == 0) || c.want != "" && !strings.Contains(flags[0].Detail, c.want) {
			t.Errorf("%q: %v, want %q", c.loaded, flags, c.want)
		}
	}
}

// ramfs has no direct I/O: a server that would fall back is flagged, a configuration that asks for it is refused.
func TestNoDirectIO(t *testing.T) {
	needVM(t)
	for _, profile := range []string{"default", "o-direct"} {
		t.Run(profile, func(t *testing.T) {
			c := testConfig(t)
			if err := syscall.Mount("ramfs", c.MountPoint, "ramfs", 0, ""); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Unmount(c.MountPoint, 0) })
			if err := os.Chmod(c.MountPoint, 0o755); err != nil {
				t.Fatal(err)
			}
			c.Profile = profile
			s := prepare(t, c)
			err := s.Init(t.Context())
			if profile == "o-direct" {
				if err == nil || !strings.Contains(err.Error(), "option innodb-flush-method=O_DIRECT") || !strings.Contains(err.Error(), "no direct I/O") {
					t.Errorf("%v", err)
				}
				if entries, _ := os.ReadDir(filepath.Join(c.MountPoint, "mysql")); len(entries) > 0 {
					t.Errorf("it initialised %v first", entries)
				}
				return
			}
			if err != nil || !strings.Contains(fmt.Sprint(s.flags), "no_direct_io") {
				t.Errorf("flags %v, %v", s.flags, err)
			}
		})
	}
}
