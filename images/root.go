package images

func init() {
	register(Recipe{
		Name:       "root",
		Kind:       KindRoot,
		About:      "Debian 13 kernel, filesystem and volume tools, sshd; no database",
		Suite:      "trixie",
		Components: []string{"main"},
		SigningKey: "debian-archive-trixie-automatic.gpg",
		Packages: []string{
			// The generic flavour: the cloud flavour lacks f2fs, jfs, nilfs2, reiserfs and gfs2.
			"linux-image-{arch}", "kmod",
			// The kernel wants some initramfs tool; this is the smallest, and its result is not used.
			"tiny-initramfs",
			// openssh-server wants sysusers; this is the one that does not bring systemd.
			"systemd-standalone-sysusers",
			"busybox-static", "openssh-server", "openssh-sftp-server", "iproute2", "procps", "util-linux", "mount",
			"e2fsprogs", "xfsprogs", "btrfs-progs", "dosfstools", "exfatprogs", "f2fs-tools",
			"jfsutils", "nilfs-tools", "reiserfsprogs", "gfs2-utils",
			"fdisk", "gdisk", "mdadm", "lvm2", "cryptsetup-bin",
		},
		Customize: Customize{
			Exclude: with(documentation, absentHardware, []string{"/usr/lib/udev/hwdb.d/*"}),
			Run: with(plainModules, []string{
				// sshd runs each command in root's shell, and dash starts several times faster than bash.
				`sed -i '/^root:/s#:[^:]*$#:/bin/sh#' /etc/passwd`,
			}),
			Remove: with(leftovers, []string{
				"/etc/lvm/archive", "/etc/lvm/backup", "/etc/mdadm",
				"/usr/lib/udev/hwdb.bin", "/usr/bin/tiny-initramfs*", "/usr/sbin/mktirfs",
				// Interpreters nothing in a trial runs, and the 40 MB of Unicode tables of xfs_scrub.
				"/usr/bin/python3*", "/usr/lib/python3*", "/usr/share/python3*",
				"/usr/bin/perl*", "/usr/lib/*/perl-base", "/usr/share/perl5",
				"/usr/sbin/xfs_scrub*", "/usr/lib/*/libicu*",
			}),
			Files: []File{
				{"/usr/lib/platter/init", 0o755, text("init")},
				{"/etc/ssh/sshd_config", 0o644, text("sshd_config")},
				{"/etc/lvm/lvmlocal.conf", 0o644, text("lvmlocal.conf")},
				{"/etc/hosts", 0o644, "127.0.0.1 localhost platter\n::1 localhost\n"},
				{"/etc/hostname", 0o644, "platter\n"},
				{"/etc/fstab", 0o644, ""},
			},
			Directories: []Directory{
				{Path: "/proc", Mode: 0o755}, {Path: "/sys", Mode: 0o755}, {Path: "/dev", Mode: 0o755},
				{Path: "/run", Mode: 0o755}, {Path: "/tmp", Mode: 0o1777}, {Path: "/srv", Mode: 0o755},
				{Path: "/root/.ssh", Mode: 0o700}, {Path: "/var/log", Mode: 0o755},
			},
			Links: with([]Link{
				{"/usr/sbin/poweroff", "../bin/busybox"},
				{"/usr/sbin/reboot", "../bin/busybox"},
				{"/usr/sbin/halt", "../bin/busybox"},
				{"/etc/mtab", "../proc/self/mounts"},
			}, applets("mount", "mkdir", "ln", "hostname", "ifconfig", "chmod", "tail", "tr", "base64", "rm", "grep", "usleep", "sleep", "sync")),
		},
		Boot: &Boot{
			Modules: []string{"virtio_blk", "virtio_net", "squashfs", "overlay"},
			Shell:   "/usr/bin/busybox",
			Applets: []string{"mount", "insmod", "mkdir", "usleep", "grep", "tr", "poweroff", "switch_root"},
			Init:    text("initramfs-init"),
		},
	})
}

