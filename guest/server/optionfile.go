package server

import (
	"fmt"
	"strings"
)

// setting is one line of the option file.
type setting struct {
	name, value string
	bare        bool
}

// places are the paths of one server, as the server itself sees them (inside its root).
type places struct {
	data, socket, pid, tmp, optionFile string
}

// baseSettings are the lines every server gets, whatever the study asks: where its files lie, and that it talks to its
// socket only. secure-file-priv and mysqlx exist only in some servers.
func baseSettings(c Catalogue, product Product, p places) []setting {
	out := []setting{
		{name: "datadir", value: p.data}, {name: "socket", value: p.socket},
		{name: "pid-file", value: p.pid}, {name: "tmpdir", value: p.tmp},
		{name: "skip-networking", bare: true},
	}
	for _, optional := range []setting{
		{name: "mysqlx", value: "OFF"}, // else MySQL 8 and later open a second socket and a TCP port
		{name: "secure-file-priv", value: "NULL"},
		{name: "innodb-buffer-pool-dump-at-shutdown", value: "OFF"}, // a dumped pool would warm a start that is said to be cold
		{name: "innodb-buffer-pool-load-at-startup", value: "OFF"},
	} {
		// MariaDB reads secure-file-priv=NULL as a directory of that name.
		if optional.name == "secure-file-priv" && product.Flavour == MariaDB {
			continue
		}
		if c.Knows(optional.name) {
			out = append(out, optional)
		}
	}
	return out
}

// optionFile renders the only option file the server reads. Later lines win, so the asked options come last.
func optionFile(product Product, base, needed []setting, asked []option) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by platter for %s %s; the server reads no other option file.\n[mysqld]\n", product.Flavour, product.Version)
	for _, s := range base {
		writeSetting(&b, s)
	}
	if len(needed) > 0 {
		b.WriteString("\n# what the workload needs\n")
	}
	for _, s := range needed {
		writeSetting(&b, s)
	}
	if len(asked) > 0 {
		b.WriteString("\n# asked\n")
	}
	for _, o := range asked {
		switch {
		case o.drop != "":
			fmt.Fprintf(&b, "# not given: %s: %s\n", o.asked, o.drop)
		case o.name == "tmpdir": // already among the base settings
		default:
			writeSetting(&b, setting{o.name, o.value, o.bare})
		}
	}
	return b.String()
}

func writeSetting(b *strings.Builder, s setting) {
	if s.bare {
		fmt.Fprintln(b, s.name)
		return
	}
	fmt.Fprintf(b, "%s = %s\n", s.name, quoteValue(s.value))
}

// quoteValue quotes a value the way option files need it: # starts a comment even inside a line, blanks at the ends are
// dropped and backslashes are escapes.
func quoteValue(v string) string {
	v = strings.ReplaceAll(v, `\`, `\\`)
	if strings.ContainsAny(v, "#'\"") || strings.TrimSpace(v) != v {
		return `"` + strings.ReplaceAll(v, `"`, `\"`) + `"`
	}
	return v
}
