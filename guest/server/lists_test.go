package server

import (
	"os"
	"strings"
	"testing"
)

// listOf is the table of variables that a real server printed for --verbose --help.
func listOf(t *testing.T, image string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + image + ".options")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var listed = []string{"mysql-9.7", "mariadb-11.8", "mariadb-10.11"}

// Every profile can be asked for on every server of the catalogue.
func TestProfilesOnRealLists(t *testing.T) {
	for _, image := range listed {
		for _, p := range Profiles {
			if p.Doc == "" || !strings.HasSuffix(p.Doc, ".") {
				t.Errorf("profile %s has the documentation %q", p.Name, p.Doc)
			}
			if err := CheckKnown(listOf(t, image), p.Name, nil, 2<<30); err != nil {
				t.Errorf("profile %s on %s: %v", p.Name, image, err)
			}
		}
	}
}

// What studies of any age ask for, and the name and value each server gets it by; "" is not given, - is refused.
func TestRenamesOnRealLists(t *testing.T) {
	for _, c := range []struct{ option, value, mysql, mariadb string }{
		{"innodb_log_file_size", "64M", "innodb-redo-log-capacity=64M", "innodb-log-file-size=64M"},
		{"innodb_redo_log_capacity", "1G", "innodb-redo-log-capacity=1G", "innodb-log-file-size=1073741824"},
		{"innodb_flush_method", "fdatasync", "innodb-flush-method=fsync", "innodb-flush-method=fsync"},
		{"innodb_flush_method", "o_direct", "innodb-flush-method=O_DIRECT", "innodb-flush-method=O_DIRECT"},
		{"innodb_doublewrite", "OFF", "innodb-doublewrite=OFF", "innodb-doublewrite=OFF"},
		{"default_authentication_plugin", "mysql_native_password", "authentication-policy=mysql_native_password", "-"},
		{"tx_isolation", "READ-COMMITTED", "transaction-isolation=READ-COMMITTED", "transaction-isolation=READ-COMMITTED"},
		{"query_cache_size", "0", "", "query-cache-size=0"},
		{"query_cache_size", "16M", "-", "query-cache-size=16M"},
		{"key_buffer", "16M", "key-buffer-size=16M", "key-buffer-size=16M"},
		{"table_cache", "512", "table-open-cache=512", "table-cache=512"},
		{"skip-innodb-doublewrite", "", "skip-innodb-doublewrite=", "skip-innodb-doublewrite="},
		{"innodb_bufer_pool_size", "1G", "-", "-"},
	} {
		for _, image := range listed {
			want := c.mariadb
			if image == "mysql-9.7" {
				want = c.mysql
			}
			catalogue, err := ParseCatalogue(listOf(t, image))
			if err != nil {
				t.Fatal(err)
			}
			got := "-"
			options, err := resolveOptions(catalogue, nil, map[string]string{c.option: c.value})
			if err == nil {
				got = ""
				if o := options[0]; o.drop == "" {
					got = o.name + "=" + o.value
				}
			}
			if got != want {
				t.Errorf("%s=%s on %s: %q, want %q (%v)", c.option, c.value, image, got, want, err)
			}
		}
	}
}

// The host's check says what the guest would, and nothing where plugins would add options.
func TestCheckKnown(t *testing.T) {
	list := listOf(t, "mariadb-11.8")
	err := CheckKnown(list, "", map[string]string{"max_conections": "5", "innodb_buffer_pool_size": "64M"}, 0)
	if err == nil || err.Error() != `option "max_conections" is unknown to this server; the nearest it knows is "max-connections"` {
		t.Errorf("%v", err)
	}
	if err := CheckKnown(list, "", map[string]string{"plugin_load_add": "ha_rocksdb", "rocksdb_flush_log_at_trx_commit": "2"}, 0); err != nil {
		t.Errorf("an option of a plugin: %v", err)
	}
	if err := CheckKnown(list, "durabel", nil, 0); err == nil {
		t.Error("an unknown profile was accepted")
	}
	if err := CheckKnown("mysqld: cannot be run here\n", "", nil, 0); err == nil {
		t.Error("no list was accepted")
	}
}

// A distribution that was compiled for another place is told where its parts are.
func TestRelocation(t *testing.T) {
	r := &root{dir: t.TempDir()}
	for _, file := range []string{"share/mysql/english/errmsg.sys", "share/mysql/charsets/Index.xml", "lib/plugin/ha_archive.so", "libexec/mysqld"} {
		script(t, r, tarballDir+"/"+file, "")
	}
	b, err := findBinaries(r)
	if err != nil || b.server != "/usr/local/mysql/libexec/mysqld" || baseOf(b.server) != tarballDir {
		t.Fatalf("%+v, %v", b, err)
	}
	text := func(c Catalogue, base string) string {
		var out []string
		for _, s := range relocation(r, c, base) {
			out = append(out, s.name+"="+s.value)
		}
		return strings.Join(out, " ")
	}
	modern := catalogueOf("basedir", "", "lc-messages-dir", "", "character-sets-dir", "", "plugin-dir", "")
	if got, want := text(modern, baseOf(b.server)), "basedir=/usr/local/mysql lc-messages-dir=/usr/local/mysql/share/mysql character-sets-dir=/usr/local/mysql/share/mysql/charsets plugin-dir=/usr/local/mysql/lib/plugin"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	old := catalogueOf("basedir", "", "language", "")
	if got, want := text(old, tarballDir), "basedir=/usr/local/mysql language=/usr/local/mysql/share/mysql/english"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := text(modern, baseOf("/usr/sbin/mysqld")); got != "" {
		t.Errorf("a packaged server is given %s", got)
	}
	if env := command(t.Context(), r, b.server).Env; !strings.Contains(strings.Join(env, "\n"), "LD_LIBRARY_PATH=/usr/local/mysql/lib:/usr/local/mysql/lib/private:") {
		t.Errorf("environment %q", env)
	}
}
