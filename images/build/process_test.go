package build

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"platter/images"
)

func TestTail(t *testing.T) {
	var seen []string
	m := &tail{each: func(line string) { seen = append(seen, line) }}
	for _, part := range []string{"I: ru", "nning\nsecond\n", strings.Repeat("more\n", 40), "E: last\nno end"} {
		if n, err := m.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if len(seen) != 43 || seen[0] != "I: running" {
		t.Errorf("%d lines, first %q", len(seen), seen[0])
	}
	if s := m.String(); strings.Contains(s, "second") || !strings.HasSuffix(s, "E: last") {
		t.Errorf("the tail is %q", s)
	}
}

// TestStopTakesGrandchildren is about mmdebstrap's children, which do not end
// when it does.
func TestStopTakesGrandchildren(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancelCause(t.Context())
	cmd := command(ctx, []string{"sh", "-c", `sleep 300 & echo $! >"$0"; wait`, pidFile})
	messages := &tail{}
	cmd.Stderr = messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var grandchild int
	for deadline := time.Now().Add(20 * time.Second); grandchild == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the shell did not start its child")
		}
		data, _ := os.ReadFile(pidFile)
		grandchild, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	why := errors.New("enough")
	cancel(why)
	if err := wait(ctx, cmd, messages); !errors.Is(err, why) {
		t.Errorf("wait = %v, want it to wrap the cause", err)
	}
	for deadline := time.Now().Add(10 * time.Second); alive(grandchild); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the grandchild %d is still running", grandchild)
		}
	}
}

// alive is false for a zombie, which only waits to be reaped.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestFailureShowsMessages(t *testing.T) {
	_, err := output(t.Context(), "sh", "-c", "echo E: no space left >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "E: no space left") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
}

func TestCheckHostNamesPackages(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := checkHost(images.Recipe{Name: "root"}, t.TempDir(), t.TempDir())
	for _, want := range []string{"no mmdebstrap", "package squashfs-tools", "image root"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to name %s", err, want)
		}
	}
}

func TestCheckSpace(t *testing.T) {
	if err := checkSpace(t.TempDir(), 1); err != nil {
		t.Errorf("one byte: %v", err)
	}
	if err := checkSpace(t.TempDir(), 1<<62); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("four exabytes: %v", err)
	}
}

func TestCheckSubordinate(t *testing.T) {
	for _, c := range []struct {
		subuid string
		ok     bool
	}{
		{"root:100000:65536\n", true},
		{"other:100000:65536\n0:165536:65536\n", true},
		{"rooter:100000:65536\n", false},
		{"", false},
	} {
		if err := checkSubordinate(c.subuid, 0); (err == nil) != c.ok {
			t.Errorf("subuid %q: %v", c.subuid, err)
		}
	}
}

// TestKeyring plays a host whose keyring is too old: an apt-get and a dpkg-deb
// that give a package with or without the key.
func TestKeyring(t *testing.T) {
	bin, scratch, host := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(bin, "apt-get"), "#!/bin/sh\necho \"$@\" >debian-archive-keyring_2025.1_all.deb\n")
	write(filepath.Join(bin, "dpkg-deb"), "#!/bin/sh\nmkdir -p \"$3/usr/share/keyrings\" && echo key >\"$3/usr/share/keyrings/debian-archive-trixie-automatic.gpg\"\n")
	write(filepath.Join(host, keyringDir, "debian-archive-bookworm-automatic.gpg"), "key")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	said := ""
	find := func(key string) (string, error) {
		return findKeyring(t.Context(), host, images.Recipe{Name: "root", Suite: "s", SigningKey: key}, scratch, func(s string) { said = s })
	}

	if dir, err := find("debian-archive-bookworm-automatic.gpg"); dir != "" || err != nil || said != "" {
		t.Errorf("a key the host has: %q, %v, %q", dir, err, said)
	}
	dir, err := find("debian-archive-trixie-automatic.gpg")
	if err != nil || !strings.HasPrefix(dir, scratch) {
		t.Errorf("a key the newer package has: %q, %v", dir, err)
	}
	if !strings.Contains(said, "debian-archive-keyring") {
		t.Errorf("fetching a keyring was not said: %q", said)
	}
	if _, err := find("debian-archive-forky-automatic.gpg"); err == nil || !strings.Contains(err.Error(), "debian-archive-forky-automatic.gpg") {
		t.Errorf("a key nobody has: %v", err)
	}
}

// TestKeyringFromArchive does the same with the real tools.
func TestKeyringFromArchive(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: downloads a package with the host's apt")
	}
	r := images.Recipe{Name: "root", Suite: "trixie", SigningKey: "debian-archive-trixie-automatic.gpg"}
	dir, err := findKeyring(t.Context(), t.TempDir(), r, t.TempDir(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.Command("gpgv", "--version").CombinedOutput(); err != nil {
		t.Fatalf("apt without gpgv: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, r.SigningKey)); err != nil || info.Size() == 0 {
		t.Errorf("the key: %v", err)
	}
}
