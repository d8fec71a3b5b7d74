package server

import "testing"

func TestParseVersion(t *testing.T) {
	for _, c := range []struct{ name, output, flavour, version, full string }{
		{"mysql 5.7", "mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))", MySQL, "5.7.44", "5.7.44"},
		{"percona", "/usr/sbin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)", Percona, "8.0.36", "8.0.36-28"},
		{"mysql 8.4", "/usr/sbin/mysqld  Ver 8.4.0 for Linux on x86_64 (MySQL Community Server - GPL)", MySQL, "8.4.0", "8.4.0"},
		{"mysql 9.7 of Debian", "/usr/sbin/mysqld  Ver 9.7.4-1 for Linux on x86_64 ((Debian))", MySQL, "9.7.4", "9.7.4-1"},
		{"mysql 4.1", "./libexec/mysqld  Ver 4.1.22 for pc-linux-gnu on i686 (Source distribution)", MySQL, "4.1.22", "4.1.22"},
		{"mariadb", "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)", MariaDB, "10.11.19", "10.11.19-MariaDB-0+deb12u1"},
		{"mariadb from", "mariadbd from 11.4.2-MariaDB, client 15.2 for debian-linux-gnu (x86_64) using  EditLine wrapper", MariaDB, "11.4.2", "11.4.2-MariaDB"},
		{"mariadb client distrib", "mysql  Ver 15.1 Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)", MariaDB, "10.11.6", "10.11.6-MariaDB"},
		{"notice first", "mysqld: Deprecated program name. It will be removed in a future release, use '/usr/sbin/mariadbd' instead\n/usr/sbin/mariadbd  Ver 11.8.9-MariaDB-0+deb13u1 for debian-linux-gnu on x86_64 ( )\n", MariaDB, "11.8.9", "11.8.9-MariaDB-0+deb13u1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParseVersion(c.output)
			if err != nil {
				t.Fatal(err)
			}
			if p.Flavour != c.flavour || p.Version != c.version || p.Full != c.full {
				t.Errorf("got %s %s (%s), want %s %s (%s)", p.Flavour, p.Version, p.Full, c.flavour, c.version, c.full)
			}
		})
	}
	if p, err := ParseVersion("bash: mysqld: command not found\n"); err == nil {
		t.Errorf("no version accepted as %+v", p)
	}
}

func TestAtLeast(t *testing.T) {
	p, err := ParseVersion("mysqld  Ver 8.0.30 for Linux on x86_64")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v    [3]int
		want bool
	}{{[3]int{8, 0, 30}, true}, {[3]int{8, 0, 31}, false}, {[3]int{5, 7, 44}, true}, {[3]int{8, 4, 0}, false}, {[3]int{10, 0, 0}, false}} {
		if got := p.AtLeast(c.v[0], c.v[1], c.v[2]); got != c.want {
			t.Errorf("8.0.30 at least %v: %v", c.v, got)
		}
	}
}
