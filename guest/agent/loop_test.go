package agent

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"platter/guest"
	"platter/results"
)

// loopMachine is this machine with loop devices standing for disks: its /proc and /dev, and a /sys/block
// that gives loop devices the serials disk0, disk1 …
func loopMachine(t *testing.T, mibs ...int64) (System, []guest.Disk) {
	t.Helper()
	if !*vm {
		t.Skip("needs -vm: root and loop devices")
	}
	sys := System{Root: t.TempDir()}
	for from, to := range map[string]string{"/proc": "proc", "/dev": "dev", "/sys/module": "sys/module"} {
		os.MkdirAll(filepath.Dir(sys.path(to)), 0o755)
		if err := os.Symlink(from, sys.path(to)); err != nil {
			t.Fatal(err)
		}
	}
	var disks []guest.Disk
	for i, mib64 := range mibs {
		node := attach(t, mib64<<20)
		d := guest.Disk{Name: fmt.Sprintf("d%d", i), Serial: fmt.Sprintf("disk%d", i), SizeBytes: mib64 << 20}
		pretend(t, sys, filepath.Base(node), d.Serial, d.SizeBytes)
		disks = append(disks, d)
	}
	return sys, disks
}

// pretend describes a device of this machine in a made-up /sys/block.
func pretend(t *testing.T, sys System, name, serial string, size int64) {
	t.Helper()
	number, err := os.ReadFile("/sys/class/block/" + name + "/dev")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"serial": serial, "size": strconv.FormatInt(size/512, 10), "dev": string(number), "queue/logical_block_size": "512"} {
		path := sys.path("/sys/block/" + name + "/" + file)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// attach makes a loop device over a new sparse file, for the length of the test.
func attach(t *testing.T, size int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--partscan", "--find", "--show", name).Output()
	if err != nil {
		t.Fatalf("losetup: %v", err)
	}
	node := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		exec.Command("partx", "--delete", node).Run() // else they would show on the next disk of this number
		exec.Command("losetup", "--detach", node).Run()
	})
	return node
}

// carry runs a job and returns its conversation and its log.
func carry(t *testing.T, sys System, job guest.Job) ([]guest.Event, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "agent")
	var log bytes.Buffer
	job.Quiesce.LimitSeconds = 30
	if err := run(t.Context(), sys, writeJob(t, job), dir, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	return conversation(t, dir), log.String()
}

func lastStorage(events []guest.Event) (facts results.StorageFacts) {
	for _, ev := range events {
		if ev.Measurement != nil && ev.Measurement.Storage != nil {
			facts = *ev.Measurement.Storage
		}
	}
	return facts
}
