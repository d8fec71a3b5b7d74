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
	words := []string{"console=ttyS0", "quiet", "loglevel=4", "panic=-1", "net.ifnames=0", "ipv6.disable=1"}
	if len(addons) > 0 {
		words = append(words, "platter.lower="+strings.Join(addons, ","))
	}
	return strings.Join(words, " ")
}
