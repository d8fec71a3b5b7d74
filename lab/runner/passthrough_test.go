package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"platter/guest"
	"platter/lab"
	"platter/lab/blockdev"
	"platter/lab/hypervisor"
	"platter/results"
	"platter/results/store"
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

// TestConsoleNamesNoDisk: a kernel may print the serial of a disk that it finds, as it does of a USB stick.
func TestConsoleNamesNoDisk(t *testing.T) {
	folder, plan := halfDone(t)
	for i, full := range []bool{false, true} {
		dir, err := folder.Trial(plan.Trials[3].ID, 1+i)
		if err != nil {
			t.Fatal(err)
		}
		tr := &trial{run: &run{Config: Config{Passthrough: &Passthrough{Full: full}}}, dir: dir, identities: []results.Passport{{Serial: "S5GXNX0T"}}}
		if err := tr.keepConsole(t.Context(), &fakeMachine{bare: "usb 1-1: SerialNumber: S5GXNX0T\n"}); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(dir.Path(), store.Console))
		if err != nil || strings.Contains(string(kept), "S5GXNX0T") != full || !strings.Contains(string(kept), "usb 1-1: SerialNumber: ") {
			t.Errorf("full %v: the console is kept as %q, %v", full, kept, err)
		}
	}
}
