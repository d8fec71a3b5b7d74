package runner

import (
	"strings"
	"testing"

	"platter/guest"
	"platter/lab"
	"platter/lab/blockdev"
	"platter/lab/hypervisor"
	"platter/results"
)

// TestIdentityKept: what is kept of a real disk names it only where somebody asked for that; the guest is always told the
// serial that it will see.
func TestIdentityKept(t *testing.T) {
	const serial = "S5GXNX0T"
	for _, c := range []struct {
		attach      string
		full        bool
		told, shown string
	}{
		{"block", false, "data-1234", "data-1234"},
		{"block", true, "data-1234", "data-1234"},
		{"lun", false, serial, results.HashIdentity(serial)},
		{"lun", true, serial, serial},
	} {
		passport := results.Passport{Serial: serial, SizeBytes: 1 << 30, Transport: "sas"}
		hashed := passport.Hashed()
		d := lab.Disk{Name: "data", Serial: "data-1234", Attach: c.attach, Passport: &hashed}
		planned := lab.Trial{Disks: []lab.Disk{d}, Job: guest.Job{Disks: []guest.Disk{{Name: "data", Serial: d.Serial}}}}
		tr := &trial{run: &run{Config: Config{Passthrough: &Passthrough{Full: c.full}}}, Trial: planned, identities: []results.Passport{passport}}
		r := &realDisk{trial: tr, disk: d, hold: &blockdev.Hold{Disk: blockdev.Disk{Passport: passport}}}
		r.tellSerial()
		r.facts(hypervisor.CacheMode{})
		if told := tr.completeJob().Disks[0].Serial; told != c.told || planned.Job.Disks[0].Serial != d.Serial {
			t.Errorf("%s: the guest is told %q, the plan %q", c.attach, told, planned.Job.Disks[0].Serial)
		}
		facts := tr.disks[0]
		if want := map[bool]string{true: serial, false: hashed.Serial}[c.full]; facts.Serial != c.shown || facts.Passport.Serial != want {
			t.Errorf("%s, full %v: the result says serial %q of passport %q", c.attach, c.full, facts.Serial, facts.Passport.Serial)
		}
		if kept := tr.hide(`{"serial":"` + serial + `"}`); strings.Contains(kept, serial) != c.full {
			t.Errorf("full %v: kept as %s", c.full, kept)
		}
	}
}
