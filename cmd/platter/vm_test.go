package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/results"
	"platter/results/store"
)

var vm = flag.Bool("vm", false, "run the tests that use real machines; needs `make build`, libvirt and QEMU")

func needVM(t *testing.T) {
	t.Helper()
	if !*vm {
		t.Skip("needs -vm: runs studies on real machines")
	}
}

// command is a platter process as people start it.
type command struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	events *bufio.Scanner
}

// start runs bin/platter. Standard output is read as events when --json is among args.
func start(t *testing.T, args ...string) *command {
	t.Helper()
	binary, err := filepath.Abs("../../bin/platter")
	if err != nil {
		t.Fatal(err)
	}
	c := &command{t: t, cmd: exec.Command(binary, args...)}
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.events = bufio.NewScanner(out)
	c.events.Buffer(nil, 64<<20)
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("%v; run `make build` first", err)
	}
	t.Cleanup(func() { c.cmd.Process.Kill() })
	return c
}

// await reads events until one matches, and returns it.
func (c *command) await(what string, match func(lab.RunEvent) bool) lab.RunEvent {
	c.t.Helper()
	for c.events.Scan() {
		var e lab.RunEvent
		if err := json.Unmarshal(c.events.Bytes(), &e); err != nil {
			c.t.Fatalf("event %q: %v", c.events.Text(), err)
		}
		if match(e) {
			return e
		}
	}
	c.t.Fatalf("the run ended before %s; standard error:\n%s", what, c.stderr.String())
	return lab.RunEvent{}
}

func (c *command) awaitPhase(phase string) {
	c.t.Helper()
	c.await("phase "+phase, func(e lab.RunEvent) bool { return e.Kind == lab.PhaseStarted && e.Phase == phase })
}

// wait reads the rest and returns the exit status.
func (c *command) wait() int {
	c.t.Helper()
	for c.events.Scan() {
	}
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}

// openTestHost opens the hypervisor the way a test looks at it from outside a run.
func openTestHost(t *testing.T) *hypervisor.Host {
	t.Helper()
	host, err := hypervisor.Open(context.Background(), hypervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host
}

// nothingLeft fails if anything that process pid made for its runs, kept below dir, is still there.
func nothingLeft(t *testing.T, host *hypervisor.Host, pid int, dir string) {
	t.Helper()
	left, err := host.Leftovers(context.Background(), hypervisor.Everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		if l.Tag.PID == pid {
			t.Errorf("left behind: %s %s (%s)", l.Kind, l.Name, l.Reason)
		}
	}
	for _, pid := range emulators(t, dir) {
		t.Errorf("left behind: a process of a trial's machine, pid %s", pid)
	}
}

// emulators lists QEMU processes that have a disk of one of the runs kept below dir.
func emulators(t *testing.T, dir string) []string {
	t.Helper()
	folders, err := os.ReadDir(dir)
	if err != nil || len(folders) == 0 {
		t.Fatalf("no run below %s: %v", dir, err)
	}
	var pids []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte("guest=platter-")) {
			continue
		}
		for _, folder := range folders {
			if bytes.Contains(line, []byte("/run-"+folder.Name()+"/")) {
				pids = append(pids, filepath.Base(filepath.Dir(path)))
			}
		}
	}
	return pids
}

// foreign is a file in platter's own storage directory and a running machine, both without its tag.
type foreign struct {
	file    string
	machine *hypervisor.Machine
}

func makeForeign(t *testing.T, host *hypervisor.Host) foreign {
	t.Helper()
	ctx := context.Background()
	tag, err := hypervisor.NewTag("somebody-elses")
	if err != nil {
		t.Fatal(err)
	}
	volume, err := host.CreateVolume(ctx, hypervisor.VolumeSpec{Tag: tag, Name: "theirs", SizeBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.RemoveRun(tag.Run) })
	accel, err := host.Accel(ctx, "auto")
	if err != nil {
		t.Fatal(err)
	}
	root := rootImage(t)
	machine, err := host.Start(ctx, domain.Spec{Name: "somebody-elses", Accel: accel, CPUs: 1, MemoryBytes: 256 << 20,
		Kernel: stage(t, host, root, images.KernelFile), Initramfs: stage(t, host, root, images.InitramfsFile), Cmdline: images.Cmdline(),
		Disks: []domain.Disk{domain.ImageDisk(images.RootSerial, stage(t, host, root, images.RootFile)), domain.DataDisk("theirs", volume.Path, volume.SizeBytes)},
		Tag:   tag})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { machine.Destroy(context.Background()) })
	file := filepath.Join(host.StorageDir(), "holiday-pictures.raw")
	if err := os.WriteFile(file, []byte("not platter's"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file) })
	return foreign{file, machine}
}

