package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/lab/remote"
)

var vm = flag.Bool("vm", false, "run the tests that boot real machines")

// BenchmarkBoot times define to accepted SSH login of platter's own machine beside the stock way: the same Debian
// release with systemd and the initramfs its kernel package makes, on the same libvirt, in turns. Run it by
// `make bench-boot`; quote the ratio of the medians.
func BenchmarkBoot(b *testing.B) {
	if !*vm {
		b.Skip("needs -vm: boots real machines")
	}
	ctx := context.Background()
	lab := openLab(b)
	stock := buildStock(b, lab.host)
	var ours, theirs []float64
	for i := range 5 {
		ours = append(ours, lab.bootOurs(ctx, b, i))
		theirs = append(theirs, lab.bootStock(ctx, b, stock, i))
		b.Logf("boot %d: platter %.2f s, stock %.2f s", i+1, ours[i], theirs[i])
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(ours[2], "platter-s")
	b.ReportMetric(theirs[2], "stock-s")
	b.ReportMetric(ours[2]/theirs[2], "ratio")
	b.ReportMetric(0, "ns/op")
}

// stock is a root filesystem on a disk, its kernel and initramfs, and the keys it was made with.
type stock struct {
	kernel, initramfs, disk string
	size                    int64
	keys                    remote.Keys
}

const stockToken = "stock"

// buildStock makes Debian's own machine with mmdebstrap: nothing is left out, nothing is tuned.
func buildStock(b *testing.B, host *hypervisor.Host) stock {
	b.Helper()
	if os.Getuid() != 0 {
		b.Fatal("the stock root filesystem needs root: its files keep their owners")
	}
	keys, err := remote.NewKeys()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	root := filepath.Join(dir, "root")
	command(b, "mmdebstrap", "--variant=apt", "--aptopt=APT::Install-Recommends \"false\"",
		"--include=systemd-sysv,udev,dbus,openssh-server,linux-image-amd64,initramfs-tools,iproute2", "trixie", root)
	files := map[string]string{
		"root/.ssh/authorized_keys":            keys.AuthorizedKey() + "\n",
		"etc/ssh/ssh_host_ed25519_key":         string(keys.HostPrivatePEM()),
		"etc/stock-token":                      stockToken + "\n",
		"etc/systemd/network/10-slirp.network": "[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\n",
		"etc/fstab":                            "/dev/vda / ext4 defaults 0 1\n",
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	os.Chmod(filepath.Join(root, "etc/systemd/network"), 0o755)
	os.Chmod(filepath.Join(root, "etc/systemd/network/10-slirp.network"), 0o644)
	command(b, "chroot", root, "systemctl", "enable", "systemd-networkd", "ssh")

	disk := filepath.Join(dir, "stock.img")
	const size = 2 << 30
	command(b, "mke2fs", "-q", "-t", "ext4", "-d", root, disk, "2G")
	s := stock{size: size, keys: keys}
	s.kernel = stage(b, host, one(b, root, "boot/vmlinuz-*"))
	s.initramfs = stage(b, host, one(b, root, "boot/initrd.img-*"))
	s.disk = disk
	return s
}

func (s stock) spec(name, volume string) domain.Spec {
	return domain.Spec{
		Name: name, CPUs: 2, MemoryBytes: 1 << 30, Kernel: s.kernel, Initramfs: s.initramfs,
		Cmdline: "root=/dev/vda rw console=ttyS0 quiet",
		Disks:   []domain.Disk{domain.DataDisk("stock-root", volume, s.size)},
	}
}

func command(b *testing.B, argv ...string) {
	b.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		b.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, lines[len(lines)-1])
	}
}

func one(b *testing.B, root, pattern string) string {
	b.Helper()
	found, _ := filepath.Glob(filepath.Join(root, pattern))
	if len(found) != 1 {
		b.Fatalf("%s: found %d, want 1", pattern, len(found))
	}
	return found[0]
}

