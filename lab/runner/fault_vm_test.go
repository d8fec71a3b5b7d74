package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"platter/guest"
	"platter/images/build"
	"platter/images/cache"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/results"
	"platter/results/store"
)

// fault is something that goes wrong in the middle of a trial on a real machine, and how the trial ends then. Its name is
// that of the step in whose middle it comes; testdata/faulty-guest does those that come from inside.
type fault struct {
	name     string
	at       string       // phase in which it comes; "" is the step of its name
	steps    []guest.Step // nil: sleep 6 s, without a server unless there are options for one
	server   map[string]string
	memory   int64
	disk     int64
	host     func(t *testing.T, h *faultHost) // done as the step begins
	small    bool                             // the host's directory of volumes has 300 MiB
	status   results.Status
	kind     string
	reason   []string // what the sentence says
	match    string   // a pattern of it, where servers have several words
	evidence string
	limit    time.Duration // from the step's begin to the end of the trial, clean-up included; emulated, on a busy host
}

// script is a step that runs statements.
func scriptStep(do, name, setup, statement string) guest.Step {
	options, _ := json.Marshal(map[string]any{"setup": setup, "statements": statement, "threads": 2, "time": 600, "db_ps_mode": "disable"})
	return guest.Step{Do: do, Name: name, Workload: "script", Options: options}
}

var faults = []fault{
	{name: "kernel-crashed", status: results.StatusLost, kind: "infra", limit: 90 * time.Second,
		reason: []string{"the guest's kernel panicked in step kernel-crashed: ", "sysrq triggered crash; the machine is "}, evidence: "sysrq triggered crash"},
	{name: "rebooted", status: results.StatusLost, kind: "infra", limit: 90 * time.Second,
		reason: []string{" in step rebooted: ", "the machine is "}},
	{name: "sshd-killed", status: results.StatusOK, limit: 90 * time.Second}, // init starts it again, and we attach again
	{name: "sshd-gone", status: results.StatusLost, kind: "infra", limit: 240 * time.Second,
		reason: []string{"the connection to the guest was lost in step sshd-gone: ", "gave up", "the machine is running"}, evidence: "sshd ended with status"},
	{name: "clock-forward", status: results.StatusInvalid, limit: 90 * time.Second, reason: []string{"the wall clock stepped by 36", "against the monotonic clock"}},
	{name: "clock-back", status: results.StatusInvalid, limit: 90 * time.Second, reason: []string{"the wall clock stepped by -3", "against the monotonic clock"}},
	{name: "suspended", status: results.StatusInvalid, limit: 150 * time.Second, reason: []string{"somebody paused the machine for about ", " by the machine's hardware clock"},
		host: func(t *testing.T, h *faultHost) {
			h.virsh(t, "suspend")
			time.Sleep(20 * time.Second)
			h.virsh(t, "resume")
		}},
	{name: "pool-full", small: true, disk: 448 << 20, status: results.StatusLost, kind: "infra", limit: 180 * time.Second,
		steps:  []guest.Step{{Do: "fill", Name: "pool-full", Options: json.RawMessage(`{"size_bytes": 380000000}`)}},
		reason: []string{"the host could not write for the machine in step pool-full: the machine is paused (ioerror)", "enospc on disk ", "make room"}},
	{name: "server-killed", server: map[string]string{}, status: results.StatusFailed, kind: "job", limit: 120 * time.Second,
		steps:  []guest.Step{scriptStep("prepare", "prepare", "SELECT 1", "SELECT 1"), scriptStep("run", "server-killed", "", "SELECT SLEEP(0.01)")},
		reason: []string{"step server-killed", "the server ended during the step", "mariadbd was killed (SIGKILL"}, evidence: "ready for connections"},
	{name: "pool-too-large", at: "server init", server: map[string]string{"innodb_buffer_pool_size": "1G"}, memory: 512 << 20,
		status: results.StatusFailed, kind: "job", limit: 120 * time.Second, reason: []string{"Out of memory (Needed 1073741824 bytes)"}},
	{name: "memory-out", server: map[string]string{"max_heap_table_size": "2G", "tmp_table_size": "2G"}, memory: 512 << 20,
		status: results.StatusFailed, kind: "job", limit: 240 * time.Second,
		steps: []guest.Step{
			scriptStep("prepare", "prepare", "CREATE TABLE m (c CHAR(250)) ENGINE=MEMORY CHARACTER SET latin1; INSERT INTO m SELECT REPEAT('x', 250) FROM information_schema.columns LIMIT 1000", "SELECT 1"),
			scriptStep("run", "memory-out", "", "INSERT INTO m SELECT * FROM m LIMIT 200000"),
		},
		reason: []string{"out of memory: the kernel killed mariadbd", "step memory-out"}, evidence: "Out of memory: Killed process"},
	{name: "disk-full", server: map[string]string{}, status: results.StatusFailed, kind: "job", limit: 300 * time.Second,
		steps: []guest.Step{
			scriptStep("prepare", "prepare", "CREATE TABLE f (c LONGTEXT) ENGINE=InnoDB CHARACTER SET latin1", "SELECT 1"),
			scriptStep("run", "disk-full", "", "INSERT INTO f SELECT REPEAT('x', 4000000)"),
		},
		reason: []string{"step disk-full"}, match: `(?i)is full|disk space|no space`},
}

