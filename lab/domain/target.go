package domain

import "fmt"

// Target is the name of a disk inside libvirt and QEMU.
type Target struct {
	Serial      string
	Dev         string // libvirt's target, for example "vdb"; never a name to look for in the guest
	CommandLine bool   // libvirt does not know the disk; QEMU has it as drive "nvme-<serial>"
}

// Targets lists the targets in the order of Spec.Disks, so that events and
// statistics, which speak of targets, can be told by serial.
func Targets(s Spec) ([]Target, error) {
	places, err := place(s)
	if err != nil {
		return nil, fmt.Errorf("place the disks of %s: %w", s.Name, err)
	}
	targets := make([]Target, len(s.Disks))
	for i, d := range s.Disks {
		targets[i] = Target{Serial: d.Serial, Dev: places.disks[i].dev, CommandLine: s.onCommandLine(d)}
	}
	return targets, nil
}
