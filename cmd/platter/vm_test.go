package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"platter/images"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
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