// faultHost is the real host, with the volume of a trial on a small filesystem where a fault asks for it.
type faultHost struct {
	Host
	small   string // directory of volumes; "" is the usual one
	machine string // libvirt's name of the machine
}

func (h *faultHost) CreateVolume(ctx context.Context, spec hypervisor.VolumeSpec) (hypervisor.Volume, error) {
	if h.small == "" {
		return h.Host.CreateVolume(ctx, spec)
	}
	// The host itself refuses a volume that may not fit: this one was made when there was room.
	path := filepath.Join(h.small, spec.Name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return hypervisor.Volume{}, err
	}
	return hypervisor.Volume{Run: spec.Tag.Run, Name: spec.Name, Path: path, SizeBytes: spec.SizeBytes, Format: domain.Raw,
		Preallocation: spec.Preallocation, Probe: hypervisor.Probe{DirectIO: true}}, os.Truncate(path, spec.SizeBytes)
}

func (h *faultHost) RemoveVolume(v hypervisor.Volume) error {
	if h.small == "" {
		return h.Host.RemoveVolume(v)
	}
	return os.Remove(v.Path)
}

func (h *faultHost) Start(ctx context.Context, spec domain.Spec) (Machine, error) {
	h.machine = spec.Name
	return h.Host.Start(ctx, spec)
}

func (h *faultHost) virsh(t *testing.T, verb string) {
	out, err := exec.Command("virsh", "-c", "qemu:///system", verb, h.machine).CombinedOutput()
	if err != nil {
		t.Errorf("virsh %s: %v: %s", verb, err, out)
	}
}

// smallFilesystem mounts an ext4 of 300 MiB.
func smallFilesystem(t *testing.T, near string) string {
	t.Helper()
	dir, err := os.MkdirTemp(near, "small-")
	if err != nil {
		t.Fatal(err)
	}
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	script := `truncate -s 300M "$1" && mkfs.ext4 -q -m 0 "$1" && mkdir "$2" && mount -o loop "$1" "$2" && chmod 711 "$2"`
	if out, err := exec.Command("sh", "-c", script, "sh", image, mount).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	os.Chmod(dir, 0o711)
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return mount
}

// TestRealFaults makes each fault in a real machine, two machines at a time. Each ends as its kind, with a sentence that
// quotes the evidence, in its time, with nothing left and without a number.
func TestRealFaults(t *testing.T) {
	needVM(t)
	path := buildGuest(t, "./testdata/faulty-guest")
	host, err := hypervisor.Open(t.Context(), hypervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	plan := tinyPlan(t)
	two := make(chan struct{}, 2)
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			two <- struct{}{}
			defer func() { <-two }()
			f.happens(t, host, plan, i, path)
		})
	}
}

