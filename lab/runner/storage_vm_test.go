package runner

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"platter/guest"
	"platter/guest/storage"
	"platter/lab"
	"platter/lab/remote"
	"platter/results"
)

// TestEveryStorage makes, mounts, fills, checks, reads back and unmounts every filesystem of the registry on a whole disk
// and every layout with the filesystems it takes, in one machine for each set of add-on images. Each storage is a trial of
// one run folder, whose report/storage.md is the table of all.
func TestEveryStorage(t *testing.T) {
	needVM(t)
	trials, err := storageTrials()
	if err != nil {
		t.Fatal(err)
	}
	r := openStorageRun(t, trials)
	for _, addons := range addonSets(trials) {
		t.Run("root+"+strings.Join(addons, "+"), func(t *testing.T) {
			mine := slices.DeleteFunc(slices.Clone(trials), func(t lab.Trial) bool { return !slices.Equal(t.Addons, addons) })
			bench := r.boot(t, mine[0])
			for _, trial := range mine {
				t.Run(storage.Describe(trial.Job.Storage.Layout)+" "+trial.Job.Storage.Filesystem, func(t *testing.T) { bench.try(t, trial) })
			}
			if len(addons) == 0 {
				t.Run("refused", func(t *testing.T) { bench.refusals(t, len(trials)) })
				t.Run("copies", func(t *testing.T) { bench.copies(t, len(trials)+len(refusals)) })
				t.Run("idle", func(t *testing.T) { bench.idle(t, len(trials)+len(refusals)+20) })
			}
		})
	}
	r.finish(t)
}

// addonSets are the different sets of add-on images the trials boot with, that without any first.
func addonSets(trials []lab.Trial) [][]string {
	sets := [][]string{nil}
	for _, t := range trials {
		if !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, t.Addons) }) {
			sets = append(sets, t.Addons)
		}
	}
	return sets
}

// storageBench is a machine with the lab's disks, in which one job after the other runs.
type storageBench struct {
	*storageRun
	machine Machine
	session *remote.Session
	first   *trial            // whose folder holds what the machine leaves
	names   map[string]string // what the guest calls each disk that a job has used
}

// boot starts a machine as the given trial does, by the runner's own code.
func (r *storageRun) boot(t *testing.T, planned lab.Trial) *storageBench {
	t.Helper()
	ctx := context.Background()
	r.Plan.Images = planned.Addons
	if err := r.stageImages(ctx); err != nil {
		t.Fatal(err)
	}
	first := r.trial(t, planned, 1)
	undo := cleanup{log: r.Log}
	t.Cleanup(func() {
		if err := undo.run(ctx); err != nil {
			t.Error(err)
		}
	})
	data, err := first.volumes(ctx, &undo)
	if err != nil {
		t.Fatal(err)
	}
	machine, session, err := first.boot(ctx, &undo, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.uploadGuest(ctx, session); err != nil {
		t.Fatal(err)
	}
	return &storageBench{r, machine, session, first, map[string]string{}}
}

func (r *storageRun) trial(t *testing.T, planned lab.Trial, attempt int) *trial {
	t.Helper()
	dir, err := r.Store.Trial(planned.ID, attempt)
	if err != nil {
		t.Fatal(err)
	}
	return &trial{run: r.run, Trial: planned, dir: dir, attempt: attempt, started: time.Now()}
}

// carry runs one job in the machine and keeps its result. The guest takes one job a directory, so that of the one before
// goes.
func (b *storageBench) carry(t *testing.T, planned lab.Trial, attempt int) results.Result {
	t.Helper()
	ctx := context.Background()
	tr := b.first
	if planned.ID != tr.ID || attempt > 1 {
		tr = b.trial(t, planned, attempt)
		tr.disks, tr.bootSeconds = slices.Clone(b.first.disks), b.first.bootSeconds
	}
	result := tr.result(ctx, tr.work(ctx, b.machine, b.session))
	if err := tr.dir.Finish(result); err != nil {
		t.Error(err)
	}
	client, err := b.session.Client(ctx)
	if err == nil {
		err = client.Run(ctx, []string{"rm", "-r", guestDir}, nil, nil, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Disks {
		if d.KernelName != "" {
			b.names[d.Name] = d.KernelName
		}
	}
	b.rows = append(b.rows, rowOf(planned, result))
	return result
}

// try proves one storage: the job went well, and each thing asked was read back as asked.
func (b *storageBench) try(t *testing.T, planned lab.Trial) {
	t.Helper()
	began := time.Now()
	r := b.carry(t, planned, 1)
	if r.Status == results.StatusLost || r.Status == results.StatusInvalid { // as a run does
		t.Logf("%s: %s: %s; once more", planned.Name, r.Status, r.Reason)
		r = b.carry(t, planned, 2)
	}
	t.Logf("%s: %s in %.1f s", planned.Name, r.Status, time.Since(began).Seconds())
	if r.Status != results.StatusOK || r.Storage == nil {
		t.Errorf("%s: %s: %s\n%s", planned.Name, r.Status, r.Reason, r.Evidence)
		return
	}
	s := r.Storage
	if s.MkfsSeconds == nil || s.MountSeconds == nil || s.SizeBytes == nil || len(s.Facts) == 0 || s.DataOnDevice == nil || !*s.DataOnDevice || s.Quiesced == nil || !*s.Quiesced {
		t.Errorf("%s: incomplete facts: %+v", planned.Name, *s)
	}
	for _, f := range r.Flags {
		if f.Name == "asked_not_effective" {
			t.Errorf("%s: %s", planned.Name, f.Detail)
		}
	}
	for _, d := range planned.Job.Disks {
		b.onItsBus(t, planned, r, d)
	}
	asked := 0
	for _, s := range r.Settings {
		switch {
		case s.Asked == nil || s.Subject == "disk" || s.Subject == "machine":
			continue
		case s.Effective == nil && s.Name == "write_zeroes": // how the array was filled, of which it keeps no record
		case s.Effective == nil:
			t.Errorf("%s: %s %s was asked as %q and not read back", planned.Name, s.Subject, s.Name, *s.Asked)
		case !storage.Same(*s.Asked, *s.Effective):
			t.Errorf("%s: %s %s was asked as %q and is %q", planned.Name, s.Subject, s.Name, *s.Asked, *s.Effective)
		}
		asked++
	}
	if want := len(planned.Job.Storage.Options) + len(planned.Job.Storage.Mount) + len(planned.Job.Storage.Layout.Options); asked < want {
		t.Errorf("%s: %d settings came back, %d were asked", planned.Name, asked, want)
	}
}

// kernelNames are what the kernel calls disks of each bus: proof that a disk came on the bus it was asked on (B02).
var kernelNames = map[string]string{"virtio": "vd", "scsi": "sd", "sata": "sd", "nvme": "nvme"}

// onItsBus proves that the guest found a disk of the job on its bus and with its sectors.
func (b *storageBench) onItsBus(t *testing.T, planned lab.Trial, r results.Result, want guest.Disk) {
	t.Helper()
	for _, d := range r.Disks {
		if d.Name != want.Name {
			continue
		}
		if !strings.HasPrefix(d.KernelName, kernelNames[d.Bus]) || d.LogicalBlockBytes == nil || *d.LogicalBlockBytes != max(512, want.LogicalBlockBytes) {
			t.Errorf("%s: disk %s on bus %s is %s in the guest, with blocks of %v", planned.Name, d.Name, d.Bus, d.KernelName, d.LogicalBlockBytes)
		}
		return
	}
	t.Errorf("%s: the result says nothing of disk %s", planned.Name, want.Name)
}
