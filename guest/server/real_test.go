package server

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var vm = flag.Bool("vm", false, "run tests that need an installed database server, root and mounts")

func needVM(t *testing.T) {
	t.Helper()
	if !*vm {
		t.Skip("needs -vm: Debian's mariadb-server package on this machine, and root")
	}
}

// openDir is a directory the server's user can enter; t.TempDir's parent is closed to others.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "platter-server-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func testConfig(t *testing.T) Config {
	t.Helper()
	dir := openDir(t)
	c := Config{MountPoint: filepath.Join(dir, "fs"), RunDir: filepath.Join(dir, "run"), StartLimit: time.Minute, StopLimit: time.Minute, Log: t.Logf}
	if err := os.Mkdir(c.MountPoint, 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

func prepare(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func started(t *testing.T, c Config) *Server {
	t.Helper()
	s := prepare(t, c)
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// The whole life of a server: made, started, described, restarted, stopped; its files where they belong and owned by mysql.
func TestLife(t *testing.T) {
	needVM(t)
	c := testConfig(t)
	c.Options = map[string]string{"innodb_buffer_pool_size": "32M", "innodb-log-file-size": "1", "skip-name-resolve": "", "loose-nonsense": "7"}
	c.Needs = Needs{Connections: 400, PreparedStatements: 20000}
	s := started(t, c)

	settings, flags, err := s.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range settings {
		if x.Effective != nil {
			got[x.Name] = *x.Effective
		}
	}
	for name, want := range map[string]string{"innodb_buffer_pool_size": "33554432", "innodb-log-file-size": "4194304",
		"skip-name-resolve": "ON", "max-connections": "420", "max-prepared-stmt-count": "20000"} {
		if got[name] != want {
			t.Errorf("%s in force: %q, want %q", name, got[name], want)
		}
	}
	text := ""
	for _, f := range flags {
		text += f.Name + ": " + f.Detail + "\n"
	}
	if !strings.Contains(text, "asked_not_effective: innodb-log-file-size: asked 1, in force 4194304") || !strings.Contains(text, "option_not_given: loose-nonsense") {
		t.Errorf("flags:\n%s", text)
	}

	facts, err := s.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if facts.Flavour != MariaDB || facts.Engines["InnoDB"] == "" || facts.StartSeconds == nil || facts.InitSeconds == nil || facts.Version == "" {
		t.Errorf("facts %+v", facts)
	}
	if facts.Variables["datadir"] != s.DataDir()+"/" || strings.HasPrefix(facts.Variables["socket"], c.MountPoint) || strings.HasPrefix(facts.Variables["tmpdir"], c.MountPoint) {
		t.Errorf("datadir %s socket %s tmpdir %s", facts.Variables["datadir"], facts.Variables["socket"], facts.Variables["tmpdir"])
	}
	entries, _ := os.ReadDir(c.MountPoint)
	if len(entries) != 1 || entries[0].Name() != "mysql" {
		t.Errorf("the filesystem under test holds %v, want mysql only", entries)
	}
	info, err := os.Stat(s.DataDir())
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != s.root.account.uid || s.root.account.uid == 0 {
		t.Errorf("owner of the data directory: %v %v", info, err)
	}

	before := s.PID()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.PID() == before || s.ExitErr() != nil {
		t.Errorf("restart kept pid %d, or %v", before, s.ExitErr())
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, stop := s.Seconds(); stop == nil || s.PID() != 0 || s.ExitErr() != nil {
		t.Errorf("after stop: seconds %v pid %d err %v", stop, s.PID(), s.ExitErr())
	}
	if err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), "must be new") {
		t.Errorf("initialising a used directory: %v", err)
	}
}

// A server that is killed is seen within a second, and the error says how it ended.
func TestKilledServerIsSeen(t *testing.T) {
	needVM(t)
	s := started(t, testConfig(t))
	begin := time.Now()
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Exited():
	case <-time.After(time.Second):
		t.Fatal("not seen within a second")
	}
	if err := s.ExitErr(); err == nil || !strings.Contains(err.Error(), "SIGKILL") {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
	if err := s.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "SIGKILL") {
		t.Errorf("stopping a dead server: %v", err)
	}
}

// A value the server refuses ends the start at once, with the line of the log that says so.
func TestRefusedValueQuotesTheLog(t *testing.T) {
	needVM(t)
	c := testConfig(t)
	s := started(t, c)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Options, c.Reuse = map[string]string{"innodb-flush-method": "sideways"}, true
	s = prepare(t, c)
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err := s.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "sideways") || !strings.Contains(err.Error(), "ERROR") {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// Misspelt options never reach a server.
func TestMisspeltOption(t *testing.T) {
	needVM(t)
	c := testConfig(t)
	c.Options = map[string]string{"innodb_bufer_pool_size": "1G", "max_conections": "5"}
	begin := time.Now()
	_, err := Prepare(context.Background(), c)
	if err == nil || !strings.Contains(err.Error(), `"innodb_bufer_pool_size"`) || !strings.Contains(err.Error(), `"innodb-buffer-pool-size"`) || !strings.Contains(err.Error(), `"max-connections"`) {
		t.Errorf("%v", err)
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

// A server image in small: this machine's /usr and /etc, read-only, and the directories platter binds to.
func makeImage(t *testing.T) string {
	t.Helper()
	image := openDir(t)
	for _, d := range []string{"usr", "etc", "proc", "dev", "sys", "tmp", "platter/data", "platter/run"} {
		if err := os.MkdirAll(filepath.Join(image, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+link, filepath.Join(image, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"usr", "etc"} {
		target := filepath.Join(image, d)
		if err := syscall.Mount("/"+d, target, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(target, 0); err != nil {
				t.Errorf("the image is still busy: %v", err)
			}
		})
		if err := syscall.Mount("", target, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

func TestServerImage(t *testing.T) {
	needVM(t)
	image := makeImage(t)
	c := testConfig(t)
	c.Root = image
	s := started(t, c)
	facts, err := s.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if facts.Variables["datadir"] != "/platter/data/mysql/" {
		t.Errorf("datadir %s", facts.Variables["datadir"])
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A filesystem with lost+found at its top, as ext4 has; a full one; one the server's user cannot reach.
func TestFilesystems(t *testing.T) {
	needVM(t)
	c := testConfig(t)
	if err := os.Mkdir(filepath.Join(c.MountPoint, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := started(t, c)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	full := testConfig(t)
	if err := syscall.Mount("tmpfs", full.MountPoint, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(full.MountPoint, 0) })
	s = prepare(t, full)
	if err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), "28") && !strings.Contains(err.Error(), "No space left") {
		t.Errorf("initialising on 8 MiB: %v", err)
	}

	closed := testConfig(t)
	if err := os.Chmod(filepath.Dir(closed.MountPoint), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(t.Context(), closed); err == nil || !strings.Contains(err.Error(), "cannot enter") {
		t.Errorf("a directory closed to others: %v", err)
	}

	other := testConfig(t)
	if err := os.MkdirAll(filepath.Join(other.MountPoint, "mysql", "leftover"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, reuse := range []bool{false, true} {
		other.Reuse = reuse
		s := prepare(t, other)
		if err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), map[bool]string{false: "must be new", true: "no server initialised it"}[reuse]) {
			t.Errorf("reuse %v of something else: %v", reuse, err)
		}
	}
}