// login waits until the machine accepts a login and returns the seconds since it was defined.
func login(ctx context.Context, b *testing.B, began time.Time, m *hypervisor.Machine, keys remote.Keys, token, tokenFile string) float64 {
	b.Helper()
	l := remote.NewLogin(remote.Target{Dial: m.DialSSH, Keys: keys, Token: token, Name: m.Name(), TokenFile: tokenFile})
	defer l.Close()
	requirements := append([]remote.Requirement{remote.Alive(alive(m))}, l.Requirements()...)
	if err := remote.Await(ctx, requirements, remote.Options{Timeout: bootTimeout, Scale: 20}); err != nil {
		tail, _ := m.Console(ctx, 4096)
		b.Fatalf("%v\n%s", err, tail)
	}
	seconds := time.Since(began).Seconds()
	l.Client().Close()
	return seconds
}

func benchName(kind string, i int) string {
	return fmt.Sprintf("platter-bench-%s-%d-%d", kind, os.Getpid(), i)
}

// lab is an open host with platter's own root image staged on it.
type bootLab struct {
	host                    *hypervisor.Host
	kernel, initramfs, root string
}

func openLab(b *testing.B) bootLab {
	b.Helper()
	ctx := context.Background()
	host, err := hypervisor.Open(ctx, hypervisor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { host.Close() })
	recipe, err := images.Lookup("root")
	if err != nil {
		b.Fatal(err)
	}
	store, err := cache.Open("", build.Builder{})
	if err != nil {
		b.Fatal(err)
	}
	image, err := store.Ensure(ctx, recipe, images.Options{Arch: runtime.GOARCH}, func(string) {})
	if err != nil {
		b.Fatal(err)
	}
	return bootLab{host, stage(b, host, image.Kernel()), stage(b, host, image.Initramfs()), stage(b, host, image.Root())}
}

// stage puts a file where the hypervisor reads it.
func stage(b *testing.B, host *hypervisor.Host, path string) string {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	sum := sha256.Sum256(data)
	name := strings.ReplaceAll(filepath.Base(path), "+", "-")
	staged, err := host.Stage(context.Background(), name, hex.EncodeToString(sum[:]),
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		b.Fatal(err)
	}
	return staged
}

// bootOurs starts platter's machine the way a trial does and returns the seconds from define to login.
func (l bootLab) bootOurs(ctx context.Context, b *testing.B, i int) float64 {
	b.Helper()
	keys, err := remote.NewKeys()
	if err != nil {
		b.Fatal(err)
	}
	spec := domain.Spec{
		Name: benchName("ours", i), CPUs: 2, MemoryBytes: 1 << 30, Kernel: l.kernel, Initramfs: l.initramfs,
		OEMStrings: oemStrings(keys, "bench"), Disks: []domain.Disk{domain.ImageDisk(images.RootSerial, l.root)}, Tag: benchTag(b),
	}
	return l.boot(ctx, b, spec, keys, "bench", images.TokenPath)
}

// bootStock starts a fresh copy of the stock disk.
func (l bootLab) bootStock(ctx context.Context, b *testing.B, s stock, i int) float64 {
	b.Helper()
	tag := benchTag(b)
	volume, err := l.host.CreateVolume(ctx, hypervisor.VolumeSpec{Tag: tag, Name: fmt.Sprint("stock-", i), SizeBytes: s.size, Preallocation: hypervisor.PreallocateOff})
	if err != nil {
		b.Fatal(err)
	}
	defer l.host.RemoveRun(tag.Run)
	command(b, "cp", "--sparse=always", s.disk, volume.Path)
	spec := s.spec(benchName("stock", i), volume.Path)
	spec.Tag = tag
	return l.boot(ctx, b, spec, s.keys, stockToken, "/etc/stock-token")
}

func (l bootLab) boot(ctx context.Context, b *testing.B, spec domain.Spec, keys remote.Keys, token, tokenFile string) float64 {
	b.Helper()
	var err error
	if spec.Accel, err = l.host.Accel(ctx, "auto"); err != nil {
		b.Fatal(err)
	}
	if spec.Cmdline == "" {
		spec.Cmdline = cmdline(spec.Accel, nil)
	}
	began := time.Now()
	m, err := l.host.Start(ctx, spec)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Destroy(ctx)
	return login(ctx, b, began, m, keys, token, tokenFile)
}

func benchTag(b *testing.B) domain.Tag {
	b.Helper()
	tag, err := hypervisor.NewTag(fmt.Sprintf("bench-boot-%d", os.Getpid()))
	if err != nil {
		b.Fatal(err)
	}
	return tag
}
