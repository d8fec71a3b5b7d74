package runner

import (
	"encoding/base64"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"libvirt.org/go/libvirtxml"

	"platter/images"
	"platter/lab/domain"
	"platter/lab/remote"
)

// TestNetworkCases holds what others got wrong between a machine and its first login, as far as it applies here:
//
//	B31 no address to wait for: machines are reached through a forwarded loopback port that we chose, so there is no lease
//	    to read and no empty or link-local address. That the wait has an end which shows the console is TestAwaitTimesOut
//	    in lab/remote and TestNeverBoots.
//	B32 the wrong machine behind an address: TestWrongMachineIsRefused in lab/remote.
//	B33 a network that is taken, missing or inactive: machines use none of libvirt's; each has user-mode networking of
//	    its own, without a way out. This test wants it so.
//	B34 an SSH server before the guest is ready: TestLoginSurvivesRestartOfSshd in lab/remote.
//	B36 a seed image that is not recognised: there is none. Key, host key and token go through the firmware's tables, and
//	    this test wants them back byte for byte.
func TestNetworkCases(t *testing.T) {
	keys, err := remote.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	const token = `no: &a <b>"c" 'd' 100%,;=`
	tag := domain.Tag{Run: "r", BootID: "b", PID: 1, Created: time.Now()}
	text, err := domain.Build(domain.Spec{
		Name: "platter-t", UUID: "8c0f4b52-6d6c-4f0e-9d0c-0123456789ab", CPUs: 1, MemoryBytes: 512 << 20, Accel: domain.TCG,
		Emulator: "/usr/bin/qemu-system-x86_64", MachineType: "pc-q35-7.2", Arch: "x86_64", LibvirtVersion: domain.MakeVersion(9, 0, 0),
		Kernel: "/k", Initramfs: "/i", Cmdline: images.Cmdline(), OEMStrings: oemStrings(keys, token), SSHPort: 40022, ConsolePath: "/c", Tag: tag,
		Disks: []domain.Disk{domain.ImageDisk(images.RootSerial, "/r")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var made libvirtxml.Domain
	if err := xml.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	if len(made.Devices.Interfaces) > 0 {
		t.Error("the machine uses a network of libvirt's")
	}
	var args []string
	for _, arg := range made.QEMUCommandline.Args {
		args = append(args, arg.Value)
	}
	if !slices.Contains(args, "user,id=ssh0,hostfwd=tcp:127.0.0.1:40022-:22,restrict=on") {
		t.Errorf("the machine's only network is %q", args)
	}
	told := map[string]string{}
	for _, entry := range made.SysInfo[0].SMBIOS.OEMStrings.Entry {
		name, value, _ := strings.Cut(entry, "=")
		told[name] = value
	}
	if told[images.TokenString] != token {
		t.Errorf("the token came back as %q", told[images.TokenString])
	}
	if _, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(told[images.AuthorizedKeyString])); err != nil || len(rest) > 0 || strings.Contains(told[images.AuthorizedKeyString], "\n") {
		t.Errorf("the key came back as %q: %v", told[images.AuthorizedKeyString], err)
	}
	pem, err := base64.StdEncoding.DecodeString(told[images.HostKeyString])
	if err != nil || string(pem) != string(keys.HostPrivatePEM()) || !strings.HasSuffix(string(pem), "\n") {
		t.Errorf("the host key came back changed: %v", err)
	}
}
