package server

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platter/results"
)

var update = flag.Bool("update", false, "rewrite golden files")

// catalogues of a few kinds of servers, cut down to what the tests need; the real list is read in the -vm tests.
func catalogueOf(defaults ...string) Catalogue {
	c := Catalogue{defaults: map[string]string{}}
	for i := 0; i < len(defaults); i += 2 {
		c.add(defaults[i], defaults[i+1])
	}
	return c
}

var common = []string{"max-connections", "151", "max-prepared-stmt-count", "16382", "max-allowed-packet", "16777216", "innodb-buffer-pool-size", "134217728",
	"innodb-flush-method", "O_DIRECT", "skip-name-resolve", "FALSE", "innodb-doublewrite", "TRUE", "innodb-flush-log-at-trx-commit", "1", "sync-binlog", "0",
	"log-bin", "(No default value)", "tmpdir", "", "transaction-isolation", "REPEATABLE-READ", "innodb-buffer-pool-dump-at-shutdown", "TRUE", "innodb-buffer-pool-load-at-startup", "TRUE"}

var flavours = map[string]struct {
	version   string
	catalogue Catalogue
}{
	"mariadb-10.11": {"mariadbd  Ver 10.11.19-MariaDB", catalogueOf(append([]string{"innodb-log-file-size", "100663296", "query-cache-size", "1048576", "query-cache-type", "OFF", "secure-file-priv", ""}, common...)...)},
	"mysql-9.7":     {"mysqld  Ver 9.7.4 for Linux", catalogueOf(append([]string{"innodb-redo-log-capacity", "104857600", "mysqlx", "ON", "secure-file-priv", "NULL", "authentication-policy", "*,,", "log-replica-updates", "TRUE"}, common...)...)},
	"mysql-5.7":     {"mysqld  Ver 5.7.44 for Linux", catalogueOf(append([]string{"innodb-log-file-size", "50331648", "innodb-log-files-in-group", "2", "default-authentication-plugin", "mysql_native_password", "log-slave-updates", "FALSE", "query-cache-size", "1048576", "tx-isolation", "REPEATABLE-READ", "secure-file-priv", "NULL"}, common...)...)},
}

