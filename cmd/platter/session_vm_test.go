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

// TestSession carries out a study as an unprivileged user, whose libvirt is a session daemon that platter starts itself.
func TestSession(t *testing.T) {
	needVM(t)
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user; as that user, TestStudy already runs in a session")
	}
	// Unix socket paths are short, so the user's directories are too.
	home, err := os.MkdirTemp("/tmp", "pl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	copyInto(t, filepath.Join(home, "bin"), "../../bin/platter", "../../bin/platter-guest-amd64", "../../bin/platter-guest-arm64", "testdata/tiny.yaml")
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

	run := exec.Command(filepath.Join(home, "bin/platter"), "run", "bin/tiny.yaml", "--results", "results", "--log-level", "info")
	run.Dir = home
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	run.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "PLATTER_IMAGES=" + images,
		"XDG_RUNTIME_DIR=" + home + "/run", "XDG_CONFIG_HOME=" + home + "/config", "XDG_DATA_HOME=" + home + "/data", "XDG_CACHE_HOME=" + home + "/cache"}
	var stderr strings.Builder
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	checkFolder(t, filepath.Join(home, "results"), 1)
	if pids := emulators(t); len(pids) > 0 {
		t.Errorf("machines are left: %v", pids)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "data/platter/volumes/run-*")); len(left) > 0 {
		t.Errorf("volumes are left: %v", left)
	}
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
