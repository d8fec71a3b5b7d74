package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"platter/images/cache"
)

// nobody is an unprivileged user that every Linux has.
const nobody = 65534

// session is an unprivileged user with directories of its own, and so with a libvirt of its own.
type session struct {
	home string
	env  []string
}

// newSession makes the user's directories and copies what it runs: platter, the images and some studies of testdata.
func newSession(t *testing.T, studies ...string) session {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user; as that user, the other tests already run in a session")
	}
	// Unix socket paths are short, so the user's directories are too.
	home, err := os.MkdirTemp("/tmp", "pl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	files := []string{"../../bin/platter", "../../bin/platter-guest-amd64", "../../bin/platter-guest-arm64"}
	for _, name := range studies {
		files = append(files, "testdata/"+name)
	}
	copyInto(t, filepath.Join(home, "bin"), files...)
	images := filepath.Join(home, "images")
	command := exec.Command("cp", "-a", cache.DefaultDir(), images)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, dir := range []string{"run", "config", "data", "cache"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("chown", "-R", "65534:65534", home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return session{home, []string{"HOME=" + home, "PATH=/usr/bin:/bin", "PLATTER_IMAGES=" + images,
		"XDG_RUNTIME_DIR=" + home + "/run", "XDG_CONFIG_HOME=" + home + "/config", "XDG_DATA_HOME=" + home + "/data", "XDG_CACHE_HOME=" + home + "/cache"}}
}

// command is platter as that user.
func (s session) command(args ...string) *exec.Cmd {
	run := exec.Command(filepath.Join(s.home, "bin/platter"), args...)
	run.Dir = s.home
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	run.Env = s.env
	return run
}

// nothingLeft fails if a machine or a volume of the user is still there.
func (s session) nothingLeft(t *testing.T) {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(line), "guest=platter-") && strings.Contains(string(line), s.home+"/") {
			t.Errorf("left behind: the machine of %s", filepath.Dir(path))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.home, "data/platter/volumes/run-*")); len(left) > 0 {
		t.Errorf("volumes are left: %v", left)
	}
}

// TestSession carries out a study as an unprivileged user, whose libvirt is a session daemon that platter starts itself.
func TestSession(t *testing.T) {
	needVM(t)
	s := newSession(t, "tiny.yaml")
	run := s.command("run", "bin/tiny.yaml", "--results", "results", "--log-level", "info")
	var stderr strings.Builder
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	checkFolder(t, filepath.Join(s.home, "results"), 1)
	s.nothingLeft(t)
}

func copyInto(t *testing.T, dir string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}
