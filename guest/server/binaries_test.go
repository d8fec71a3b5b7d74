package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script writes an executable shell script into a root and returns its path inside.
func script(t *testing.T, r *root, path, body string) string {
	t.Helper()
	full := r.outside(path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Only the new names, only the old ones, both, and a tarball's place.
func TestFindBinaries(t *testing.T) {
	for _, c := range []struct {
		name            string
		files           []string
		server, install string
	}{
		{"new names", []string{"/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"}, "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"},
		{"old names", []string{"/usr/sbin/mysqld", "/usr/bin/mysql_install_db"}, "/usr/sbin/mysqld", "/usr/bin/mysql_install_db"},
		{"both", []string{"/usr/sbin/mysqld", "/usr/sbin/mariadbd", "/usr/bin/mysql_install_db", "/usr/bin/mariadb-install-db"}, "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"},
		{"mysql 8", []string{"/usr/sbin/mysqld"}, "/usr/sbin/mysqld", ""},
		{"tarball", []string{"/usr/local/mysql/bin/mysqld", "/usr/local/mysql/scripts/mysql_install_db"}, "/usr/local/mysql/bin/mysqld", "/usr/local/mysql/scripts/mysql_install_db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &root{dir: t.TempDir()}
			for _, f := range c.files {
				script(t, r, f, "")
			}
			b, err := findBinaries(r)
			if err != nil || b.server != c.server || b.install != c.install {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
	if _, err := findBinaries(&root{dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "/usr/sbin/mysqld") {
		t.Errorf("an empty image: %v", err)
	}
	// A link is followed inside the image, not on this machine.
	r := &root{dir: t.TempDir()}
	script(t, r, "/opt/db/bin/mysqld", "")
	if err := os.MkdirAll(r.outside("/usr/sbin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/opt/db/bin/mysqld", r.outside("/usr/sbin/mysqld")); err != nil {
		t.Fatal(err)
	}
	if b, err := findBinaries(r); err != nil || b.server != "/usr/sbin/mysqld" {
		t.Errorf("%+v, %v", b, err)
	}
}

// A wrapper that prints a notice first is read; a missing library is named at once.
func TestDetect(t *testing.T) {
	here := &root{}
	dir := t.TempDir()
	at := func(name, body string) binaries {
		return binaries{server: script(t, here, filepath.Join(dir, name), body)}
	}
	p, err := detect(t.Context(), here, at("wrapper", `echo "mysqld: Deprecated program name, use mariadbd instead" >&2; echo "notice"; echo "mariadbd  Ver 11.8.9-MariaDB for Linux on x86_64"`))
	if err != nil || p.Flavour != MariaDB || p.Version != "11.8.9" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = detect(t.Context(), here, at("broken", `echo "$0: error while loading shared libraries: libaio.so.1: cannot open shared object file: No such file or directory" >&2; exit 127`))
	if err == nil || !strings.Contains(err.Error(), "libaio.so.1") || !strings.Contains(err.Error(), "127") {
		t.Errorf("%v", err)
	}
	_, err = detect(t.Context(), here, at("mute", `exit 0`))
	if err == nil || !strings.Contains(err.Error(), "no version") {
		t.Errorf("%v", err)
	}
}

func TestLookUpAccount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(file, []byte("root:x:0:0:root:/root:/bin/sh\nmysql:x:980:981::/nonexistent:/usr/sbin/nologin\nbad:x:a:b::/:/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a, err := lookUpAccount(file, "mysql"); err != nil || a.uid != 980 || a.gid != 981 || !a.drop {
		t.Errorf("%+v, %v", a, err)
	}
	for name, want := range map[string]string{"maria": "has no such user", "bad": "has no numbers"} {
		if _, err := lookUpAccount(file, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIOFlags(t *testing.T) {
	log := "0 [Note] InnoDB: Using Linux native AIO\n0 [Warning] InnoDB: Linux Native AIO disabled.\n0 [Warning] InnoDB: liburing disabled: falling back to innodb_use_native_aio=OFF\n" +
		"[Warning] InnoDB: io_setup() failed with EAGAIN after 5 attempts.\n0 [Note] ready for connections\n"
	if flags := ioFlags(log); len(flags) != 3 {
		t.Errorf("%v", flags)
	}
}

func TestCatalogue(t *testing.T) {
	var b strings.Builder
	b.WriteString("mysqld  Ver 8.4.0\nThe following options may be given as the first argument:\n--print-defaults        Print and exit.\n\n  -a, --ansi          Use ANSI\n  --allow-suspicious-udfs \n                      Allows --not-an-option\n  --max_connections=#\n\nVariables (--variable-name=value)\nand boolean options {FALSE|TRUE}     Value (after reading options)\n---------------- -----\nmax-connections            151\nname-resolve               TRUE\nlog-bin                    (No default value)\n")
	for i := range 60 {
		b.WriteString("filler-" + strings.Repeat("x", i+1) + "   0\n")
	}
	b.WriteString("\nTo see what values a running MySQL server is using, type\n'mysqladmin variables' instead of 'mysqld --verbose --help'.\n")
	c, err := ParseCatalogue(b.String())
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[string]bool{"ansi": true, "allow-suspicious-udfs": true, "max-connections": true, "skip-name-resolve": true, "disable-log-bin": true,
		"not-an-option": false, "to": false, "and": false, "print-defaults": false, "skip-nothing": false} {
		if c.Knows(option) != want {
			t.Errorf("%s known: %v", option, c.Knows(option))
		}
	}
	if v, _ := c.Default("max-connections"); v != "151" {
		t.Errorf("default %q", v)
	}
	if _, err := ParseCatalogue("mysqld: unknown option\n"); err == nil {
		t.Error("no list accepted")
	}
}