// The same study's options on three servers: the whole option file is kept as a golden file for each.
func TestOptionFile(t *testing.T) {
	asked := map[string]string{"innodb_redo_log_capacity": "1G", "innodb-flush-method": "fdatasync", "query_cache_size": "0", "skip-name-resolve": "",
		"loose-fancy": "1", "innodb_buffer_pool_size": "64M", "log_bin": `binlog#1`}
	for name, f := range flavours {
		t.Run(name, func(t *testing.T) {
			product, err := ParseVersion(f.version)
			if err != nil {
				t.Fatal(err)
			}
			profile, err := ProfileOptions("durable", 4<<30)
			if err != nil {
				t.Fatal(err)
			}
			options, err := resolveOptions(f.catalogue, profile, asked)
			if err != nil {
				t.Fatal(err)
			}
			needed, err := neededSettings(f.catalogue, Needs{Connections: 256, PreparedStatements: 20000, PacketBytes: 1 << 20}, options)
			if err != nil {
				t.Fatal(err)
			}
			base := baseSettings(f.catalogue, product, places{data: "/platter/data/mysql", socket: "/platter/run/mysqld.sock", pid: "/platter/run/mysqld.pid", tmp: "/platter/run/tmp"})
			golden(t, name+".cnf", optionFile(product, base, needed, options))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", path, got)
	}
}

func TestRefusedOptions(t *testing.T) {
	for _, c := range []struct {
		flavour, name, value, want string
	}{
		{"mariadb-10.11", "innodb_bufer_pool_size", "1G", `"innodb_bufer_pool_size" is unknown to this server; the nearest it knows is "innodb-buffer-pool-size"`},
		{"mariadb-10.11", "default_authentication_plugin", "x", "is unknown to this server"},
		{"mysql-9.7", "query-cache-size", "64M", "is unknown to this server"},
		{"mysql-5.7", "innodb-redo-log-capacity", "much", `"much" is not a size`},
		{"mysql-9.7", "datadir", "/x", "cannot be asked for"},
		{"mysql-9.7", "skip_networking", "", "cannot be asked for"},
		{"mysql-9.7", "log bin", "x", "without blanks"},
		{"mysql-9.7", "log-bin", "x\ndatadir=/", "one line"},
		{"mysql-9.7", "tmpdir", "/elsewhere", "the word data"},
	} {
		_, err := resolveOptions(flavours[c.flavour].catalogue, nil, map[string]string{c.name: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v, want %q", c.name, c.flavour, err, c.want)
		}
	}
	_, err := resolveOptions(flavours["mysql-9.7"].catalogue, nil, map[string]string{"innodb-log-file-size": "1G", "innodb_redo_log_capacity": "1G"})
	if err == nil || !strings.Contains(err.Error(), "leave one out") {
		t.Errorf("two names of one setting: %v", err)
	}
}

func TestCheckOptionsWithoutServer(t *testing.T) {
	errs := CheckOptions("fast", map[string]string{"socket": "/x", "max_connections": "5", "a b": "1"}, 1<<30)
	if len(errs) != 3 {
		t.Errorf("%v, want three faults", errs)
	}
	if errs := CheckOptions("tiny-pool", map[string]string{"max_connections": "5"}, 1<<30); errs != nil {
		t.Errorf("%v", errs)
	}
}

// An asked limit below the workload's need is refused before anything starts; 20 connections are kept for platter.
func TestNeeds(t *testing.T) {
	c := flavours["mariadb-10.11"].catalogue
	for _, x := range []struct {
		option, value string
		needs         Needs
		want          string
	}{
		{"max_connections", "10", Needs{Connections: 32}, "max_connections=10 is too low: the workload needs 52 connections"},
		{"max_prepared_stmt_count", "20", Needs{PreparedStatements: 352}, "max_prepared_stmt_count=20 is too low: the workload needs 352 prepared statements"},
		{"", "", Needs{PreparedStatements: 2000000}, "use fewer clients or tables"},
	} {
		asked := map[string]string{}
		if x.option != "" {
			asked[x.option] = x.value
		}
		options, err := resolveOptions(c, nil, asked)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := neededSettings(c, x.needs, options); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x, err, x.want)
		}
	}
	settings, err := neededSettings(c, Needs{Connections: 100, PreparedStatements: 100}, nil)
	if err != nil || settings != nil {
		t.Errorf("needs within the defaults set %v, %v", settings, err)
	}
}

func TestCompareSettings(t *testing.T) {
	options := []option{
		{asked: "innodb_log_file_size", name: "innodb-log-file-size", value: "1", said: "1"},
		{asked: "innodb-buffer-pool-size", name: "innodb-buffer-pool-size", value: "1G", said: "1G"},
		{asked: "skip-name-resolve", name: "skip-name-resolve", bare: true},
		{asked: "skip-log-bin", name: "skip-log-bin", bare: true},
		{asked: "log-bin", name: "log-bin", value: "binlog", said: "binlog"},
		{asked: "innodb_flush_method", name: "innodb-flush-method", value: "fsync", said: "fdatasync"},
		{asked: "optimizer_switch", name: "optimizer-switch", value: "mrr=on", said: "mrr=on"},
		{asked: "plugin-load-add", name: "plugin-load-add", value: "ha_rocksdb", said: "ha_rocksdb"},
		{asked: "loose-x", name: "x", value: "1", said: "1", drop: "unknown"},
	}
	settings, flags := compareSettings(options, []setting{{name: "max-connections", value: "420"}}, map[string]string{
		"innodb_log_file_size": "4194304", "innodb_buffer_pool_size": "1073741824", "skip_name_resolve": "ON", "log_bin": "OFF",
		"innodb_flush_method": "fsync", "optimizer_switch": "index_merge=on,mrr=on", "max_connections": "214"})
	var got []string
	for _, f := range flags {
		got = append(got, f.Name+" "+f.Detail)
	}
	want := []string{"asked_not_effective innodb_log_file_size: asked 1, in force 4194304", "asked_not_effective log-bin: asked binlog, in force OFF",
		"option_not_given loose-x: unknown", "asked_not_effective max-connections: the workload needs 420, in force 214"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("flags:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(settings) != 10 {
		t.Errorf("%d settings, want all ten asked or needed", len(settings))
	}
	if s := byName(settings, "innodb_flush_method"); s == nil || *s.Asked != "fdatasync" || *s.Effective != "fsync" {
		t.Errorf("a respelt value is stored as %+v", s)
	}
	if s := byName(settings, "plugin-load-add"); s == nil || s.Effective != nil {
		t.Errorf("an option without a variable has %v in force", s)
	}
}

func byName(settings []results.Setting, name string) *results.Setting {
	for i := range settings {
		if settings[i].Name == name {
			return &settings[i]
		}
	}
	return nil
}

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		asked, effective string
		same             bool
	}{
		{"1G", "1073741824", true}, {"1g", "1073741824", true}, {"ON", "1", true}, {"true", "ON", true}, {"OFF", "0", true}, {"no", "OFF", true},
		{"o_direct", "O_DIRECT", true}, {"0.5", "0.500000", true}, {"/var/tmp", "/var/tmp/", true}, {"innodb", "InnoDB", true}, {"64K", "65536", true},
		{"1", "4194304", false}, {"ON", "OFF", false}, {"1G", "1M", false}, {"fsync", "O_DIRECT", false}, {"", "1", false}, {"9E", "1", false},
	} {
		if got := sameValue(c.asked, c.effective); got != c.same {
			t.Errorf("%q and %q: same %v", c.asked, c.effective, got)
		}
	}
}
