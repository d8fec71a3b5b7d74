package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/guest"
)

const mib = 1 << 20

// machine has a disk of each bus: letters in an order that says nothing, and a loop device to be ignored.
func machine(t *testing.T) System {
	t.Helper()
	sys := tree(t, map[string]string{
		"devices/pci/virtio1/block/vda/serial":                    "data0",
		"devices/pci/virtio1/block/vda/size":                      "131072",
		"devices/pci/virtio1/block/vda/dev":                       "254:0",
		"devices/pci/virtio1/block/vda/queue/logical_block_size":  "4096",
		"devices/pci/host0/target0:0:0/block/sda/device/vpd_pg80": "\x00\x80\x00\x08data1   ",
		"devices/pci/host0/target0:0:0/block/sda/size":            "133120",
		"devices/pci/host0/target0:0:0/block/sda/dev":             "8:0",
		"devices/pci/host0/target0:0:0/block/sda/sda1/partition":  "1",
		"devices/pci/host0/target0:0:0/block/sda/sda1/dev":        "8:1",
		"devices/pci/nvme/block/nvme0n1/device/serial":            "data2               ",
		"devices/pci/nvme/block/nvme0n1/size":                     "135168",
		"devices/pci/nvme/block/nvme0n1/dev":                      "259:0",
		"devices/virtual/block/loop0/serial":                      "data0",
		"devices/virtual/block/loop0/size":                        "131072",
		"proc/self/mountinfo":                                     "",
	})
	link(t, sys, "vda", "devices/pci/virtio1/block/vda")
	link(t, sys, "sda", "devices/pci/host0/target0:0:0/block/sda")
	link(t, sys, "nvme0n1", "devices/pci/nvme/block/nvme0n1")
	link(t, sys, "loop0", "devices/virtual/block/loop0")
	return sys
}

func link(t *testing.T, sys System, name, to string) {
	t.Helper()
	if err := os.MkdirAll(sys.path("/sys/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("../..", to), sys.path("/sys/block/"+name)); err != nil {
		t.Fatal(err)
	}
}

func TestFindDisksBySerialAndSizeOnEveryBus(t *testing.T) {
	found, err := machine(t).FindDisks(t.Context(), []guest.Disk{
		{Name: "c", Serial: "data2", SizeBytes: 66 * mib},
		{Name: "a", Serial: "data0", SizeBytes: 64 * mib, LogicalBlockBytes: 4096},
		{Name: "b", Serial: "data1", SizeBytes: 65 * mib},
	}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ kernel, bus string }{"a": {"vda", "virtio"}, "b": {"sda", "scsi"}, "c": {"nvme0n1", "nvme"}} {
		if d := found[name]; d.Name != want.kernel || d.Bus != want.bus || d.Node != "/dev/"+want.kernel {
			t.Errorf("disk %s: %+v, want %s on %s", name, d, want.kernel, want.bus)
		}
	}
}

func TestFindDisksRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		disk guest.Disk
		want []string
	}{
		"no such serial": {guest.Disk{Name: "x", Serial: "data9", SizeBytes: mib}, []string{`no disk has serial "data9"`, "vda serial=\"data0\" size=67108864 bus=virtio", "sda serial=\"data1\"", "nvme0n1"}},
		"other size":     {guest.Disk{Name: "x", Serial: "data0", SizeBytes: 65 * mib}, []string{"67108864 bytes, the job says 68157440"}},
		"other block":    {guest.Disk{Name: "x", Serial: "data0", SizeBytes: 64 * mib, LogicalBlockBytes: 512}, []string{"logical blocks of 4096 bytes, the job says 512"}},
		"empty serial":   {guest.Disk{Name: "x", SizeBytes: 64 * mib}, []string{"no serial"}},
		"a prefix":       {guest.Disk{Name: "x", Serial: "data", SizeBytes: 64 * mib}, []string{`no disk has serial "data"`}},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			_, err := machine(t).FindDisks(t.Context(), []guest.Disk{test.disk}, 100*time.Millisecond, nil)
			if err == nil {
				t.Fatal("found")
			}
			if took := time.Since(begin); took < 100*time.Millisecond || took > 2*time.Second {
				t.Errorf("gave up after %s, not at its deadline", took)
			}
			for _, w := range test.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "loop0") {
				t.Errorf("a loop device was taken for a disk: %v", err)
			}
		})
	}
}

