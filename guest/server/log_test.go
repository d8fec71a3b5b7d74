package server

import (
	"os/exec"
	"strings"
	"testing"
)

func TestTellingLine(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"unknown option", "2026-11-30 17:46:35 0 [Note] Starting MariaDB\n2026-11-30 17:46:35 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'foo=1'\n2026-11-30 17:46:35 0 [ERROR] Aborting\n", "unknown variable 'foo=1'"},
		{"mysql", "2026-01-01T00:00:00Z 0 [ERROR] [MY-000067] [Server] unknown variable 'foo=1'.\n2026-01-01T00:00:00Z 0 [ERROR] [MY-010119] [Server] Aborting\n", "unknown variable 'foo=1'"},
		{"library", "/usr/sbin/mariadbd: error while loading shared libraries: libaio.so.1: cannot open shared object file: No such file or directory\n", "libaio.so.1"},
		{"disk full before its consequences", "0 [ERROR] InnoDB: Cannot create file\n0 [ERROR] InnoDB: Write to file ./ibdata1 failed at offset 0, OS error: 28\n0 [ERROR] Plugin 'InnoDB' init function returned error.\n0 [ERROR] Aborting\n", "OS error: 28"},
		{"signal", "0 [Note] ready\n261130 18:00:00 [ERROR] mysqld got signal 11 ;\nSorry, we probably made a mistake\n", "got signal 11"},
		{"nothing telling", "first\nlast\n\n", "last"},
		{"empty", "", ""},
	} {
		if got := tellingLine(c.log); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestExitErrors(t *testing.T) {
	for _, c := range []struct{ script, log, want string }{
		{"exit 127", "mysqld: error while loading shared libraries: libnuma.so.1: cannot open", "could not be loaded (status 127): mysqld: error while loading shared libraries: libnuma.so.1"},
		{"exit 1", "[ERROR] no", "ended with status 1: [ERROR] no"},
		{"kill -9 $$", "", "SIGKILL"},
		{"kill -11 $$", "", "ended by SIGSEGV and printed nothing"},
	} {
		cmd := exec.Command("/bin/sh", "-c", c.script)
		err := exitError(cmd, cmd.Run(), c.log)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.script, err, c.want)
		}
	}
	cmd := exec.Command("/no/such/server")
	if err := exitError(cmd, cmd.Run(), ""); !strings.Contains(err.Error(), "start /no/such/server") {
		t.Errorf("%v", err)
	}
}
