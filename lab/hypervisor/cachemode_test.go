package hypervisor

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestProbe is case B28: what is said of a directory is what it does.
func TestProbe(t *testing.T) {
	dirs := []string{t.TempDir()}
	if unix.Access("/dev/shm", unix.W_OK) == nil {
		dirs = append(dirs, "/dev/shm") // direct I/O on tmpfs came with Linux 6.6
	}
	for _, dir := range dirs {
		p, err := probeDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		fd, openErr := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_DIRECT, 0o600)
		if openErr == nil {
			unix.Close(fd)
		}
		if p.DirectIO != (openErr == nil) && openErr != unix.EOPNOTSUPP {
			t.Errorf("%s: probe %+v, but open with O_DIRECT says %v", dir, p, openErr)
		}
		if p.DirectIO == (p.DirectIOReason != "") || p.DirectIO != (p.DirectAlignBytes > 0) || p.Filesystem == "" {
			t.Errorf("%s: probe %+v contradicts itself", dir, p)
		}
		left, err := filepath.Glob(filepath.Join(dir, probePrefix+"*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left behind %q, %v", dir, left, err)
		}
	}
}

func TestResolveCache(t *testing.T) {
	direct := Probe{DirectIO: true, DirectAlignBytes: 512, IOURing: true, Filesystem: "ext4"}
	paged := Probe{DirectIOReason: "open with O_DIRECT: invalid argument", IOURingReason: "kernel.io_uring_disabled is 2", Filesystem: "tmpfs"}
	cases := []struct {
		asked  CacheMode
		probe  Probe
		want   CacheMode
		refuse string
	}{
		{CacheMode{}, direct, CacheMode{"none", "native"}, ""},
		{CacheMode{Auto, Auto}, direct, CacheMode{"none", "native"}, ""},
		{CacheMode{Auto, Auto}, paged, CacheMode{"writeback", "threads"}, ""},
		{CacheMode{Auto, "threads"}, direct, CacheMode{"none", "threads"}, ""},
		{CacheMode{"none", ""}, paged, CacheMode{}, "the tmpfs file system of the images does no direct I/O (open with O_DIRECT: invalid argument); use cache auto or writeback"},
		{CacheMode{"directsync", ""}, paged, CacheMode{}, "does no direct I/O"},
		{CacheMode{Auto, "native"}, paged, CacheMode{}, "does no direct I/O"},
		{CacheMode{"directsync", ""}, direct, CacheMode{"directsync", "native"}, ""},
		{CacheMode{"none", "io_uring"}, direct, CacheMode{"none", "io_uring"}, ""},
		{CacheMode{"writeback", "io_uring"}, paged, CacheMode{}, "does not allow io_uring (kernel.io_uring_disabled is 2)"},
		{CacheMode{"writeback", ""}, direct, CacheMode{"writeback", "threads"}, ""},
		{CacheMode{"writeback", "native"}, direct, CacheMode{}, "io native needs"},
		{CacheMode{"unsafe", "threads"}, paged, CacheMode{"unsafe", "threads"}, ""},
		{CacheMode{"fast", ""}, direct, CacheMode{}, "want cache none"},
		{CacheMode{"none", "aio"}, direct, CacheMode{}, "want io native"},
	}
	for _, c := range cases {
		got, err := ResolveCache(c.asked, c.probe)
		if got != c.want || (err == nil) != (c.refuse == "") || err != nil && !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("%+v: %+v, %v; want %+v %q", c.asked, got, err, c.want, c.refuse)
		}
		var e *CacheError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%+v: error is a %T", c.asked, err)
		}
	}
}
