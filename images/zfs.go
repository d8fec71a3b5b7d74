package images

func init() {
	register(Recipe{
		Name:       "zfs",
		Kind:       KindAddon,
		About:      "OpenZFS for the root image's kernel, compiled while the image is built",
		Suite:      "trixie",
		Components: []string{"main", "contrib"},
		SigningKey: "debian-archive-trixie-automatic.gpg",
		// Debian has OpenZFS as source only (its licence and the kernel's do not
		// mix): DKMS compiles it here for the kernel that root installs too.
		Packages: []string{
			"linux-image-{arch}", "linux-headers-{arch}", "tiny-initramfs", "systemd-standalone-sysusers", "busybox-static",
			"zfs-dkms", "zfsutils-linux",
		},
		Customize: Customize{
			// The same modules as in root, since modules.dep of this image hides root's.
			Exclude: with(documentation, absentHardware, []string{"/usr/lib/udev/hwdb.d/*"}),
			Run: with([]string{
				`for v in /usr/lib/modules/*; do dkms autoinstall -k "${v##*/}"; ls "$v"/updates/dkms/zfs.ko*; done`,
			}, plainModules),
			Remove: []string{"*/__pycache__/*", "/usr/lib/modules/*/source", "/usr/lib/modules/*/build"},
			Keep: []string{
				"/usr/lib/modules/*/updates", "/usr/lib/modules/*/modules.*",
				"/usr/sbin/zfs", "/usr/sbin/zpool", "/usr/sbin/zdb", "/usr/sbin/zgenhostid", "/usr/sbin/mount.zfs",
				"/usr/lib/*/libzfs*", "/usr/lib/*/libzpool*", "/usr/lib/*/libnvpair*", "/usr/lib/*/libuutil*",
				"/usr/share/zfs/compatibility.d", "/usr/lib/zfs-linux", "/etc/zfs",
			},
		},
	})
}
