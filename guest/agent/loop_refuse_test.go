package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"platter/guest"
	"platter/guest/storage"
	"platter/results"
)

// The device that carries / of this machine, given as if it were a data disk, is refused untouched.
func TestTheSystemDiskIsRefused(t *testing.T) {
	sys, _ := loopMachine(t)
	mounts, err := (System{"/"}).mounts()
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for _, m := range mounts {
		if m.Mountpoint == "/" {
			link, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", m.Major, m.Minor))
			if err != nil {
				t.Fatalf("/ is on no block device: %v", err)
			}
			name = filepath.Base(link)
		}
	}
	size := 512 * (System{"/"}).number("/sys/class/block/"+name+"/size")
	pretend(t, sys, name, "root-disk", size)
	events, log := carry(t, sys, guest.Job{
		Disks:   []guest.Disk{{Name: "d0", Serial: "root-disk", SizeBytes: size, Wipe: true}},
		Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "d0"}},
	})
	if done := doneOf(events); done.Status != results.StatusLost || !strings.Contains(done.Reason, "carries the running system") {
		t.Errorf("%+v", done)
	}
	nothingWritten(t, log)
}

// nothingWritten reads the log of commands.
func nothingWritten(t *testing.T, log string) {
	t.Helper()
	for _, tool := range []string{"mke2fs", "mkfs", "wipefs --all", "sgdisk", "mount -t"} {
		if strings.Contains(log, "["+tool) {
			t.Errorf("%s was run:\n%s", tool, log)
		}
	}
}

func TestAnUnknownSerialIsRefusedWithinItsDeadline(t *testing.T) {
	sys, disks := loopMachine(t, 64)
	disks[0].Serial = "not-there"
	begin := time.Now()
	events, log := carry(t, sys, guest.Job{Disks: disks, Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "d0"}}})
	if done := doneOf(events); done.Status != results.StatusLost || !strings.Contains(done.Reason, `serial="disk0" size=67108864`) {
		t.Errorf("%+v", done)
	}
	if took := time.Since(begin); took > findLimit+10*time.Second {
		t.Errorf("it took %s", took)
	}
	nothingWritten(t, log)
}

// A filesystem that is not ours is refused; with wipe it is destroyed. A byte copy of an xfs disk would
// carry a UUID that is mounted already, so nothing is ever mounted without our own mkfs before.
func TestAForeignSignatureIsRefused(t *testing.T) {
	sys, disks := loopMachine(t, 320)
	devices, err := sys.BlockDevices()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.xfs", "-q", "-L", "precious", devices[0].Node).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	job := guest.Job{Disks: disks, Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "d0"}}}
	events, log := carry(t, sys, job)
	if done := doneOf(events); done.Status != results.StatusLost || !strings.Contains(done.Reason, "xfs precious") {
		t.Errorf("%+v", done)
	}
	nothingWritten(t, log)
	job.Disks[0].Wipe = true
	if events, log = carry(t, sys, job); doneOf(events).Status != results.StatusOK {
		t.Errorf("%+v\n%s", doneOf(events), log)
	}
}

func TestAMissingModuleSkipsBeforeAnyWrite(t *testing.T) {
	sys, disks := loopMachine(t, 64)
	os.Remove(sys.path("proc"))
	for name, text := range map[string]string{"filesystems": "\text3\n", "cmdline": "", "sys/kernel/osrelease": "x"} {
		os.MkdirAll(filepath.Dir(sys.path("proc/"+name)), 0o755)
		os.WriteFile(sys.path("proc/"+name), []byte(text), 0o644)
	}
	events, log := carry(t, sys, guest.Job{Disks: disks, Storage: guest.Storage{Filesystem: "vfat", Layout: guest.Layout{Disk: "d0"}}})
	if done := doneOf(events); done.Status != results.StatusSkipped || !strings.Contains(done.Reason, "the kernel cannot mount vfat") {
		t.Errorf("%+v", done)
	}
	nothingWritten(t, log)
}

func TestAnImpossibleJobFailsBeforeAnyWrite(t *testing.T) {
	sys, disks := loopMachine(t, 64)
	for name, change := range map[string]func(*guest.Job){
		"filesystem": func(j *guest.Job) { j.Storage.Filesystem = "ext5" },
		"size":       func(j *guest.Job) { j.Storage.Filesystem = "xfs" },
		"step":       func(j *guest.Job) { j.Steps = []guest.Step{{Do: "dance"}} },
		"probe":      func(j *guest.Job) { j.Probes = []string{"luck"} },
		"fill":       func(j *guest.Job) { j.Precondition = "half" },
		"server":     func(j *guest.Job) { j.Steps = []guest.Step{{Do: "restart"}} },
	} {
		t.Run(name, func(t *testing.T) {
			job := guest.Job{Disks: disks, Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "d0"}}}
			change(&job)
			events, log := carry(t, sys, job)
			if done := doneOf(events); done.Status != results.StatusFailed || done.Reason == "" {
				t.Errorf("%+v", done)
			}
			nothingWritten(t, log)
		})
	}
}

func TestStopInTheMiddleUnmounts(t *testing.T) {
	sys, disks := loopMachine(t, 64)
	dir := filepath.Join(t.TempDir(), "agent")
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error, 1)
	job := writeJob(t, guest.Job{
		Disks: disks, Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "d0"}},
		Steps: []guest.Step{{Do: "sleep", Seconds: 600}}, Quiesce: guest.Quiesce{LimitSeconds: 20},
	})
	go func() { result <- run(ctx, sys, job, dir, &lockedBuffer{}) }()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		b, _ := os.ReadFile(filepath.Join(dir, EventsFile))
		if bytes.Contains(b, []byte(`"index":0,"name":"sleep","state":"started"`)) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the step did not begin")
		}
	}
	cancel(ErrStopped)
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if done := doneOf(conversation(t, dir)); done.Status != results.StatusInterrupted || !strings.Contains(done.Reason, "step sleep") {
		t.Errorf("%+v", done)
	}
	if _, err := (&trial{sys: System{"/"}}).mountAt(storage.MountPoint); err == nil {
		t.Error("it is still mounted")
	}
}

func TestADeadlineIsNamed(t *testing.T) {
	sys, disks := loopMachine(t, 64)
	events, _ := carry(t, sys, guest.Job{
		DeadlineSeconds: 5, Disks: disks, Storage: guest.Storage{Filesystem: "ext4", Layout: guest.Layout{Disk: "d0"}},
		Steps: []guest.Step{{Do: "sleep", Seconds: 600}},
	})
	if done := doneOf(events); done.Status != results.StatusFailed || !strings.Contains(done.Reason, "deadline of 5 s passed") {
		t.Errorf("%+v", done)
	}
}

// A server on a full filesystem would wait for ever; the step ends with the reason instead.
func TestAFullFilesystemIsNamed(t *testing.T) {
	if !*vm {
		t.Skip("needs -vm: root, to mount")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=512k", "small", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer exec.Command("umount", dir).Run()
	tr := &trial{place: storage.Place{Dir: dir}}
	ctx, cancel := tr.watchRoom(t.Context())
	defer cancel()
	select {
	case <-ctx.Done():
		var full *FullError
		if err := context.Cause(ctx); !errors.As(err, &full) || !strings.Contains(err.Error(), "larger disk") {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(fullAfter + 20*time.Second):
		t.Error("nobody noticed")
	}
}
