package runner

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"platter/guest"
	"platter/images"
	"platter/results"
)

// refusal is a job that must end before anything is written.
type refusal struct {
	name, filesystem string
	change           func(*storageBench, *guest.Job)
	status           results.Status
	reason           string
}

var refusals = []refusal{
	{"its tools are not in the image", "zfs", func(*storageBench, *guest.Job) {}, results.StatusSkipped, "no program"},
	{"the disk of the running system", "ext4", func(b *storageBench, j *guest.Job) {
		info, err := os.Stat(b.staged["root"].root)
		if err == nil {
			j.Disks[0] = guest.Disk{Name: "k", Serial: images.RootSerial, SizeBytes: info.Size(), Wipe: true}
		}
	}, results.StatusLost, "disk k: refused: "}, // B05
	{"a signature of somebody else", "ext4", func(_ *storageBench, j *guest.Job) { j.Disks[0].Wipe = false }, results.StatusLost, "carries a signature that is not ours"},
	{"sectors smaller than the disk's", "xfs", func(_ *storageBench, j *guest.Job) {
		j.Disks[0].LogicalBlockBytes = 0 // so that only the guest can know
		j.Storage.Options = map[string]string{"sector.size": "512"}
	}, results.StatusFailed, "under the disk's logical block of 4096 bytes"}, // B29
}

// refusals proves that a job that must not be carried out ends with its reason and without a write.
func (b *storageBench) refusals(t *testing.T, index int) {
	t.Helper()
	for i, c := range refusals {
		planned := storageTrial(index+i, c.filesystem, on("k")[0])
		planned.Job.Storage.Mount = nil
		c.change(b, &planned.Job)
		before := b.written(t)
		r := b.carry(t, planned, 1)
		if r.Status != c.status || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %s: %s", c.name, r.Status, r.Reason)
		}
		if r.Storage != nil && len(r.Storage.Commands) > 0 {
			t.Errorf("%s: it ran %v", c.name, r.Storage.Commands)
		}
		if after := b.written(t); after != before {
			t.Errorf("%s: %d bytes were written", c.name, after-before)
		}
	}
}

// written is what the hypervisor counted as written to the lab's disks.
func (b *storageBench) written(t *testing.T) (bytes uint64) {
	t.Helper()
	stats, err := b.machine.BlockStats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range labDisks {
		bytes += stats[d.Serial].WriteBytes
	}
	return bytes
}

// copies is B44: while a filesystem is mounted, a byte copy of it, UUID and all, lies on another disk. The copy is a
// signature that is not ours, and a filesystem of our own on that disk is the one that is mounted.
func (b *storageBench) copies(t *testing.T, index int) {
	t.Helper()
	for i, filesystem := range []string{"xfs", "btrfs"} {
		original := storageTrial(index+4*i, filesystem, on("b")[0])
		r := b.carry(t, original, 1)
		if r.Status != results.StatusOK {
			t.Errorf("the original %s: %s: %s", filesystem, r.Status, r.Reason)
			continue
		}
		twin := storageTrial(index+4*i+1, filesystem, on("c")[0])
		from, to := "/dev/"+b.names["b"], "/dev/"+b.names["c"]
		b.shell(t, fmt.Sprintf("dd if=%s of=%s bs=1M conv=fsync 2>/dev/null; mkdir -p /run/original; mount -t %s %s /run/original", from, to, filesystem, from))
		twin.Job.Disks[0].Wipe = false
		if r := b.carry(t, twin, 1); r.Status != results.StatusLost || !strings.Contains(r.Reason, "carries a signature that is not ours ("+filesystem) {
			t.Errorf("the copy of %s: %s: %s", filesystem, r.Status, r.Reason)
		}
		b.try(t, storageTrial(index+4*i+2, filesystem, on("c")[0]))
		b.shell(t, "umount /run/original")
	}
}

func (b *storageBench) shell(t *testing.T, script string) {
	t.Helper()
	client, err := b.session.Client(context.Background())
	if err == nil {
		err = client.Run(context.Background(), []string{"sh", "-e", "-c", script}, nil, nil, nil)
	}
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// idle is B48: on a new filesystem that waits for its workload nothing is written for ten seconds.
func (b *storageBench) idle(t *testing.T, index int) {
	t.Helper()
	planned := storageTrial(index, "ext4", on("a")[0])
	planned.Job.Steps = []guest.Step{{Do: "sleep", Name: "idle", Seconds: 10}}
	r := b.carry(t, planned, 1)
	if r.Status != results.StatusOK {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	seen := false
	for _, m := range r.Metrics {
		if m.Step == "idle" && strings.Contains(m.Name, "written") && m.Value != nil {
			seen = true
			if *m.Value > 0 {
				t.Errorf("%s while nothing was to be done: %g %v", m.Name, *m.Value, m)
			}
		}
	}
	if !seen {
		t.Errorf("no metric tells what was written: %+v", r.Metrics)
	}
}
