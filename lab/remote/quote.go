package remote

import "strings"

// guestPath replaces the PATH of a non-login shell, which often has no sbin
// directories although mkfs lives there.
const guestPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// quote makes one word of a POSIX shell out of s.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// command returns the shell line that prints marker on both streams and then
// becomes argv. The marker separates the command's own output from whatever a
// login script printed before. exec keeps signals: without it the shell would
// turn a killed command into status 128+n.
func command(marker string, argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = quote(arg)
	}
	return "printf %s " + marker + "; printf %s " + marker + " >&2; " +
		"PATH=" + guestPath + "; export PATH; exec " + strings.Join(words, " ")
}
