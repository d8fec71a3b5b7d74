package hypervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"libvirt.org/go/libvirtxml"

	"platter/lab/domain"
)

// TestAccelPolicy is case B21: emulation is chosen only where that is allowed.
func TestAccelPolicy(t *testing.T) {
	both := Info{URI: "qemu:///system", KVM: true, TCG: true}
	emulated := Info{URI: "qemu:///system", KVMReason: "/dev/kvm is missing", TCG: true, Emulator: "/usr/bin/qemu"}
	hardware := Info{KVM: true, Emulator: "/usr/libexec/qemu-kvm"}
	none := Info{URI: "qemu:///system", KVMReason: "/dev/kvm is missing"}
	cases := []struct {
		info   Info
		policy string
		want   domain.Accel
		refuse string
	}{
		{both, "auto", domain.KVM, ""},
		{both, "", domain.KVM, ""},
		{both, "tcg", domain.TCG, ""},
		{both, "kvm", domain.KVM, ""},
		{emulated, "auto", domain.TCG, ""},
		{emulated, "kvm", "", "accelerator kvm: /dev/kvm is missing; use accelerator auto or tcg"},
		{hardware, "tcg", "", "accelerator tcg: /usr/libexec/qemu-kvm has no emulation"},
		{none, "auto", "", "offers neither KVM (/dev/kvm is missing) nor TCG"},
		{both, "hvf", "", `accelerator "hvf": want auto, kvm or tcg`},
	}
	for _, c := range cases {
		got, err := c.info.Accel(c.policy)
		if got != c.want || (err == nil) != (c.refuse == "") || err != nil && !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("policy %q: %q, %v; want %q %q", c.policy, got, err, c.want, c.refuse)
		}
	}
}

func TestKVMReason(t *testing.T) {
	if got := kvmReason(filepath.Join(t.TempDir(), "kvm")); !strings.Contains(got, "kvm is missing") {
		t.Errorf("missing device: %s", got)
	}
	device := filepath.Join(t.TempDir(), "kvm")
	if err := os.WriteFile(device, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := kvmReason(device); !strings.Contains(got, "restart its daemon") {
		t.Errorf("usable device: %s", got)
	}
}

const capabilities = `<capabilities><host><cpu><arch>x86_64</arch></cpu>
<secmodel><model>apparmor</model><baselabel type='kvm'>libvirt-123</baselabel></secmodel>
<secmodel><model>dac</model><baselabel type='kvm'>+64055:+109</baselabel><baselabel type='qemu'>+64055:+109</baselabel></secmodel></host>
<guest><os_type>hvm</os_type><arch name='i686'><emulator>/usr/bin/qemu-system-i386</emulator><domain type='qemu'/></arch></guest>
<guest><os_type>hvm</os_type><arch name='x86_64'><emulator>/usr/bin/qemu-system-x86_64</emulator><domain type='qemu'/>KVM</arch></guest></capabilities>`

func TestReadCapabilities(t *testing.T) {
	cases := []struct {
		name, text, refuse string
		kvm                bool
	}{
		{"kvm", strings.Replace(capabilities, "KVM", "<domain type='kvm'/>", 1), "", true},
		{"tcg", strings.Replace(capabilities, "KVM", "", 1), "", false},
		{"no qemu", "<capabilities><host><cpu><arch>x86_64</arch></cpu></host></capabilities>", "QEMU for x86_64 is not installed", false},
		{"other architecture", "<capabilities><host><cpu><arch>s390x</arch></cpu></host></capabilities>", "architecture s390x are not supported", false},
		{"nothing", "<capabilities><host/></capabilities>", "name no architecture", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var caps libvirtxml.Caps
			if err := caps.Unmarshal(c.text); err != nil {
				t.Fatal(err)
			}
			var info Info
			err := unitHost(t, "").readCaps(&info, caps)
			if (err == nil) != (c.refuse == "") || err != nil && !strings.Contains(err.Error(), c.refuse) {
				t.Fatalf("error is %v, want %q", err, c.refuse)
			}
			if err != nil {
				return
			}
			if info.KVM != c.kvm || !info.TCG || info.QEMUUID != 64055 || info.QEMUGID != 109 || info.Emulator != "/usr/bin/qemu-system-x86_64" {
				t.Errorf("info is %+v", info)
			}
		})
	}
}
