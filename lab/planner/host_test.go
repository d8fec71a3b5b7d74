package planner

import (
	"errors"
	"strings"
	"testing"

	"platter/lab"
)

func TestCheckHost(t *testing.T) {
	no := false
	plan := func(change func(*lab.Trial)) lab.Plan {
		trial := lab.Trial{Machine: lab.Machine{CPUs: 2, MemoryBytes: 1 << 30, Accel: "auto"}, Disks: []lab.Disk{{Name: "data", Bus: "virtio", Cache: "auto"}}}
		change(&trial)
		return lab.Plan{MemoryBytes: 1 << 30, DiskBytes: 10 << 30, Trials: []lab.Trial{trial, trial}}
	}
	fine := Host{Arch: "x86_64", KVM: true, CPUs: 2, MaxVCPUs: 8, MemoryBytes: 4 << 30, StorageDir: "/srv", FreeBytes: 20 << 30,
		DiskBuses: []string{"virtio", "scsi"}}
	for name, c := range map[string]struct {
		trial func(*lab.Trial)
		host  func(*Host)
		want  []string // one a line of the error; none: accepted
	}{
		"fine":             {},
		"nothing is known": {host: func(h *Host) { *h = Host{} }},
		"architecture":     {host: func(h *Host) { h.Arch = "riscv64" }, want: []string{"riscv64"}},
		"memory":           {host: func(h *Host) { h.MemoryBytes = 1 << 30 }, want: []string{"host memory: a machine takes 1280MiB, 1GiB is available"}},
		"disk and memory": {host: func(h *Host) { h.MemoryBytes, h.FreeBytes = 1<<30, 10<<30 },
			want: []string{"host memory", "host disk: a trial takes 10GiB in /srv and 1GiB must stay free, 10GiB is free"}},
		"kvm":       {trial: func(t *lab.Trial) { t.Machine.Accel = "kvm" }, host: func(h *Host) { h.KVM, h.KVMReason = false, "no /dev/kvm" }, want: []string{"no /dev/kvm"}},
		"cpus":      {trial: func(t *lab.Trial) { t.Machine.CPUs = 9 }, want: []string{"at most 8"}},
		"bus":       {trial: func(t *lab.Trial) { t.Disks[0].Bus = "nvme" }, want: []string{"disks.data.bus"}},
		"direct":    {trial: func(t *lab.Trial) { t.Disks[0].Cache = "none" }, host: func(h *Host) { h.DirectIO, h.DirectIOReason = &no, "tmpfs" }, want: []string{"tmpfs"}},
		"auto mode": {host: func(h *Host) { h.DirectIO = &no }},
	} {
		t.Run(name, func(t *testing.T) {
			host := fine
			if c.trial == nil {
				c.trial = func(*lab.Trial) {}
			}
			if c.host != nil {
				c.host(&host)
			}
			err := Check(plan(c.trial), host)
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var input *lab.InputError
			if !errors.As(err, &input) {
				t.Fatalf("%v is no input error", err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("%d reasons, want %d: %v", len(lines), len(c.want), err)
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("reason %q does not say %q", lines[i], want)
				}
			}
		})
	}
}
