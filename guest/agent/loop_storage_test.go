package agent

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"platter/guest"
	"platter/guest/storage"
	"platter/results"
)

// complete proves that nothing the guest can learn of its storage was left out.
func complete(t *testing.T, facts results.StorageFacts) {
	t.Helper()
	if facts.DataOnDevice == nil || !*facts.DataOnDevice || facts.MkfsSeconds == nil || facts.MountSeconds == nil ||
		facts.Quiesced == nil || facts.SizeBytes == nil || len(facts.Facts) == 0 || facts.MountOptions == "" {
		t.Errorf("facts are not complete: %+v", facts)
	}
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
			precondition, least := "fill", len(disks)
			if test.storage.Filesystem == "ext2" {
				precondition, least = "steady", steadyRounds
			}
			events, log := carry(t, sys, guest.Job{Disks: disks, Storage: test.storage, Precondition: precondition, Probes: []string{"noise", "flush"}, Steps: []guest.Step{{Do: "fill"}}})
			if done := doneOf(events); done.Status != results.StatusOK {
				t.Fatalf("%+v\n%s", done, log)
			}
			facts := lastStorage(events)
			complete(t, facts)
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
			if p := probes["noise before"]; p.Values["cpu_loop_seconds"] == nil || p.Values["sync_write_median_seconds"] == nil || probes["precondition:d0 round 01"].Values["precondition_bytes_per_second"] == nil || len(probes) < 2+2*len(disks)+least || precondition == "fill" && len(probes) > 2+2*len(disks)+least {
				t.Errorf("probes %v", probes)
			}
			if asked := effective["precondition"]; precondition == "steady" && asked != fmt.Sprintf("steady, %d rounds", len(probes)-2-2*len(disks)) {
				t.Errorf("precondition is %q with probes %v", asked, probes)
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