// rootImage is the root image of the cache.
func rootImage(t *testing.T) images.Image {
	t.Helper()
	store, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := images.Lookup("root")
	if err != nil {
		t.Fatal(err)
	}
	image, err := store.Ensure(context.Background(), recipe, images.Options{Arch: runtime.GOARCH}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// stage puts a file of an image where the hypervisor reads it.
func stage(t *testing.T, host *hypervisor.Host, image images.Image, file string) string {
	t.Helper()
	digest := strings.TrimPrefix(image.Manifest.Outputs[file].SHA256, "sha256:")
	path, err := host.Stage(context.Background(), image.Name+"-"+file, digest, func() (io.ReadCloser, error) { return os.Open(filepath.Join(image.Dir, file)) })
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (f foreign) untouched(t *testing.T) {
	t.Helper()
	if data, err := os.ReadFile(f.file); err != nil || string(data) != "not platter's" {
		t.Errorf("a foreign file was touched: %q, %v", data, err)
	}
	if state, err := f.machine.Alive(context.Background()); err != nil || !state.Running {
		t.Errorf("a living run's machine was touched: %+v, %v", state, err)
	}
}

// TestStudy carries out the shipped study on real machines and looks at everything it leaves: the folder, and nothing else.
func TestStudy(t *testing.T) {
	needVM(t)
	host := openTestHost(t)
	other := makeForeign(t, host)
	dir := t.TempDir()
	c := start(t, "run", "ext4-vs-xfs@smoke", "--results", dir)
	peak := watchPeak(c.cmd.Process.Pid)
	var report strings.Builder
	for c.events.Scan() {
		report.WriteString(c.events.Text() + "\n")
	}
	if status := c.wait(); status != 0 {
		t.Fatalf("exit status %d\n%s\n%s", status, report.String(), c.stderr.String())
	}
	t.Logf("report:\n%s", report.String())
	for _, word := range []string{"ext4", "xfs", "tcg"} {
		if word == "tcg" && kvm(t, host) {
			word = "kvm"
		}
		if !strings.Contains(report.String(), word) {
			t.Errorf("the report does not say %s", word)
		}
	}
	const memory = 80 << 10 // KiB
	if kib := <-peak; kib == 0 || kib > memory {
		t.Errorf("the host process took %d KiB, want under %d", kib, memory)
	} else {
		t.Logf("the host process took %d KiB", kib)
	}
	checkFolder(t, dir, 4)
	nothingLeft(t, host, c.cmd.Process.Pid, dir)
	other.untouched(t)
}

// watchPeak tells, when process pid has ended, how many KiB of memory it held at most. Its rusage does not: the kernel counts
// in it what the process was before its exec, a copy of this test with all that this test holds.
func watchPeak(pid int) <-chan int {
	peak := make(chan int, 1)
	go func() {
		for kib := 0; ; time.Sleep(5 * time.Millisecond) {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, after, alive := strings.Cut(string(status), "VmHWM:")
			if !alive {
				peak <- kib
				return
			}
			fmt.Sscan(after, &kib)
		}
	}()
	return peak
}

func kvm(t *testing.T, host *hypervisor.Host) bool {
	t.Helper()
	info, err := host.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return info.KVM
}

// checkFolder verifies the one run folder below dir and the results in it.
func checkFolder(t *testing.T, dir string, trials int) {
	t.Helper()
	runs, problems, err := store.List(dir)
	if err != nil || len(problems) > 0 || len(runs) != 1 {
		t.Fatalf("%d runs, problems %v, %v", len(runs), problems, err)
	}
	if found := runs[0].Verify(); len(found) > 0 {
		t.Errorf("verify: %v", found)
	}
	n := 0
	for r, err := range runs[0].Results() {
		if err != nil {
			t.Error(err)
			continue
		}
		if triedAgain(t, r) {
			continue
		}
		n++
		checkResult(t, r)
	}
	if n != trials {
		t.Errorf("%d results, want %d", n, trials)
	}
}

// triedAgain tells a first attempt that was lost: the run has made another of it. QEMU's emulation of a guest that patches
// its own code on two processors ends now and then in a panic at boot.
func triedAgain(t *testing.T, r results.Result) bool {
	t.Helper()
	lost := r.Status == results.StatusLost && r.Attempt == 1
	if lost {
		t.Logf("%s: lost and tried again: %s\n%s", r.Trial, r.Reason, r.Evidence)
	}
	return lost
}

func checkResult(t *testing.T, r results.Result) {
	t.Helper()
	if r.Status != results.StatusOK {
		t.Errorf("%s: %s: %s\n%s", r.Trial, r.Status, r.Reason, r.Evidence)
		return
	}
	if err := r.Validate(); err != nil {
		t.Errorf("%s: %v", r.Trial, err)
	}
	if r.BootSeconds == nil || *r.BootSeconds <= 0 || r.OverheadSeconds == nil || *r.OverheadSeconds <= 0 {
		t.Errorf("%s: boot %v s, overhead %v s", r.Trial, r.BootSeconds, r.OverheadSeconds)
	} else {
		t.Logf("%s: boot %.1f s, guest %.1f s, overhead %.1f s", r.Trial, *r.BootSeconds, *r.GuestSeconds, *r.OverheadSeconds)
	}
	if r.Accel == "" || len(r.Images) != 2 || r.Images[0].ManifestDigest == "" || r.Storage == nil || r.Server == nil {
		t.Errorf("%s: accel %q, images %+v, storage %v, server %v", r.Trial, r.Accel, r.Images, r.Storage, r.Server)
		return
	}
	if r.Storage.DataOnDevice == nil || !*r.Storage.DataOnDevice {
		t.Errorf("%s: the data directory was not proven to lie on the asked device", r.Trial)
	}
	if r.Storage.Filesystem != r.Factors["storage"] {
		t.Errorf("%s: filesystem %s", r.Trial, r.Storage.Filesystem)
	}
	both := 0
	for _, s := range r.Settings {
		if s.Asked != nil && s.Effective != nil {
			both++
		}
	}
	if both < 3 {
		t.Errorf("%s: %d settings hold what was asked and what was in force", r.Trial, both)
	}
	if !hasMetric(r, "queries_per_second") {
		t.Errorf("%s: no queries_per_second", r.Trial)
	}
}

func hasMetric(r results.Result, name string) bool {
	for _, m := range r.Metrics {
		if m.Name == name && m.Value != nil && *m.Value > 0 {
			return true
		}
	}
	return false
}