func TestFindDisksRefusesASerialTwice(t *testing.T) {
	sys := machine(t)
	if err := os.WriteFile(sys.path("devices/pci/nvme/block/nvme0n1/device/serial"), []byte("data0"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := sys.FindDisks(t.Context(), []guest.Disk{{Name: "x", Serial: "data0", SizeBytes: 64 * mib}}, 0, nil)
	if err == nil || !strings.Contains(err.Error(), "more than one disk") || !strings.Contains(err.Error(), "vda") || !strings.Contains(err.Error(), "nvme0n1") {
		t.Errorf("error %v", err)
	}
}

func TestFindDisksWaitsForALateDisk(t *testing.T) {
	sys := machine(t)
	if err := os.Rename(sys.path("/sys/block/vda"), sys.path("/vda")); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(150 * time.Millisecond)
		os.Rename(sys.path("/vda"), sys.path("/sys/block/vda"))
	}()
	if _, err := sys.FindDisks(t.Context(), []guest.Disk{{Name: "a", Serial: "data0", SizeBytes: 64 * mib}}, 10*time.Second, nil); err != nil {
		t.Error(err)
	}
}

func TestInUse(t *testing.T) {
	const overlay = `20 1 0:19 / / rw - overlay overlay rw,lowerdir=/run/root/addon:/run/root/base,upperdir=/run/u,workdir=/run/w
21 20 254:0 / /run/root/base ro - squashfs /dev/vda ro
`
	for name, test := range map[string]struct{ mounts, swaps, holder, disk, want string }{
		"free":                      {disk: "vda"},
		"root on it":                {mounts: "20 1 254:0 / / rw - ext4 /dev/vda rw\n", disk: "vda", want: "carries the running system"},
		"root through overlay":      {mounts: overlay, disk: "vda", want: "carries the running system (squashfs on /run/root/base)"},
		"other disk than root":      {mounts: overlay, disk: "sda"},
		"root on a partition":       {mounts: "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n", disk: "sda", want: "carries the running system"},
		"boot on a partition":       {mounts: "22 1 8:1 / /boot rw - ext4 /dev/sda1 rw\n", disk: "sda", want: "carries the running system"},
		"mounted elsewhere":         {mounts: "22 1 259:0 / /srv/data rw - xfs /dev/nvme0n1 rw\n", disk: "nvme0n1", want: "is mounted on /srv/data as xfs"},
		"swap":                      {swaps: "Filename Type Size Used Priority\n/dev/sda1 partition 1 0 -2\n", disk: "sda", want: "/dev/sda1 is swap"},
		"held by device-mapper":     {holder: "dm-0", disk: "vda", want: "held by dm-0"},
		"root behind device-mapper": {holder: "dm-0", mounts: "20 1 253:0 / / rw - ext4 /dev/mapper/root rw\n", disk: "vda", want: "carries the running system"},
	} {
		t.Run(name, func(t *testing.T) {
			sys := machine(t)
			files := map[string]string{"proc/self/mountinfo": test.mounts, "proc/swaps": test.swaps, "devices/virtual/block/dm-0/dev": "253:0"}
			if test.holder != "" {
				files["devices/pci/virtio1/block/vda/holders/"+test.holder+"/dev"] = "253:0"
			}
			for name, text := range files {
				os.MkdirAll(filepath.Dir(sys.path(name)), 0o755)
				if err := os.WriteFile(sys.path(name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			link(t, sys, "dm-0", "devices/virtual/block/dm-0")
			err := sys.InUse(sys.BlockDevice(test.disk))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestStorageAliases(t *testing.T) {
	sys := tree(t, map[string]string{
		"sys/bus/pci/devices/0/class": "0x010802", "sys/bus/pci/devices/0/modalias": "pci:nvme",
		"sys/bus/pci/devices/1/class": "0x020000", "sys/bus/pci/devices/1/modalias": "pci:network",
		"sys/bus/pci/devices/2/class": "0x010601", "sys/bus/pci/devices/2/modalias": "pci:ahci", "sys/bus/pci/devices/2/driver": "",
		"sys/bus/virtio/devices/virtio0/modalias": "virtio:d00000008v00001AF4", "sys/bus/virtio/devices/virtio1/modalias": "virtio:d00000001v00001AF4",
		"sys/bus/scsi/devices/0:0:0:0/modalias": "scsi:t-0x00",
	})
	if got := strings.Join(sys.storageAliases(), " "); got != "pci:nvme virtio:d00000008v00001AF4 scsi:t-0x00" {
		t.Errorf("aliases %s", got)
	}
}
