package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"platter/lab"
	"platter/lab/hypervisor"
	"platter/results"
	"platter/results/store"
)

// result assembles what the trial measured, or why it did not.
func (t *trial) result(ctx context.Context, err error) results.Result {
	r := results.Result{
		Schema: results.Schema, RunID: t.Store.ID(), Study: t.Plan.Study, Scale: t.Plan.Scale,
		Trial: t.Name, TrialID: t.ID, Index: t.Index, Round: t.Round, Attempt: t.attempt,
		Factors: t.Factors, CellID: t.CellID, PrecededBy: t.previous,
		StartedAt: t.started.UTC(), BootSeconds: t.bootSeconds,
		Accel: string(t.accel), Host: HostFacts(t.info), Images: t.imageRefs(t.Trial),
		Disks: t.disks, Storage: t.learnt.Storage, Server: t.learnt.Server, Durability: t.learnt.Durability,
		Steps: t.guestSteps, Metrics: t.learnt.Metrics, Histograms: t.learnt.Histograms,
		Probes: append(t.learnt.Probes, t.probes...), Flags: t.flags,
	}
	if t.hello != nil {
		r.Guest = &t.hello.Facts
		t.setting("machine", "cpus", fmt.Sprint(t.Machine.CPUs), fmt.Sprint(r.Guest.CPUs))
		t.setting("machine", "memory_bytes", fmt.Sprint(t.Machine.MemoryBytes), fmt.Sprint(r.Guest.MemoryBytes))
	}
	t.setting("machine", "accel", t.Machine.Accel, string(t.accel))
	r.Settings = append(t.settings, t.learnt.Settings...)
	r.EnvID = results.EnvID(r.Host, r.Accel)
	r.SoftwareID = results.SoftwareID(r.Guest, r.Images, r.Server, lab.Version())
	wall := time.Since(t.started).Seconds()
	r.WallSeconds = &wall
	if t.done != nil {
		if work := t.spent + t.done.GuestSeconds; work <= wall {
			overhead := wall - work
			r.GuestSeconds, r.OverheadSeconds = &work, &overhead
		} else {
			err = &lab.InfraError{What: "tell time in the machine", Err: fmt.Errorf("the job took %.0f s by its clock while the whole trial "+
				"took %.0f s by the host's: its kernel found a wrong frequency of its counter, as happens on a busy host; %s", work, wall, cmp.Or(t.done.Reason, "the job told of nothing else"))}
		}
	}
	t.judge(ctx, &r, err)
	r.Reason, r.Evidence = t.hide(r.Reason), t.hide(r.Evidence)
	for i := range r.Flags {
		r.Flags[i].Detail = t.hide(r.Flags[i].Detail)
	}
	return r
}

// judge gives the result its status. Metrics of a trial that was not measured to its end stay in the events, and are
// taken out of the result, so that no part of a trial is ever read as the whole.
func (t *trial) judge(ctx context.Context, r *results.Result, err error) {
	var job *lab.JobError
	if rig := t.rigFailure(); rig != "" && errors.As(err, &job) {
		// A volume that fails under the subject is not the subject's failure.
		err = &lab.InfraError{What: rig, Err: errors.New(job.Reason)}
	}
	switch {
	case err == nil && t.done != nil:
		r.Status, r.Reason, r.Evidence = t.done.Status, t.done.Reason, t.done.Evidence
		if faults := t.rigFaults(); len(faults) > 0 && (r.Status == results.StatusOK || r.Status == results.StatusInvalid) {
			// What the guest found may be no more than what it saw of these, so they are told first.
			r.Status, r.Reason = results.StatusInvalid, strings.Trim(strings.Join(append(faults, r.Reason), "; "), "; ")
		}
	case context.Cause(ctx) != nil:
		r.Status, r.Reason = results.StatusInterrupted, context.Cause(ctx).Error()
	case errors.As(err, &job):
		r.Status, r.Reason, r.Evidence, r.ErrorKind = results.StatusFailed, job.Reason, job.Evidence, "job"
	default:
		r.Status, r.Reason, r.ErrorKind = results.StatusLost, sentence(err), kindOf(err)
		var boot *lab.BootError
		if errors.As(err, &boot) {
			r.Evidence = boot.Console
		} else if t.done != nil {
			r.Evidence = t.done.Evidence
		} else {
			r.Evidence = t.evidence
		}
	}
	if r.Status != results.StatusOK && r.Status != results.StatusInvalid {
		r.Metrics, r.Histograms = nil, nil
	}
}

// rigFaults are what befell the machines of a trial from outside, which makes its numbers no measurement.
func (t *trial) rigFaults() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	faults := slices.Clone(t.pauses)
	if t.failed != "" {
		faults = append(faults, t.failed)
	}
	return faults
}

// rigFailure tells of requests to a volume that failed, empty when there were none.
func (t *trial) rigFailure() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.rigFailed {
		return ""
	}
	return t.failed
}

// HostFacts is what results keep of a hypervisor's host.
func HostFacts(i hypervisor.Info) results.HostFacts {
	return results.HostFacts{
		Kernel: i.Kernel, Arch: i.Arch, CPUModel: i.CPUModel, CPUs: i.CPUs, MemoryBytes: i.MemoryBytes,
		LibvirtVersion: i.LibvirtVersion.String(), QEMUVersion: i.QEMUVersion, MachineType: i.MachineType, Mode: string(i.Mode),
		PlatterVersion: lab.Version(),
	}
}

// blockStats keeps what the hypervisor itself counted for each data disk during the job.
func (t *trial) blockStats(ctx context.Context, machine Machine, before map[string]hypervisor.BlockStats) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	after, err := machine.BlockStats(ctx)
	if err != nil || before == nil {
		return
	}
	for _, d := range t.Disks {
		a, b := after[d.Serial], before[d.Serial]
		delta := func(after, before uint64) *float64 { v := float64(after) - float64(before); return &v }
		t.probes = append(t.probes, results.Probe{Name: "hypervisor_block_stats", When: "after", Note: "disk " + d.Name, Values: map[string]*float64{
			"reads_total": delta(a.ReadRequests, b.ReadRequests), "read_bytes": delta(a.ReadBytes, b.ReadBytes),
			"writes_total": delta(a.WriteRequests, b.WriteRequests), "written_bytes": delta(a.WriteBytes, b.WriteBytes),
			"flushes_total": delta(a.FlushRequests, b.FlushRequests),
		}})
	}
}

// finish keeps the result. What a guest told may make no result (values that contradict each other, or megabytes of
// them): then the trial is lost, with nothing of the guest's in its result, and the run goes on.
func (t *trial) finish(r results.Result) (results.Result, error) {
	err := t.dir.Finish(r)
	var full *store.NoSpaceError
	if err == nil || errors.As(err, &full) {
		return r, err
	}
	r.Status, r.ErrorKind, r.Evidence = results.StatusLost, "infra", ""
	r.Reason = "what the guest told makes no result, its events are kept: " + printable(sentence(err))
	r.Guest, r.Storage, r.Server, r.Durability, r.Disks = nil, nil, nil, "", nil
	r.Steps, r.Metrics, r.Histograms, r.Probes, r.Flags, r.Settings = nil, nil, nil, nil, nil, nil
	r.GuestSeconds, r.OverheadSeconds = nil, nil
	return r, t.dir.Finish(r)
}
