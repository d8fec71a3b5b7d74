package remote

import (
	"fmt"
	"strings"
)

// guestPath replaces the PATH of a non-login shell, which often has no sbin
// directories although mkfs lives there.
const guestPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// quote makes one word of a POSIX shell out of s.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// command returns the shell line that prints marker and the process id on both
// streams and then becomes argv. The marker separates the command's own output
// from whatever a login script printed before. exec keeps the process id and
// the signals: without it the shell would turn a killed command into 128+n.
func command(marker string, argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = quote(arg)
	}
	return "printf '%s %s\\n' " + marker + " $$; printf '%s %s\\n' " + marker + " $$ >&2; " +
		"PATH=" + guestPath + "; export PATH; exec " + strings.Join(words, " ")
}

// killCommand returns the shell line that ends a command started by command,
// with its process group, which sshd makes for it.
func killCommand(pid int) string {
	return fmt.Sprintf("kill -s KILL -- -%d 2>/dev/null || kill -s KILL %d", pid, pid)
}
