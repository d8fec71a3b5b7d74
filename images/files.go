package images

import (
	"embed"
	"slices"
)

//go:embed files
var files embed.FS

// text returns an embedded file. A wrong name shows in every test, since rows
// are registered at start.
func text(name string) string {
	content, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err)
	}
	return string(content)
}

// documentation is never unpacked: nobody reads manuals in a trial, and dpkg
// spends a good part of its time on them.
var documentation = []string{
	"/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*",
	"/usr/share/lintian/*", "/usr/share/bash-completion/*", "/usr/share/bug/*", "/usr/share/zsh/*",
}

// leftovers are documentation and the traces of the installation: package lists, caches, logs, identities of
// the build host, and what would differ between two builds.
var leftovers = with(documentation, []string{
	"/dev/*", "/proc/*", "/sys/*",
	"/boot", "/vmlinuz*", "/initrd.img*",
	"/etc/machine-id", "/etc/hostname", "/etc/resolv.conf", "/etc/ssh/ssh_host_*", "/etc/ssh/moduli",
	"/etc/*-", "/etc/.pwd.lock", "/etc/apt", "/etc/cron.*", "/etc/init.d", "/etc/rc?.d", "/etc/systemd", "/etc/logrotate.d",
	"/usr/lib/systemd", "/usr/lib/tmpfiles.d", "/usr/lib/sysusers.d",
	"/usr/share/zoneinfo", "/var/cache/*", "/var/log/*", "/var/lib/apt", "/var/lib/dpkg", "/var/lib/systemd", "/var/lib/ucf", "/var/lib/pam",
	"/var/backups/*", "/tmp/*", "/run/*", "*/__pycache__/*",
	"/etc/dpkg", "/etc/alternatives/*.gz",
})

// with returns the lists joined into a new one.
func with[T any](lists ...[]T) []T { return slices.Concat(lists...) }
