package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"platter/guest"
	"platter/guest/storage"
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

func TestStorageJobOnLoopDevices(t *testing.T) {
	for _, test := range []struct {
		storage guest.Storage
		setting string // one asked and read back
		value   string
	}{
		{guest.Storage{Filesystem: "ext4", Label: "lab", Options: map[string]string{"blocksize": "4096"}, Layout: guest.Layout{Disk: "d0"}}, "blocksize", "4096"},
		{guest.Storage{Filesystem: "xfs", Mount: []string{"noatime"}, Options: map[string]string{"data.agcount": "3"}, Layout: guest.Layout{Kind: "disk", Disk: "d0"}}, "data.agcount", "3"},
		{guest.Storage{Filesystem: "btrfs", Layout: guest.Layout{Kind: "btrfs", Options: map[string]string{"level": "raid1"}, Of: []guest.Layout{{Disk: "d0"}, {Disk: "d1"}}}}, "level", "raid1"},
		{guest.Storage{Filesystem: "ext2", Layout: guest.Layout{Kind: "partition", Options: map[string]string{"number": "2", "of": "3"}, Of: []guest.Layout{{Disk: "d0"}}}}, "number", "2"},
	} {
		t.Run(test.storage.Filesystem, func(t *testing.T) {
			sys, disks := loopMachine(t, 400, 400)
			if test.storage.Layout.Kind != "btrfs" {
				disks = disks[:1]
			}
			events, log := carry(t, sys, guest.Job{Disks: disks, Storage: test.storage, Precondition: "fill", Probes: []string{"noise", "flush"}, Steps: []guest.Step{{Do: "fill"}}})
			if done := doneOf(events); done.Status != results.StatusOK {
				t.Fatalf("%+v\n%s", done, log)
			}
			facts := lastStorage(events)
			if facts.DataOnDevice == nil || !*facts.DataOnDevice || facts.MkfsSeconds == nil || facts.MountSeconds == nil ||
				facts.Quiesced == nil || facts.SizeBytes == nil || len(facts.Facts) == 0 || facts.MountOptions == "" {
				t.Errorf("facts are not complete: %+v", facts)
			}
			device := facts.Device
			want := storage.Commands(test.storage, disks, func(d string) string { return device })
			if test.storage.Layout.Kind == "" && fmt.Sprint(facts.Commands) != fmt.Sprint(want) {
				t.Errorf("ran %v, a plan says %v", facts.Commands, want)
			}
			probes := map[string]results.Probe{}
			effective := map[string]string{}
			for _, ev := range events {
				if ev.Measurement == nil {
					continue
				}
				for _, f := range ev.Measurement.Flags {
					if f.Name == "asked_not_effective" {
						t.Errorf("flag %+v", f)
					}
				}
				for _, p := range ev.Measurement.Probes {
					probes[p.Name+" "+p.When] = p
				}
				for _, s := range ev.Measurement.Settings {
					if s.Effective != nil {
						effective[s.Name] = *s.Effective
					}
				}
			}
			if p := probes["noise before"]; p.Values["cpu_loop_seconds"] == nil || p.Values["sync_write_median_seconds"] == nil || len(probes) != 2+2*len(disks) {
				t.Errorf("probes %v", probes)
			}
			if p := probes["flush:d0 before"]; p.Values["sync_writes_total"] == nil || *p.Values["sync_writes_total"] < 1 {
				t.Errorf("flush probe %v", p)
			}
			if effective[test.setting] != test.value {
				t.Errorf("setting %s is %q, want %q", test.setting, effective[test.setting], test.value)
			}
			if _, err := (&trial{sys: System{"/"}}).mountAt(storage.MountPoint); err == nil {
				t.Error("it is still mounted")
			}
		})
	}
}

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

// Partition and mkfs a hundred times beside a busy processor: the node of a partition may come late or
// be one of the table before.
func TestPartitionNodesAreAwaited(t *testing.T) {
	sys, disks := loopMachine(t, 64)
	devices, err := sys.BlockDevices()
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var hogs sync.WaitGroup
	defer hogs.Wait()
	defer close(stop)
	hogs.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	fs, err := storage.FilesystemByName("ext4")
	if err != nil {
		t.Fatal(err)
	}
	tr := &trial{sys: sys, log: quiet(), ex: &Exec{Log: quiet()}}
	for round := range 100 {
		count := strconv.Itoa(1 + round%3)
		node := guest.Layout{Kind: "partition", Disk: "d0", Options: map[string]string{"number": count, "of": count}}
		a, errs := storage.Assemble(node, disks, func(string) string { return devices[0].Node })
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, part := range a.Parts {
			for _, step := range part.Steps {
				if err := tr.build(t.Context(), step); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
		}
		if err := tr.runAll(t.Context(), time.Minute, fs.Mkfs(guest.Storage{Filesystem: "ext4"}, a.Target)); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
