package images_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
)

var vm = flag.Bool("vm", false, "run the tests that need virtual machines, root or the network")

func options() images.Options {
	return images.Options{Arch: runtime.GOARCH, Mirror: os.Getenv("PLATTER_MIRROR")}
}

// TestSameInputsSameBytes builds a small image twice.
func TestSameInputsSameBytes(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: builds two images from a Debian mirror")
	}
	small, err := images.Lookup("mariadb-11.8")
	if err != nil {
		t.Fatal(err)
	}
	small.Name, small.Packages = "small", []string{"busybox-static"}
	var manifests [2]images.Manifest
	for i := range manifests {
		dir, scratch := t.TempDir(), scratchDir(t)
		if err := (build.Builder{}).Build(t.Context(), small, options(), dir, scratch, func(s string) { t.Log(s) }); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, images.ManifestFile))
		if err != nil {
			t.Fatal(err)
		}
		if manifests[i], err = images.DecodeManifest(data); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(scratch)
		if err != nil || len(left) != 0 {
			t.Errorf("the build left %v in its scratch directory (%v)", left, err)
		}
	}
	if diff := cmp.Diff(manifests[0].Outputs, manifests[1].Outputs); diff != "" {
		t.Errorf("two builds differ:\n%s", diff)
	}
	if manifests[0].Digest() != manifests[1].Digest() {
		t.Error("two builds have different manifest digests")
	}
	for _, p := range manifests[0].Packages {
		if p.Version == "" || len(p.SHA256) != 64 {
			t.Errorf("package %+v is not fully identified", p)
		}
	}
}

// TestCancelledBuild stops a real build in the middle.
func TestCancelledBuild(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: starts to build an image from a Debian mirror")
	}
	r, err := images.Lookup("mariadb-11.8")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir, scratch := t.TempDir(), scratchDir(t)
	t.Setenv("TMPDIR", scratch)
	c, err := cache.Open(dir, build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	var stopped time.Time
	_, err = c.Ensure(ctx, r, options(), func(s string) {
		if strings.Contains(s, "installing the image's packages") {
			noMounts(t)
			time.AfterFunc(2*time.Second, func() { stopped = time.Now(); cancel() })
		}
	})
	if ctx.Err() == nil || err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Fatalf("the stopped build returned %v", err)
	}
	t.Logf("stopped after %v: %v", time.Since(stopped).Round(time.Millisecond), err)
	for _, pattern := range []string{filepath.Join(dir, "*.new"), filepath.Join(dir, "*.scratch"), filepath.Join(dir, "mariadb-*[0-9a-f]")} {
		if left, _ := filepath.Glob(pattern); left != nil {
			t.Errorf("the stopped build left %q", left)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(scratch, "*")); left != nil {
		t.Errorf("the stopped build left %q", left)
	}
}

// noMounts is called during a build: its mounts must stay in its own namespace.
func noMounts(t *testing.T) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(mounts, []byte(os.Getenv("TMPDIR")+"/")) {
		t.Errorf("the build mounts on the host:\n%s", mounts)
	}
}

func scratchDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "platter-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := (build.Builder{}).Clean(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRootBoots boots the root image with nothing but QEMU and logs in.
func TestRootBoots(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: boots a machine")
	}
	c, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := images.Lookup("root")
	if err != nil {
		t.Fatal(err)
	}
	image, err := c.Ensure(t.Context(), r, options(), func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	g := start(t, image)
	client := g.login(t)
	t.Logf("login %v after the start of QEMU", time.Since(g.started).Round(10*time.Millisecond))

	for _, c := range []struct{ command, want string }{
		{"cat " + images.TokenPath, "5eed\n"},
		{"stat -c %a " + images.TokenPath + " /root/.ssh/authorized_keys /etc/ssh/ssh_host_ed25519_key | sort -u", "600\n"},
		{"uname -r", image.Manifest.KernelVersion + "\n"},
		{"hostname; stat -f -c %T / /proc /sys /dev/pts /run /sys/fs/cgroup | tr '\\n' ' '", "platter\noverlayfs proc sysfs devpts tmpfs cgroup2fs "},
		{"for m in ext4 xfs btrfs jfs f2fs nilfs2 gfs2 reiserfs vfat exfat dm_delay dm_flakey raid1 nvme ahci virtio_scsi sd_mod loop; do modprobe $m || echo no $m; done", ""},
		{"for p in mkfs.ext2 mkfs.xfs mkfs.btrfs mkfs.jfs mkfs.f2fs mkfs.nilfs2 mkfs.gfs2 mkfs.reiserfs mkfs.vfat mkfs.exfat mdadm lvm cryptsetup dmsetup sfdisk sgdisk wipefs lsblk losetup mount; do command -v $p >/dev/null || echo no $p; done", ""},
		// PID 1 must reap a child whose parent has gone.
		{"(sleep 0.2 &) ; sleep 1; ps -eo stat= | grep -c ^Z", "0\n"},
		// Nothing wakes up by itself.
		{"ps -eo ppid=,comm= | awk '$1 != 2 && $2 !~ /^(kthreadd|ps|awk|sort|tr)$/ {print $2}' | sort -u | tr '\\n' ' '", "init sh sshd sshd-session "},
		{"command -v mysqld mariadbd systemctl cron; ls /var/lib/mysql 2>/dev/null", ""},
	} {
		if got, err := run(client, c.command); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s\ngives %q, want %q (%v)", c.command, got, c.want, err)
		}
	}
	if _, err := run(client, "poweroff"); err != nil {
		t.Logf("poweroff: %v", err) // the connection may go first
	}
	select {
	case <-g.ended:
	case <-time.After(time.Minute):
		t.Error("the machine did not power off")
	}
}

// guest is a machine started by a test.
type guest struct {
	started time.Time
	console string
	address string
	config  *ssh.ClientConfig
	ended   chan struct{}
}

func start(t *testing.T, image images.Image) *guest {
	t.Helper()
	hostPEM, hostKey := key(t)
	clientPEM, clientKey := key(t)
	signer, err := ssh.ParsePrivateKey(clientPEM)
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{
		started: time.Now(),
		console: filepath.Join(t.TempDir(), "console"),
		address: freeAddress(t),
		ended:   make(chan struct{}),
		config: &ssh.ClientConfig{
			User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, Timeout: 30 * time.Second,
			HostKeyCallback: ssh.FixedHostKey(hostKey), HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
		},
	}
	authorized := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(clientKey)))
	cmd := exec.Command("qemu-system-x86_64", "-M", "q35", "-accel", "kvm", "-accel", "tcg", "-cpu", "max", "-m", "512", "-nographic", "-nodefaults", "-no-reboot",
		"-serial", "file:"+g.console, "-kernel", image.Kernel(), "-initrd", image.Initramfs(), "-append", images.Cmdline(),
		"-drive", "if=none,id=root,format=raw,readonly=on,file="+image.Root(),
		"-device", "virtio-blk-pci,drive=root,serial="+images.RootSerial,
		"-netdev", "user,id=net,restrict=on,hostfwd=tcp:"+g.address+"-:22", "-device", "virtio-net-pci,netdev=net",
		"-smbios", "type=11,value="+images.AuthorizedKeyString+"="+authorized,
		"-smbios", "type=11,value="+images.HostKeyString+"="+base64.StdEncoding.EncodeToString(hostPEM),
		"-smbios", "type=11,value="+images.TokenString+"=5eed")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is the test's business
		close(g.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-g.ended
		if t.Failed() {
			console, _ := os.ReadFile(g.console)
			t.Logf("QEMU said %q, the console:\n%s", messages.String(), console)
		}
	})
	return g
}

// login waits for the line on the console, then connects.
func (g *guest) login(t *testing.T) *ssh.Client {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		console, _ := os.ReadFile(g.console)
		if bytes.Contains(console, []byte(images.Ready)) {
			break
		}
		select {
		case <-g.ended:
			t.Fatal("the machine ended before it was ready")
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the machine is not ready after five minutes")
		}
	}
	t.Logf("%q %v after the start of QEMU", images.Ready, time.Since(g.started).Round(10*time.Millisecond))
	client, err := ssh.Dial("tcp", g.address, g.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() }) // the machine may be gone
	return client
}

func run(client *ssh.Client, command string) (string, error) {
	session, err := client.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	out, err := session.CombinedOutput(command)
	return string(out), err
}

func key(t *testing.T) (private []byte, public ssh.PublicKey) {
	t.Helper()
	_, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block), signer.PublicKey()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr())
}
