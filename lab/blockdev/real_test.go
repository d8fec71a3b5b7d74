package blockdev

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flag"
)

var complete = flag.Bool("complete", false, "with -vm: fail instead of leaving out what this kernel cannot do")

// sh runs a script and fails the test when it fails.
func sh(t *testing.T, script string) string {
	t.Helper()
	out, err := try(script)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(out)
}

func try(script string) (string, error) {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Env = append(os.Environ(), "PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// attach makes a loop device over a new file, with partitions shown, and takes it away again.
func attach(t *testing.T, size int64, sector int) (node, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
	return attachFile(t, file, sector), file
}

func attachFile(t *testing.T, file string, sector int) string {
	t.Helper()
	node := sh(t, fmt.Sprintf("losetup --find --show --partscan --sector-size %d %s", sector, file))
	t.Cleanup(func() { try("losetup --detach " + node) })
	return node
}

func hash(t *testing.T, node string) string {
	t.Helper()
	f, err := os.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func diskAt(t *testing.T, node string) Disk {
	t.Helper()
	inv, err := Read(Local())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range inv.Disks {
		if d.Node == node {
			return d
		}
	}
	t.Fatalf("the inventory has no %s", node)
	return Disk{}
}

// claimOf claims a disk as it is now.
func claimOf(t *testing.T, node string) Claim {
	t.Helper()
	d := diskAt(t, node)
	content, err := Examine(d)
	if err != nil {
		t.Fatal(err)
	}
	return Claim{Passport: d.Passport, Uses: []string{Overwrite}, GivesUp: d.Signatures, Content: content,
		ClaimedAt: time.Now().Add(-time.Second), ExpiresAt: time.Now().Add(time.Hour), By: "test"}
}

func keeper(t *testing.T) Keeper {
	return Keeper{LeaseDir: t.TempDir(), StateDir: t.TempDir(), Say: func(s string) { t.Log(s) }}
}

func owner(t *testing.T) Owner {
	t.Helper()
	o, err := NewOwner()
	if err != nil {
		t.Fatal(err)
	}
	o.Run = "test-run"
	return o
}

const lvmQuiet = ` --config 'activation{udev_sync=0 udev_rules=0} devices{use_devicesfile=0} global{use_lvmlockd=0}' `

// stacks are ways in which a real disk is in use. %s is its node; undo may use it too.
var stacks = []struct {
	name, needs, script, undo, want string
}{
	{"ext4", "", "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 %[1]s; mkdir -p $D/m; mount -o ro %[1]s $D/m; sync", "umount $D/m", "is mounted on"},
	{"mounted elsewhere", "", "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 %[1]s; mkdir -p $D/m; unshare -m --propagation private sh -c 'mount -o ro %[1]s $1; sync; echo ok >$1/../ready; sleep 60' _ $D/m >/dev/null 2>&1 & echo $! >$D/pid; while [ ! -e $D/ready ]; do sleep 0.05; done", "kill $(cat $D/pid)", "is mounted on"},
	{"partition", "", "echo 'start=2048' | sfdisk -q %[1]s; partx -u %[1]s; mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 %[1]sp1; mkdir -p $D/m; mount -o ro %[1]sp1 $D/m; sync", "umount $D/m", "partition 1 is mounted on"},
	{"btrfs", "btrfs", "mkfs.btrfs -q %[1]s; mkdir -p $D/m; mount -o ro %[1]s $D/m; sync", "umount $D/m", "is a member of the mounted btrfs"},
	{"swap", "", "mkswap -q %[1]s; swapon %[1]s", "swapoff %[1]s", "is swap space in use"},
	{"open", "", "sleep 60 <%[1]s >/dev/null 2>&1 & echo $! >$D/pid", "kill $(cat $D/pid)", "is open in sleep"},
	{"loop over it", "", "losetup --find --show %[1]s >$D/l", "losetup -d $(cat $D/l)", "is held by loop"},
	{"read-only", "", "blockdev --setro %[1]s", "blockdev --setrw %[1]s", "is read-only"},
	{"dm-linear", "dm-mod", "echo 0 2048 linear %[1]s 0 | dmsetup create --noudevsync plain", "dmsetup remove --noudevsync plain", "is a target of the device-mapper device plain"},
	{"lvm", "dm-mod", "pvcreate -q" + lvmQuiet + "%[1]s; vgcreate -q" + lvmQuiet + "vgtest %[1]s; lvcreate -q -Zn -an -l4 -n home" + lvmQuiet + "vgtest; lvchange -ay" + lvmQuiet + "vgtest/home", "vgchange -an" + lvmQuiet + "vgtest", "is a physical volume of LVM, and vgtest-home is active on it"},
	{"luks", "dm-crypt", "echo secret | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file - %[1]s; echo secret | DM_DISABLE_UDEV=1 cryptsetup open --key-file - %[1]s vault", "DM_DISABLE_UDEV=1 cryptsetup close vault", "is encrypted, and opened as vault"},
	{"md", "raid1", "mdadm --create -q /dev/md77 --run --force --level=1 --raid-devices=1 --metadata=1.2 %[1]s", "mdadm --stop -q /dev/md77", "is a member of md77"},
	{"file gone", "", "rm $F", ":", "its backing file"},
}

// kernelHas tells whether a driver is there, loading it where it is a module.
func kernelHas(driver string) bool {
	if driver == "" {
		return true
	}
	if _, err := try("modprobe " + driver); err == nil {
		return true
	}
	// Built in.
	known, _ := os.ReadFile("/proc/filesystems")
	_, err := os.Stat("/sys/module/" + strings.ReplaceAll(driver, "-", "_"))
	return err == nil || strings.Contains(string(known), "\t"+driver+"\n")
}

// TestRealStacks refuses real loop devices in use, each with its reason, and changes no byte of any (K02, B11).
func TestRealStacks(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	for _, sector := range []int{512, 4096} {
		for _, c := range stacks {
			t.Run(fmt.Sprintf("%s/%d", c.name, sector), func(t *testing.T) {
				if !kernelHas(c.needs) {
					if *complete {
						t.Fatalf("this kernel has no %s", c.needs)
					}
					t.Skipf("needs -vm in a machine of ours: this kernel has no %s", c.needs)
				}
				size := int64(48 << 20)
				if c.needs == "btrfs" {
					size = 128 << 20 // it takes no less
				}
				node, file := attach(t, size, sector)
				dir := t.TempDir()
				claim := claimOf(t, node)
				vars := "D=" + dir + "; F=" + file + "; "
				fill := func(script string) string {
					if strings.Contains(script, "%[1]s") {
						script = fmt.Sprintf(script, node)
					}
					return vars + script
				}
				t.Cleanup(func() { try(fill(c.undo)) })
				sh(t, fill(c.script))
				before := hash(t, node)
				_, err := keeper(t).Acquire(t.Context(), claim, owner(t), 0)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("acquired or refused for another reason: %v", err)
				}
				if after := hash(t, node); after != before {
					t.Errorf("SHA-256 was %s and is %s", before, after)
				}
				t.Logf("%v", err)
				sh(t, fill(c.undo))
			})
		}
	}
}
