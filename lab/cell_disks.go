package lab

import (
	"slices"

	"platter/guest"
)

func (s Study) diskNames() []string {
	names := make([]string, len(s.Disks))
	for i, d := range s.Disks {
		names[i] = d.Name
	}
	return names
}

// layoutOf is the layout of a storage; the first disk, whole, unless it says otherwise.
func (s Study) layoutOf(st guest.Storage) guest.Layout {
	if st.Layout.Kind == "" && len(s.Disks) > 0 {
		return guest.Layout{Kind: "disk", Disk: s.Disks[0].Name}
	}
	return st.Layout
}

// disksFor are the disks a storage lies on, with serials: a trial gets these and no others.
func (s Study) disksFor(st guest.Storage) []Disk {
	used := disksOf(s.layoutOf(st))
	var out []Disk
	for _, d := range s.Disks {
		if slices.Contains(used, d.Name) {
			d.Serial = serial(s.Name, d.Name)
			out = append(out, d)
		}
	}
	return out
}

// guestDisks are the disks as the guest is told of them.
func guestDisks(disks []Disk) []guest.Disk {
	out := make([]guest.Disk, len(disks))
	for i, d := range disks {
		out[i] = guest.Disk{Name: d.Name, Serial: d.Serial, SizeBytes: d.SizeBytes, LogicalBlockBytes: d.LogicalBlockBytes,
			Wipe: d.Claim != "", ReadDelaySeconds: d.ReadDelaySeconds, WriteDelaySeconds: d.WriteDelaySeconds}
	}
	return out
}
