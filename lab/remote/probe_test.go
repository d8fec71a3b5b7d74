package remote

import (
	"debug/elf"
	"testing"
)

func TestMountOption(t *testing.T) {
	const mounts = `/dev/root / ext4 rw 0 0
tmpfs /tmp tmpfs rw,nosuid,noexec 0 0
/dev/vdb /tmp/data\040disk xfs rw 0 0
tmpfs /run tmpfs rw,noexecute 0 0
tmpfs /twice tmpfs rw 0 0
tmpfs /twice tmpfs rw,noexec 0 0
`
	for dir, want := range map[string]bool{
		"/":                false,
		"/tmp":             true,
		"/tmp/a/b":         true,
		"/tmpfiles":        false,
		"/tmp/data disk/x": false,
		"/run":             false,
		"/twice":           true,
	} {
		if got := mountOption(mounts, dir, "noexec"); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

func TestElfMachine(t *testing.T) {
	little := append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00"), 0xb7, 0)
	big := append([]byte("\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02"), 0, 0x16)
	for _, tc := range []struct {
		head []byte
		want elf.Machine
		ok   bool
	}{{little, elf.EM_AARCH64, true}, {big, elf.EM_S390, true}, {[]byte("#!/bin/sh\nexit 0\n\n\n\n"), 0, false}, {little[:10], 0, false}} {
		if got, err := elfMachine(tc.head); got != tc.want || (err == nil) != tc.ok {
			t.Errorf("%q: %v, %v", tc.head, got, err)
		}
	}
}
