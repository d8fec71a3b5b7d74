package blockdev

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets this binary be another platter that holds a disk until it is killed.
func TestMain(m *testing.M) {
	if os.Getenv("HOLD_CLAIM") != "" {
		holdForever()
	}
	os.Exit(m.Run())
}

func holdForever() {
	var c Claim
	err := json.Unmarshal([]byte(os.Getenv("HOLD_CLAIM")), &c)
	o, err2 := NewOwner()
	o.Run = "other-run"
	k := Keeper{LeaseDir: os.Getenv("HOLD_LEASES"), StateDir: os.Getenv("HOLD_STATE")}
	if err = errors.Join(err, err2); err == nil {
		_, err = k.Acquire(context.Background(), c, o, 0)
	}
	fmt.Println(err)
	time.Sleep(time.Minute)
	os.Exit(0)
}

// otherPlatter holds a disk in a process of its own.
func otherPlatter(t *testing.T, k Keeper, c Claim) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOLD_CLAIM="+string(text), "HOLD_LEASES="+k.LeaseDir, "HOLD_STATE="+k.StateDir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "<nil>\n" {
		t.Fatalf("the other platter did not get the disk: %s %v", line, err)
	}
	return cmd
}

// TestHold walks the protocol on a real loop device.
func TestHold(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	node, _ := attach(t, 32<<20, 512)
	k, claim, me := keeper(t), claimOf(t, node), owner(t)
	h, err := k.Acquire(t.Context(), claim, me, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Before.Blank || h.Disk.Node != node {
		t.Errorf("held %+v", h)
	}
	for _, script := range []string{"mkfs.ext4 -q -F " + node, "mkswap -q " + node + " && swapon " + node, "mount " + node + " /mnt"} {
		if out, err := try(script); err == nil {
			t.Errorf("%s works on a held disk: %s", script, out)
		}
	}
	var held *HeldError
	if _, err := k.Acquire(t.Context(), claim, me, 0); !errors.As(err, &held) || !strings.Contains(err.Error(), "test-run") {
		t.Errorf("acquired twice, or no owner named: %v", err)
	}
	// What a machine does: it opens without O_EXCL and writes.
	sh(t, "printf written | dd of="+node+" conv=notrunc,fsync status=none")
	if err := h.Release(); err != nil || h.After == nil || h.After.Same(h.Before) || h.After.Blank {
		t.Fatalf("%v, after %+v", err, h.After)
	}
	// What platter left there is no surprise to platter; what somebody else puts there is.
	if h, err = k.Acquire(t.Context(), claim, me, 0); err != nil {
		t.Fatal(err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	sh(t, "mkfs.ext4 -q -F -L photos "+node)
	before := hash(t, node)
	if _, err := k.Acquire(t.Context(), claim, me, 0); err == nil || !strings.Contains(err.Error(), `now holding ext4 "photos"`) {
		t.Errorf("a disk that was put to use since its claim: %v", err)
	}
	if hash(t, node) != before {
		t.Error("the refused disk was changed")
	}
}

// TestDiscard: a claim that allows it empties the whole disk, another one changes nothing.
func TestDiscard(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	node, _ := attach(t, 32<<20, 512)
	empty := hash(t, node)
	sh(t, "yes | dd of="+node+" bs=1M count=32 iflag=fullblock conv=fsync status=none")
	full := hash(t, node)
	for _, test := range []struct {
		uses []string
		want string
	}{{[]string{Overwrite}, full}, {[]string{Overwrite, Discard}, empty}} {
		claim := claimOf(t, node)
		claim.Uses = test.uses
		h, err := keeper(t).Acquire(t.Context(), claim, owner(t), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Discard(); (err == nil) != claim.Allows(Discard) {
			t.Errorf("%v: %v", test.uses, err)
		}
		if err := h.Release(); err != nil {
			t.Error(err)
		}
		if hash(t, node) != test.want {
			t.Errorf("%v: the disk holds something else than expected", test.uses)
		}
	}
}

// TestStillOpen: a disk that somebody has open at its release stays locked.
func TestStillOpen(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	node, _ := attach(t, 4<<20, 512)
	k, claim, me := keeper(t), claimOf(t, node), owner(t)
	h, err := k.Acquire(t.Context(), claim, me, 0)
	if err != nil {
		t.Fatal(err)
	}
	hog := exec.Command("sleep", "60")
	hog.Stdin, _ = os.Open(node)
	if err := hog.Start(); err != nil {
		t.Fatal(err)
	}
	hog.Stdin.(*os.File).Close()
	if err := h.release(200 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "is open in sleep") || !strings.Contains(err.Error(), "stays locked") {
		t.Errorf("release says %v", err)
	}
	var held *HeldError
	if _, err := k.Acquire(t.Context(), claim, me, 0); !errors.As(err, &held) {
		t.Errorf("after a refused release: %v", err)
	}
	hog.Process.Kill()
	hog.Wait()
	if err := h.Release(); err != nil {
		t.Error(err)
	}
}

// TestTwoPlatters: of two processes the second fails with the first one's name, or waits for it; a killed one's lease is
// recognised as dead.
func TestTwoPlatters(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	node, _ := attach(t, 4<<20, 512)
	k, claim, me := keeper(t), claimOf(t, node), owner(t)
	other := otherPlatter(t, k, claim)
	_, err := k.Acquire(t.Context(), claim, me, 0)
	var held *HeldError
	if !errors.As(err, &held) || held.Owner.PID != other.Process.Pid || !strings.Contains(err.Error(), "other-run") {
		t.Fatalf("the second platter gets %v", err)
	}
	t.Log(err)
	var said []string
	k.Say = func(s string) { said = append(said, s) }
	killed := make(chan struct{})
	go func() {
		time.Sleep(300 * time.Millisecond)
		other.Process.Kill() // SIGKILL
		other.Wait()
		close(killed)
	}()
	h, err := k.Acquire(t.Context(), claim, me, time.Minute)
	<-killed
	if err != nil {
		t.Fatal(err)
	}
	t.Log(said)
	if !strings.Contains(strings.Join(said, "\n"), fmt.Sprintf("process %d, run other-run) is dead", other.Process.Pid)) {
		t.Errorf("the dead lease is told as %q", said)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestSwappedDisk is case B07: the device's name leads to another disk than was claimed.
func TestSwappedDisk(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	node, file := attach(t, 32<<20, 512)
	claim := claimOf(t, node)
	other := filepath.Join(t.TempDir(), "other.img")
	sh(t, fmt.Sprintf("truncate -s 32M %s; mkfs.ext4 -q -L family %[1]s; losetup -d %s", other, node))
	sh(t, fmt.Sprintf("losetup %s %s", node, other))
	before := hash(t, node)
	_, err := keeper(t).Acquire(t.Context(), claim, owner(t), 0)
	if err == nil || !strings.Contains(err.Error(), "no disk of this host has that serial") || !strings.Contains(err.Error(), file) {
		t.Errorf("another disk under the old name: %v", err)
	}
	t.Log(err)
	if hash(t, node) != before {
		t.Error("the other disk was changed")
	}
	// The same file, grown: same serial, another size.
	sh(t, fmt.Sprintf("losetup -d %s; truncate -s 64M %s; losetup %[1]s %[2]s", node, file))
	if _, err := keeper(t).Acquire(t.Context(), claim, owner(t), 0); err == nil || !strings.Contains(err.Error(), "size in bytes was 33554432 and is 67108864") {
		t.Errorf("a disk of another size: %v", err)
	}
}

// TestLinks is case B10: what is at the end of a chain of links decides.
func TestLinks(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: loop devices and root")
	}
	node, _ := attach(t, 32<<20, 512)
	sh(t, fmt.Sprintf("echo 'start=2048' | sfdisk -q %s; partx -u %[1]s; mkfs.ext4 -q %[1]sp1", node))
	dir := t.TempDir()
	sh(t, fmt.Sprintf("cd %s; mkdir m; mount -o ro %sp1 m", dir, node))
	t.Cleanup(func() { try("umount " + dir + "/m") })
	root := sh(t, "findmnt -no SOURCE / | head -n1")
	sh(t, fmt.Sprintf("cd %s; ln -s %sp1 two; ln -s two spare-disk; ln -s %s boring; ln -s boring also-boring; ln -s nowhere dangling; ln -s ring ring; echo x >file", dir, node, root))
	inv, err := Read(Local())
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string]string{
		"spare-disk": "is partition 1 of loop", "dangling": "not found: the link leads to " + dir + "/nowhere, which is gone",
		"ring": "circle", "file": "is no block device but a regular file", "missing": "not found",
	} {
		_, err := inv.Resolve(filepath.Join(dir, link))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", link, err)
		}
		t.Log(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a file was made where the dangling link leads")
	}
	if strings.HasPrefix(root, "/dev/") {
		if d, err := inv.Resolve(filepath.Join(dir, "also-boring")); err == nil && d.Free() {
			t.Errorf("the root disk behind two links is %s", d.Verdict())
		} else if err == nil && !strings.Contains(d.Verdict(), "holds the root filesystem") {
			t.Errorf("the root disk is %s", d.Verdict())
		}
	}
}
