package runner

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab/remote"
)

var nested = flag.Bool("nested", false, "with -vm: hand an NVMe drive by PCI and a SCSI disk as LUN to a machine inside a machine with an emulated IOMMU")

// What the outer machine has, beside an IOMMU.
const (
	nestedNVMe  = "NESTED-NVME"
	nestedLUN   = "NESTED-LUN"
	nestedBytes = 64 << 20
)

// TestNested starts a machine with an emulated IOMMU, an NVMe drive and a SCSI disk, in which the files of this host, its
// libvirt and QEMU among them, are seen read-only below a layer of memory. There TestNestedInside is run. It takes five
// minutes of one processor, and twice that on a busy host.
func TestNested(t *testing.T) {
	if !*vm || !*nested {
		t.Skip("needs -vm: emulates a machine in a machine, which takes many minutes; also say -nested")
	}
	binary := filepath.Join(t.TempDir(), "runner.test")
	output(t, "go", "test", "-c", "-o", binary, "platter/lab/runner")
	c := outerMachine(t)
	outerScript(t, c, outerFiles)
	outerScript(t, c, outerDaemon)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out := outerScript(t, c, fmt.Sprintf("chroot /run/n/root sh -c 'cd %s && HOME=/root TMPDIR=/run exec %s -test.v -test.timeout 60m -test.run TestNestedInside -vm -inside' 2>&1 || echo FAILED", dir, binary))
	if strings.Contains(out, "FAILED") || strings.Contains(out, "SKIP") || !strings.Contains(out, "PASS: TestNestedInside") {
		t.Errorf("in the machine:\n%s", out)
		return
	}
	t.Log(out)
}

// outerFiles shows this host's files, with a kernel's modules that fit. What is written goes to memory.
const outerFiles = `modprobe -a 9pnet_virtio 9p overlay nvme virtio_scsi sd_mod vfio-pci vfio_iommu_type1
mkdir -p /run/n/host /run/n/over /run/n/root
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro host /run/n/host
mount -t tmpfs -o size=3G over /run/n/over
mkdir /run/n/over/upper /run/n/over/work
mount -t overlay -o lowerdir=/run/n/host,upperdir=/run/n/over/upper,workdir=/run/n/over/work over /run/n/root
for d in dev proc sys; do mount --rbind /$d /run/n/root/$d; done
mount -t tmpfs run /run/n/root/run
mkdir -p /run/n/root/lib/modules/$(uname -r)
mount --bind /lib/modules/$(uname -r) /run/n/root/lib/modules/$(uname -r)
ls /sys/kernel/iommu_groups | wc -l`

// outerDaemon starts libvirt, with patience, before anybody asks for it. Its private /dev for QEMU does not survive a chroot.
const outerDaemon = `chroot /run/n/root sh -ec 'mkdir -p /run/libvirt /run/lock /var/log/libvirt/qemu
rm -rf /var/lib/libvirt/images/platter; mkdir -p /var/lib/libvirt/images
echo "namespaces = []" >>/etc/libvirt/qemu.conf
virtlogd -d; libvirtd -d
n=0; until virsh -c qemu:///system version; do n=$((n+1)); [ $n -lt 60 ]; sleep 5; done' 2>&1`

func outerScript(t *testing.T, c *remote.Client, script string) string {
	t.Helper()
	began := time.Now()
	var out bytes.Buffer
	err := c.Run(t.Context(), []string{"sh", "-ec", script}, nil, io.MultiWriter(&out, t.Output()), t.Output())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Logf("took %.0f s", time.Since(began).Seconds())
	return out.String()
}

// outerMachine starts QEMU itself, since no trial ever needs an IOMMU in its machine, and logs in.
func outerMachine(t *testing.T) *remote.Client {
	t.Helper()
	kept, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := catalogue{kept, nil}.Ensure(t.Context(), "root", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := remote.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	console := filepath.Join(dir, "console")
	for _, disk := range []string{"nvme", "lun"} {
		if err := os.WriteFile(filepath.Join(dir, disk), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, disk), nestedBytes); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	cmd := exec.Command("qemu-system-x86_64", outerArguments(root, keys, dir, address)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if text, _ := os.ReadFile(console); t.Failed() {
			t.Logf("QEMU says %s; the console's end:\n%s", said.String(), lastLines(string(text), 60))
		}
	})
	login := remote.NewLogin(remote.Target{Name: "outer", Keys: keys, Token: "outer", TokenFile: images.TokenPath, Log: testLog(t),
		Dial: func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }})
	t.Cleanup(func() { login.Close() })
	ready := append([]remote.Requirement{remote.Marker(images.Ready, func() (bool, error) {
		text, err := os.ReadFile(console)
		return bytes.Contains(text, []byte(images.Ready)), err
	})}, login.Requirements()...)
	if err := remote.Await(t.Context(), ready, remote.Options{Timeout: bootTimeout, Scale: tcgScale}); err != nil {
		t.Fatal(err)
	}
	return login.Client()
}

// outerArguments are QEMU's. Time in the machine goes by its instructions, of which a second has 10⁹. By this host's clock,
// some ten times faster, the timer of the machine within would tick again before its kernel is done with the last tick:
// its boot took over ten minutes, or ended in a double fault, since until QEMU 8.0 an emulated cmpxchg16b may leave an
// operand in EFLAGS, where an interrupt right after it finds that. Mitigations and five levels of page tables, which an old
// processor lacks, would cost the emulator more than they cost a processor.
func outerArguments(root images.Image, keys remote.Keys, dir, address string) []string {
	args := []string{
		"-machine", "q35", "-accel", "tcg,thread=single", "-icount", "shift=0", "-cpu", "Nehalem", "-smp", "1", "-m", "5G", "-nodefaults", "-display", "none",
		"-serial", "file:" + filepath.Join(dir, "console"),
		"-kernel", root.Kernel(), "-initrd", root.Initramfs(), "-append", images.Cmdline() + " norandmaps mitigations=off intel_iommu=on",
		"-device", "intel-iommu,intremap=on",
		"-drive", "if=none,id=root,format=raw,readonly=on,file=" + root.Root(), "-device", "virtio-blk-pci,drive=root,serial=" + images.RootSerial,
		"-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap", "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
		"-drive", "if=none,id=nvme,format=raw,file=" + filepath.Join(dir, "nvme"), "-device", "nvme,drive=nvme,serial=" + nestedNVMe,
		"-device", "virtio-scsi-pci,id=scsi",
		"-drive", "if=none,id=lun,format=raw,file=" + filepath.Join(dir, "lun"), "-device", "scsi-hd,bus=scsi.0,drive=lun,serial=" + nestedLUN,
		"-netdev", "user,id=ssh,restrict=on,hostfwd=tcp:" + address + "-:22", "-device", "virtio-net-pci,netdev=ssh,addr=0x10",
	}
	for _, s := range oemStrings(keys, "outer") {
		args = append(args, "-smbios", "type=11,value="+strings.ReplaceAll(s, ",", ",,"))
	}
	return args
}
