package images

import "strings"

// RootSerial is the serial of the disk that carries the root image; the
// initramfs looks for it.
const RootSerial = "platter-root"

// Ready is the line that PID 1 of a root image prints on the console once sshd
// listens.
const Ready = "platter: ready"

// The OEM strings (SMBIOS type 11) that a root image reads at boot, each
// followed by "=" and its value.
const (
	// AuthorizedKeyString: one public key line of OpenSSH, for root.
	AuthorizedKeyString = "platter.authorized_key"
	// HostKeyString: base64 of the ed25519 private host key in OpenSSH's format.
	HostKeyString = "platter.host_key"
	// TokenString: any hexadecimal word, written to TokenPath.
	TokenString = "platter.token"
)

// TokenPath is where the guest keeps the token; reading it over SSH proves
// that the machine at the other end is the one that was started.
const TokenPath = "/run/platter/token"

// Cmdline returns the kernel command line of a root image. addons are the disk
// serials of add-on images, the topmost first.
//
// A panic ends the machine at once (panic=-1 reboots; define on_reboot and
// on_crash as destroy). CPU mitigations stay as the kernel chooses: they are
// part of what is measured.
func Cmdline(addons ...string) string {
	words := []string{
		"console=ttyS0", "quiet", "loglevel=4", "panic=-1", "net.ifnames=0", "ipv6.disable=1",
		// A busy host makes the watchdog distrust the TSC and change to the HPET in
		// the middle of a trial; each look at the clock then leaves the guest.
		"tsc=reliable",
		// The rest shortens the boot. Counted in instructions of an emulated CPU they
		// are half of what the kernel does before /init: self tests of ciphers and
		// of the jitter entropy source, tables for tracing and BPF, absent keyboards.
		"cryptomgr.notests", "initcall_blacklist=" + strings.Join(uselessInitcalls, ","),
		"i8042.nokbd", "i8042.noaux",
	}
	if len(addons) > 0 {
		words = append(words, "platter.lower="+strings.Join(addons, ","))
	}
	return strings.Join(words, " ")
}

// uselessInitcalls touch neither disks, memory nor scheduling. Kernels that do
// not have one of them ignore its name.
var uselessInitcalls = []string{
	"jent_mod_init", "trace_eval_init", "init_kprobe_trace", "bpf_tcp_ca_kfunc_init", "bpf_dummy_struct_ops_init",
}
