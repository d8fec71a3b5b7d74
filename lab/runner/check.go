package runner

import (
	"errors"
	"fmt"

	"platter/lab"
	"platter/lab/domain"
	"platter/lab/hypervisor"
	"platter/lab/remote"
)

// Check returns every fault of the plan's machines that can be told before anything is made, as an InputError: disks the
// hypervisor cannot attach, serials that clash, more disks than a machine has places for.
func Check(p lab.Plan, info hypervisor.Info) error {
	var errs []error
	seen := map[string]bool{}
	for _, t := range p.Trials {
		if seen[t.CellID] {
			continue
		}
		seen[t.CellID] = true
		if err := checkTrial(t, info); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			errs = append(errs, fmt.Errorf("%s: %w", t.Name, err))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &lab.InputError{Err: errors.Join(errs...)}
}

func checkTrial(t lab.Trial, info hypervisor.Info) error {
	able := hypervisor.Probe{DirectIO: true, IOURing: true} // the host's own limits are planner's to check
	var data []domain.Disk
	for _, d := range t.Disks {
		effective, err := hypervisor.ResolveCache(hypervisor.CacheMode{Cache: domain.Cache(d.Cache), IO: domain.IO(d.IO)}, able)
		if err != nil {
			return fmt.Errorf("disk %s: %w", d.Name, err)
		}
		volume := hypervisor.Volume{Name: d.Name, Path: "/" + d.Name, SizeBytes: d.SizeBytes, Format: domain.Format(d.Format)}
		data = append(data, dataDisk(d, volume, effective))
	}
	keys, err := remote.NewKeys()
	if err != nil {
		return err
	}
	attempt := trial{run: &run{staged: map[string]stagedImage{}, accel: domain.TCG}, Trial: t}
	spec := attempt.spec(keys, "0", data)
	spec.LibvirtVersion, spec.Arch = info.LibvirtVersion, info.Arch
	for i := range spec.Disks {
		if spec.Disks[i].Path == "" {
			spec.Disks[i].Path = "/image" // staged later
		}
	}
	return spec.ValidateDisks()
}