func (f fault) happens(t *testing.T, real *hypervisor.Host, plan lab.Plan, i int, binary string) {
	h := &faultHost{Host: NewHost(real)}
	if f.small {
		h.small = smallFilesystem(t, real.StorageDir())
	}
	var began time.Time
	var acting sync.WaitGroup
	r := f.run(t, h, plan, i, binary, func(e lab.RunEvent) {
		if e.Kind == lab.PhaseStarted && e.Phase == cmp.Or(f.at, f.name) && began.IsZero() {
			began = time.Now()
			if f.host != nil {
				acting.Go(func() { f.host(t, h) })
			}
		}
	})
	result, err := r.one(context.Background(), r.Plan.Trials[0], 1)
	took := time.Since(began)
	acting.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Host.RemoveRun(r.Store.ID()); err != nil {
		t.Error(err)
	}
	t.Logf("%.0f s after %s: %s %s: %s", took.Seconds(), f.name, result.Status, result.ErrorKind, result.Reason)
	if began.IsZero() {
		t.Fatalf("the fault never happened: %s: %s\n%s", result.Status, result.Reason, result.Evidence)
	}
	f.check(t, result, took)
	left, err := real.Leftovers(context.Background(), hypervisor.Everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		if l.Tag.Run == r.Store.ID() {
			t.Errorf("left behind: %s %s", l.Kind, l.Name)
		}
	}
}

// run prepares a run of the one trial in which the fault happens.
func (f fault) run(t *testing.T, h Host, plan lab.Plan, i int, binary string, events func(lab.RunEvent)) *run {
	t.Helper()
	trial := plan.Trials[0]
	trial.Index = i
	trial.Job.Steps = f.steps
	if f.steps == nil {
		trial.Job.Steps = []guest.Step{{Do: "sleep", Name: f.name, Seconds: 6}}
	}
	plan.Images = []string{trial.Root, trial.Server}
	if f.server == nil {
		trial.Server, trial.Job.Server, plan.Images = "", guest.Server{}, plan.Images[:1]
	}
	for name, value := range f.server {
		options := map[string]string{}
		for k, v := range trial.Job.Server.Options {
			options[k] = v
		}
		options[name] = value
		trial.Job.Server.Options = options
	}
	if f.memory > 0 {
		trial.Machine.MemoryBytes = f.memory
	}
	if f.disk > 0 {
		trial.Disks = append([]lab.Disk(nil), trial.Disks...)
		trial.Job.Disks = append([]guest.Disk(nil), trial.Job.Disks...)
		trial.Disks[0].SizeBytes, trial.Job.Disks[0].SizeBytes = f.disk, f.disk
	}
	plan.Trials, plan.Study = []lab.Trial{trial}, "fault-"+f.name // runs that begin in one second need names of their own
	folder := newFolder(t, plan)
	tag, err := hypervisor.NewTag(folder.ID())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := cache.Open("", build.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{staged: map[string]stagedImage{}, Config: Config{Plan: plan, Store: folder, Host: h, Images: catalogue{kept, nil}, Tag: tag,
		Events: events, Log: testLog(t), GuestBinary: func(string) (string, error) { return binary, nil }}}
	if err := r.prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

func newFolder(t *testing.T, plan lab.Plan) *store.Run {
	t.Helper()
	document, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := store.Create(t.TempDir(), store.CreateSpec{Study: plan.Study, Plan: document, PlanDigest: plan.Digest})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func (f fault) check(t *testing.T, r results.Result, took time.Duration) {
	t.Helper()
	if r.Status != f.status || r.ErrorKind != f.kind {
		t.Errorf("status %s, kind %q, want %s, %q", r.Status, r.ErrorKind, f.status, f.kind)
	}
	if r.Status != results.StatusOK && r.Status != results.StatusInvalid && len(r.Metrics) > 0 {
		t.Errorf("%d metrics of a trial that was not measured", len(r.Metrics))
	}
	for _, want := range f.reason {
		if !strings.Contains(r.Reason, want) {
			t.Errorf("the reason does not say %q: %s", want, r.Reason)
		}
	}
	if !regexp.MustCompile(f.match).MatchString(r.Reason) {
		t.Errorf("the reason does not match %s: %s", f.match, r.Reason)
	}
	if strings.Contains(r.Reason, "\n") {
		t.Errorf("the reason is no sentence: %q", r.Reason)
	}
	if !strings.Contains(r.Evidence, f.evidence) {
		t.Errorf("the evidence lacks %q: %s", f.evidence, r.Evidence)
	}
	if took > f.limit {
		t.Errorf("it took %.0f s, want at most %s", took.Seconds(), f.limit)
	}
}