// plainModules decompresses the kernel modules: plain ones load several times
// faster under emulation, and squashfs compresses them again.
var plainModules = []string{
	`find /usr/lib/modules -name '*.ko.xz' -print0 | xargs -0 -r -n 40 -P "$(nproc)" busybox unxz`,
	`for v in /usr/lib/modules/*; do depmod "${v##*/}"; done`,
}

// absentHardware is what no virtual machine has, not even with a disk passed
// through: it is two thirds of the modules.
var absentHardware = modules(
	"sound", "drivers/gpu", "drivers/media", "drivers/infiniband", "drivers/iio", "drivers/hid", "drivers/platform",
	"drivers/hwmon", "drivers/staging", "drivers/comedi", "drivers/mtd", "drivers/video", "drivers/accel", "drivers/bluetooth",
	"drivers/mmc", "drivers/isdn", "drivers/input", "drivers/atm", "drivers/thunderbolt", "drivers/firewire", "drivers/soundwire",
	"drivers/usb", "drivers/edac", "drivers/watchdog", "drivers/i2c", "drivers/power", "drivers/leds", "drivers/rtc", "drivers/ufs",
	"drivers/parport", "drivers/pcmcia", "drivers/w1", "drivers/memstick", "drivers/misc", "drivers/extcon", "drivers/regulator",
	"drivers/net/ethernet", "drivers/net/wireless", "drivers/net/wwan", "drivers/net/usb", "drivers/net/can", "drivers/net/phy",
	"drivers/net/dsa", "drivers/net/hamradio", "drivers/net/ieee802154", "drivers/net/fddi", "drivers/net/arcnet", "drivers/net/ppp",
	"drivers/net/wireguard", "drivers/net/fjes", "drivers/net/slip", "drivers/net/plip", "drivers/net/hyperv", "drivers/net/thunderbolt",
	"drivers/xen", "drivers/hv", "drivers/target", "drivers/message", "drivers/mfd", "drivers/gpio", "drivers/pinctrl",
	"drivers/scsi/lpfc", "drivers/scsi/qla2xxx", "drivers/scsi/bfa", "drivers/scsi/qedf", "drivers/scsi/qedi", "drivers/scsi/bnx2fc",
	"drivers/scsi/bnx2i", "drivers/scsi/be2iscsi", "drivers/scsi/fnic", "drivers/scsi/snic", "drivers/scsi/csiostor", "drivers/scsi/qla4xxx",
	"drivers/scsi/aic7xxx", "drivers/scsi/aic94xx", "drivers/scsi/pcmcia", "drivers/scsi/isci", "drivers/scsi/ufs",
	"net/mac80211", "net/wireless", "net/bluetooth", "net/nfc", "net/batman-adv", "net/tipc", "net/rxrpc", "net/smc", "net/sctp",
	"net/ceph", "net/dccp", "net/rds", "net/ieee802154", "net/6lowpan", "net/mac802154", "net/can", "net/atm", "net/appletalk", "net/x25",
	"net/netfilter", "net/sched", "net/bridge", "net/openvswitch", "net/ipv4/netfilter", "net/ipv6/netfilter",
	"fs/nfs", "fs/nfsd", "fs/smb", "fs/ceph", "fs/afs", "fs/ubifs", "fs/jffs2", "fs/coda", "fs/orangefs",
)

// applets are the links that /usr/lib/platter/init finds first in its PATH.
func applets(names ...string) []Link {
	links := make([]Link, len(names))
	for i, name := range names {
		links[i] = Link{"/usr/lib/platter/bin/" + name, "/usr/bin/busybox"}
	}
	return links
}

func modules(directories ...string) []string {
	patterns := make([]string, len(directories))
	for i, dir := range directories {
		patterns[i] = "/usr/lib/modules/*/kernel/" + dir + "/*"
	}
	return patterns
}
