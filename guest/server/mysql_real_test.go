package server

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
)

// mountImage mounts a server image of the catalogue, building it when the cache has none.
func mountImage(t *testing.T, name string) string {
	t.Helper()
	store, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := images.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	options := images.Options{Arch: runtime.GOARCH, Mirror: os.Getenv("PLATTER_MIRROR")}
	image, err := store.Ensure(t.Context(), recipe, options, func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	dir := openDir(t)
	if out, err := exec.Command("mount", "-t", "squashfs", "-o", "ro,loop", image.Root(), dir).CombinedOutput(); err != nil {
		t.Fatalf("mount %s: %v: %s", image.Root(), err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("the image is still busy: %v: %s", err, out)
		}
	})
	return dir
}

// MySQL's caching_sha2_password checks a user it remembers in one exchange, and one it does not, after a restart, in a
// longer one that refuses a bare TCP link. Over the socket both work, with and without a password.
func TestRestartWithColdPasswordCache(t *testing.T) {
	needVM(t)
	c := testConfig(t)
	c.Root, c.StartLimit = mountImage(t, "mysql-9.7"), 3*time.Minute
	c.Options = map[string]string{"innodb_log_file_size": "1", "innodb_buffer_pool_size": "32M"}
	s := started(t, c)
	db, err := s.DB(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"CREATE USER load_generator IDENTIFIED WITH caching_sha2_password BY 'secret'", "GRANT ALL ON *.* TO load_generator"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	login := func(when string) {
		t.Helper()
		for _, user := range []string{"root", "load_generator"} {
			dsn := mysql.NewConfig()
			dsn.User, dsn.Net, dsn.Addr = user, "unix", s.Socket()
			if user != "root" {
				dsn.Passwd = "secret"
			}
			db, err := sql.Open("mysql", dsn.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var plugin string
			err = db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT plugin FROM mysql.user WHERE user = '%s'", user)).Scan(&plugin)
			if err != nil || plugin != "caching_sha2_password" {
				t.Errorf("%s, %s logs in by %q: %v", when, user, plugin, err)
			}
		}
	}
	login("with a warm cache")
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if conn, err := s.Connect(t.Context(), "mysql"); err != nil {
		t.Errorf("the way workloads take, after a restart: %v", err)
	} else {
		conn.Close()
	}
	login("after a restart")

	facts, err := s.Facts(t.Context())
	if err != nil || facts.Flavour != MySQL || !strings.HasPrefix(facts.Version, "9.7.") {
		t.Errorf("facts %s %s, %v", facts.Flavour, facts.Version, err)
	}
	redoLog(t, s)
}

// redoLog wants a redo log of one byte, under its older name, to be flagged with what became of it.
func redoLog(t *testing.T, s *Server) {
	t.Helper()
	settings, flags, err := s.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range flags {
		fmt.Fprintln(&text, f.Name+": "+f.Detail)
	}
	for _, want := range []string{"option_changed: innodb_log_file_size: set as innodb-redo-log-capacity=1", "asked_not_effective: innodb_log_file_size: asked 1, in force 8388608"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no flag %q in\n%s", want, text.String())
		}
	}
	for _, setting := range settings {
		if setting.Name == "innodb_log_file_size" && (setting.Asked == nil || *setting.Asked != "1" || setting.Effective == nil || *setting.Effective != "8388608") {
			t.Errorf("setting %+v", setting)
		}
	}
}

// A lost+found beside the data directory, options that MySQL 9.7 does not have, temporary files on the filesystem under test.
func TestMySQLImage(t *testing.T) {
	needVM(t)
	c := testConfig(t)
	c.Root = mountImage(t, "mysql-9.7")
	if err := os.Mkdir(filepath.Join(c.MountPoint, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Options = map[string]string{"query_cache_size": "1M", "innodb_bufer_pool_size": "32M"}
	began := time.Now()
	_, err := Prepare(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), `"query_cache_size"`) || !strings.Contains(err.Error(), `"innodb-buffer-pool-size"`) {
		t.Errorf("%v", err)
	}
	t.Logf("refused after %v", time.Since(began)) // the server is asked twice, which a busy host makes slow
	c.Options = map[string]string{"tmpdir": "data"}
	s := prepare(t, c)
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.OptionFile())
	if err != nil || !strings.Contains(string(text), "tmpdir = /platter/data/tmp\n") || !strings.Contains(string(text), "socket = /platter/run/") {
		t.Errorf("option file, %v:\n%s", err, text)
	}
	if info, err := os.Stat(filepath.Join(c.MountPoint, "tmp")); err != nil || !info.IsDir() {
		t.Errorf("temporary files were asked for beside the data directory: %v", err)
	}
}
