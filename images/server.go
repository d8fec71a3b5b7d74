package images

import "fmt"

// ServerUID is the user and group id of mysql in every server image, so that a
// data directory keeps its owner whichever image serves it.
const ServerUID = 970

// The places of a server image that the guest binds over before it starts the
// server in its own root.
const (
	ServerDataDir = "/platter/data" // the filesystem under test
	ServerRunDir  = "/platter/run"  // socket, pid file, configuration
	ServerTmpDir  = "/platter/tmp"
)

// interpreters are perl, which no server of the catalogue needs.
var interpreters = []string{"/usr/bin/perl*", "/usr/lib/*/perl-base", "/usr/share/perl5", "/usr/share/perl"}

// server returns what all server images have in common: the user mysql, mount
// points, no configuration but the one given on the command line, and no data.
func server() Customize {
	return Customize{
		Exclude: documentation,
		Run: []string{
			`sed -i '/^mysql:/d' /etc/passwd /etc/group`,
			fmt.Sprintf(`echo 'mysql:x:%d:%d:MySQL Server:/nonexistent:/usr/sbin/nologin' >>/etc/passwd`, ServerUID, ServerUID),
			fmt.Sprintf(`echo 'mysql:x:%d:' >>/etc/group`, ServerUID),
		},
		Remove: with(leftovers, []string{
			"/var/lib/mysql", "/var/lib/mysql-files", "/etc/mysql",
			"/usr/bin/python3*", "/usr/lib/python3*", "/usr/share/python3*",
		}, interpreters),
		Files: []File{
			{"/etc/hosts", 0o644, "127.0.0.1 localhost platter\n::1 localhost\n"},
			{"/etc/hostname", 0o644, "platter\n"},
		},
		Directories: []Directory{
			{Path: "/proc", Mode: 0o755}, {Path: "/sys", Mode: 0o755}, {Path: "/dev", Mode: 0o755},
			{Path: "/run", Mode: 0o755}, {Path: "/tmp", Mode: 0o1777},
			{Path: "/platter", Mode: 0o755},
			{Path: ServerDataDir, Mode: 0o755, UID: ServerUID, GID: ServerUID},
			{Path: ServerRunDir, Mode: 0o755, UID: ServerUID, GID: ServerUID},
			{Path: ServerTmpDir, Mode: 0o755, UID: ServerUID, GID: ServerUID},
		},
	}
}
